"""jq_grammar: random jq programs and JSON values that have something to say to each other.

A program is made for a kind of input (a, o, s, n: array, object, string, number; *: any) and mostly keeps to it, so that few runs end in a
type error at once; now and then it does not, for the texts of the errors.
"""
import json

KEYS = ["a", "b", "c", "d", "aa", "é", "a b", "", "x1", "A"]
STRINGS = ["", "a", "b", "abc", "aAbB", "a,b,c", " x y ", "é", "日本", "😀a", "abcabc", "1", "1.5", "-0", "nan", "null", "[1]", "{\"a\":1}", "a\nb", "\t", "\\", "\"q\"", "<&>'", "%41+ ", "YWJj", "2015-03-05T23:51:47Z", "test 12 Test", "xyz",
           "foo bar foo", "\u0000", "\u007f", "ﬀ", "a\u0301", "aéb", "MFRGG===", "true", "10", "0x1F", " 5", "1e3", "12345678901234567890"]
NUMBERS = ["0", "1", "2", "3", "-1", "-2", "10", "0.5", "1.5", "-1.5", "1e3", "100", "1e-5", "3.0", "1.10", "0.1", "1e17", "100000000000000000000", "12345678901234567890", "-0", "9007199254740993", "1E+2", "0.00001", "1e308", "1425599507", "1.7976931348623157e308",
           "1e1000", "5e-324", "0.1e1", "1.000", "255", "65", "128512", "2.5", "-2.5", "1e15", "123456789012", "-1e1000"]
SMALL = ["0", "1", "2", "3", "-1", "-2", "0.5", "1.7", "10", "-10", "null"]
PATTERNS = ["a", "b+", "[a-c]", "(?<x>a)(?<y>b)?", "(a)|(b)", "", "^", "$", ".", "\\\\s+", "\\\\d+", "(?<n>[a-z]+)", "A", "é", "x*", "a.*?b", "(?:a|ab)(c|bcd)?", "[^,]+", ",\\\\s*", "\\\\b", "(?=b)", "\\\\w", "(.)\\\\1", "(?i)ABC", "[", "(", "(?<a>.)(?<b>.)?"]
FLAGS = ["g", "", "i", "x", "gi", "n", "gn", "s", "l", "ns", "p", "gx", "null", "q"]
FORMATS = ["@text", "@json", "@csv", "@tsv", "@html", "@uri", "@sh", "@base64", "@base64d", "@base32", "@base32d", "@urid"]
TIMES = ["%Y-%m-%dT%H:%M:%SZ", "%A, %B %d, %Y", "%j %U %w", "%H:%M", "%s", "%e %a %b", "%y%m%d", "%%", "%F %T", "%D", "%I %p", "%G-W%V-%u", ""]


def string(r):
    if r.random() < 0.85:
        return r.choice(STRINGS)
    return "".join(r.choice("abcAB 1,é\n\"\\😀") for _ in range(r.randint(1, 12)))


def value(r, depth=0, kind=None):
    """JSON text"""
    kind = kind or r.choice("nnssaaooooz" if depth < 1 else "nnnssszaao" if depth < 3 else "nsz")
    if kind == "n":
        return r.choice(NUMBERS) if r.random() < 0.6 else str(r.randint(-5, 20))
    if kind == "s":
        return json.dumps(string(r), ensure_ascii=r.random() < 0.1)
    if kind == "z":
        return r.choice(["null", "true", "false"])
    if kind == "a":
        same = r.choice([None, None, "n", "s", "o", "a"]) if depth < 2 else None
        return "[" + ",".join(value(r, depth + 1, same) for _ in range(r.choice([0, 1, 2, 3, 3, 4, 6]))) + "]"
    return "{" + ",".join(json.dumps(r.choice(KEYS[:4] if r.random() < 0.8 else KEYS), ensure_ascii=False) + ":" + value(r, depth + 1) for _ in range(r.choice([0, 1, 2, 3, 3, 4]))) + "}"


ANY = ["type", "length", "tojson", "tostring", "not", "keys", "keys_unsorted", "to_entries", "[paths]", "[..]", "utf8bytelength", "tojson|fromjson", "values", "scalars", "arrays", "objects", "iterables", "strings", "numbers", "booleans", "nulls",
       "[recurse]", "[tostream]", "fromstream(tostream)", "[.[]?]", "[.]", "{a:.}", "error", "error(null)", "reverse", "[splits(\"a\")]", "tonumber", "toboolean", "first", "last", "add", "any", "all", "flatten", "min", "max", "unique", "sort",
       "transpose", "implode", "explode", "abs", "env.A", "$ENV.A", "input_line_number", "$__loc__", "[limit(3;.[]?)]", "getpath([\"a\",\"b\"])", "getpath([])", "from_entries", "tojson|length", "ltrimstr(\"a\")", "rtrimstr(\"c\")", "trimstr(\"a\")", "trim", "ltrim", "rtrim", "has(\"a\")", "has(0)",
       "[range(.)?]", "infinite", "nan|isnan", "-.", "isinfinite", "isnormal", "isnan", "ascii_downcase", "ascii_upcase", "@text", "@json", "@html", "@uri", "@csv", "@tsv", "@sh", "@base64", "@base64d", "@base32", "@base32d", "@urid", "gsub(\"\";\"-\")", "tojson|test(\"a\")", "halt_error?", "input?", "[inputs]",
       "try error catch .", "try error(\"x\") catch .", "debug", "stderr", "input_filename", "splits(\",\")", "combinations", "[combinations(2)]", "walk(.)", "del(.a)", "del(.[0])", "delpaths([[\"a\"]])", "delpaths([[0],[1]])", "to_entries|from_entries", "with_entries(.)", "have_literal_numbers", "have_decnum", "getpath([0])",
       "fromdate", "fromdateiso8601", "halt_error(1)", "[paths(type == \"number\")]", "tojson|@sh", "indices(1)", "indices(\"a\")", "index(\"a\")", "rindex(\"a\")", "inside([1,2,3])", "contains(\"a\")", "pick(.a)", "pick(.[0])", "pick(.a.b)", "tojson|ascii_downcase",
       "splits(\"a\";\"g\")", "significand", "logb", "trunc", "floor", "sqrt", "round", "ceil", "frexp", "modf", "getpath([\"a\"])?", "ltrimstr(1)", "(.a,.b)?", ".a?", ".[0]?", ".[1:]?", ".[:2]", ".[-1:]", ".[\"a\"]?", ".[null:1]", ".a.b?", "..?", "first(.[]?)", "isempty(.[]?)", "[.[]?|numbers]"]
ARRAY = ["sort", "unique", "min", "max", "add", "any", "all", "flatten", "flatten(1)", "flatten(-1)", "reverse", "first", "last", "nth(1)", "length", "map(type)", "sort_by(type)", "group_by(type)", "unique_by(type)", "min_by(length?)", "max_by(.a?)", "join(\",\")", "join(\"\")", "transpose", "to_entries", "[.[]|tostring]", ".[0]", ".[-1]", ".[1:3]",
         ".[:-1]", "index(1)", "rindex(1)", "indices(1)", "indices([1,2])", "contains([1])", "inside([1,2])", "implode", "from_entries", "[combinations]", "[.[:2]|combinations(2)]", "del(.[0,2])", "del(.[1:])", "del(.[])", "map(.+1)?", "add(.[])", "any(.[];.)", "all(.[];.)", "bsearch(1)", "@csv", "@tsv", "@sh", "tojson", "[limit(2;.[])]", "[skip(1;.[])]",
         "[first(.[])]", "map_values(empty)", "map_values(.)", "[.[]|select(.)]", "IN(1)", "INDEX(type)", "[truncate_stream(1;tostream)]", "fromstream(tostream)", "fromstream(1|truncate_stream([[0],1],[[1,0],2],[[1,0]],[[1]]))", "with_entries(.value|=tostring)", "walk(if type==\"array\" then sort else . end)", "pick(.[1])", "pick(first)", "has(1)", "has(-1)", "to_entries|map(.key)", "[range(0;length;2) as $i|.[$i]]",
         "[foreach .[] as $x (0;.+1;[.,$x])]", "reduce .[] as $x (0;.+1)", "getpath([0,\"a\"])", "[paths]", ".[1.7]", ".[1.2:2.7]", "[.[]?|.[]?]", "sort_by(.a?,.b?)", "group_by(.a?)", "unique_by(length?)", "[getpath([0],[1])]", "limit(0;.[])", "limit(-1;.[])", "skip(-1;.[])", "nth(-1)", "nth(1;.[])", "[nth(0,2;.[])]", "first(empty)", "until(length<2;.[1:])", "[while(length>0;.[1:])]", "[limit(4;repeat(.[1:]))]", "[recurse(.[]?;.!=1)]", "[recurse(.[]?)]", "tostream", "input_line_number", "ltrimstr(\"a\")", "splits(\"x\")", "have_decnum", "ascii_downcase", "tojson|explode|implode"]
OBJECT = ["keys", "keys_unsorted", "to_entries", "with_entries(.key|=ascii_upcase)", "with_entries(select(.value))", "map_values(tostring)", "map(.)", "add", "any", "all", "length", ".a", ".b", ".c?", ".a.b?", "del(.a)", "del(.a,.b)", "has(\"a\")", "to_entries|from_entries", "[.[]]", "[paths]", "tojson", "{a}", "{a,b}", "{(keys[]):1}", "{\"x\":.a}", "{a:.b,b:.a}", "pick(.a)", "pick(.a,.b)",
          "contains({a:1})", "inside({a:1})", ". + {a:1}", ". * {a:{b:1}}", ". - 1", "{a:1} + .", "{\"a\":{\"b\":{}}} * .", "walk(if type==\"object\" then del(.a) else . end)", "INDEX(.a?)", "[.[]|numbers]", "{$__loc__}", "{\"a b\":1,\"c\":.a}", "{@base64 \"x\":1}", "[to_entries[]|.key]", "min_by(.a)", ".[\"a\"]", ".[\"a\",\"b\"]", "[.[\"a\",\"b\"]?]", "map_values(select(.))", "delpaths([[\"a\"],[\"b\"]])", "getpath([\"a\",\"b\"])?", "[tostream]",
          "to_entries|map(\"\\(.key)=\\(.value)\")", "to_entries[0].value", "[splits(\"a\")?]", "tostream|tojson", "sort?", "reduce to_entries[] as {key:$k,value:$v} ({};.[$k+\"x\"]=$v)", ". as {a:$x,b:$y}|[$x,$y]", ". as {$a,b:$y}|[$a,$y]", ". as {a:$x} ?// [$x]|[$x]", ". as {\"a\":$x,(\"b\",\"c\"):$y}|[$x,$y]", ". as {$a:{$b}}?|[$a,$b]", ".a as [$x,$y]|{$x,$y}", ".[\"x\"]=1", "from_entries?", "{a:(1,2),b:(3,4)}", "{(\"a\",\"b\"):.[]?}", "limit(1;.[])", "[.a,.b]|sort", "has(0)?", "@text", "@json", "@html", "@sh", "keys[0]"]
STRING = ["ascii_downcase", "ascii_upcase", "explode", "explode|implode", "length", "utf8bytelength", "tonumber", "toboolean", "fromjson", "trim", "ltrim", "rtrim", "ltrimstr(\"a\")", "rtrimstr(\"c\")", "trimstr(\"a\")", "startswith(\"a\")", "endswith(\"c\")", "split(\",\")", "split(\"\")", "split(\"a\";\"g\")", "split(\", *\";null)", "[splits(\",\")]", "[match(\"a\";\"g\").offset]", "test(\"A\";\"i\")", "sub(\"a\";\"b\")", "gsub(\"a\";\"b\")", "gsub(\"(?<x>[a-z])\";\"<\\(.x)>\")",
          "gsub(\"^\";\">\")", "gsub(\"\";\"-\")", "gsub(\"$\";\"$\")", "[scan(\"[a-z]+\")]", "[scan(\"(a)(b)?\")]", "capture(\"(?<x>a)(?<y>z)?\")", "[capture(\"(?<x>.)\";\"g\")]", "index(\"a\")", "rindex(\"a\")", "indices(\"a\")", "indices(\"ab\")", "indices(\"\")", ".[1:]", ".[:-1]", ".[1:2]", ".[-2:]", ". * 2", ". * 0", ". * 1.5", ". + \"x\"", ". / \"a\"", ". / \",\"", "@text", "@json", "@html", "@uri", "@urid", "@csv?", "@tsv?", "@sh", "@base64", "@base64d",
          "@base32", "@base32d", "@base64 \"x\\(.)y\"", "@html \"<\\(.)>\"", "@uri \"?q=\\(.)\"", "@sh \"echo \\(.)\"", "@json \"j\\(.)\"", "\"a\\(.)b\"", "\"\\(1,2)-\\(.)\"", "contains(\"a\")", "inside(\"xabcx\")", "test(\"\\\\d\")", "strptime(\"%Y-%m-%dT%H:%M:%SZ\")", "strptime(\"%Y-%m-%dT%H:%M:%SZ\")|mktime", "fromdate", "fromdateiso8601", "strptime(\"%H:%M\")?", "join(\",\")?", "[.,.]|join(\"-\")", "[limit(3;splits(\"\"))]", "ltrimstr(1)", "tojson", "tojson|fromjson", "ascii_downcase|@base64", "sub(\"(?<a>.)\";\"\\(.a)1\",\"\\(.a)2\")", "[sub(\"a\";\"x\",\"y\")]", "[gsub(\"a\";\"x\",\"y\")]", "gsub(\"a\";\"b\";\"i\")", "sub(\"(?<x>b)\";\"[\\(.x|ascii_upcase)]\")", "[match(\"\";\"g\")|.offset]", "splits(\"a+\";\"i\")", "explode|map(.+1)|implode", "error", "halt_error?", "tojson|.[1:-1]",
          "[match(\"(?<x>a)|(?<y>b)\";\"g\")]", "[match(\"(a)?b\";\"g\")]", "test(\"a\",\"b\")", "test([\"a\",\"i\"])", "[match([\"a\",\"g\"])|.string]", "ltrimstr(\"a\",\"b\")", "[.[0:1],.[1:]]", "gsub(\"\\\\s\";\"\")", "gsub(\"(?<d>\\\\d+)\";\"<\\(.d|tonumber+1)>\")", "gsub(\"[aeiou]\";\"\")", "ascii_downcase==.", "[range(length) as $i|.[$i:$i+1]]", "@uri|@urid", "@base32|@base32d", "@base64|@base64d"]
NUMBER = ["(. % 10000000000) | todate, gmtime, (gmtime | mktime, todate)", "floor", "ceil", "round", "trunc", "sqrt", "abs", "fabs", "-.", "tostring", "tojson", ". + 1", ". - 1", ". * 2", ". / 2", ". % 3", ". % -3", "1 - .", "5 % (. + 7)", "isnan", "isinfinite", "isnormal", "infinite", "[range(. % 7)]", "[range(0;. % 20;3)]", "[range(3;. % 10;-1)]", "[limit(. % 4;1,2,3,4)]", "significand", "logb", "frexp", "modf", "trunc", "rint", "nearbyint", "ldexp(.;2)", "scalb(.;1)", "scalbln(.;-1)", "pow(.;2)", "fmin(.;1)", "fmax(.;1)", "fma(.;2;1)", "fmod(.;3)",
          "drem(.;3)", "nextafter(.;9)", "copysign(.;-1)", "fdim(.;1)", "ceil|tostring", "tostring|tonumber", "@text", "@json", "@html", "@base64", "@sh", "@uri", "[.,1]|@csv", "[.,1]|@tsv", "[.]|implode?", ". == 1", ". < 2", ". >= 1", "[.,1,2]|sort", "[.,1]|max", "tojson|length", "[.]|add", "[.,.]|add", ". as $x|[$x,$x+1]", "length", "not", "tojson|fromjson", "\"\\(.)\"", "if . > 1 then \"big\" else \"small\" end", "if . > 1 then 1 end", "if . then . elif 1 then 2 end", "[.[]?]", "-(.)", "-(-.)", ". - .", "[while(. < 10; . + 3)]?", "[limit(20;until(. > 100; . * 2 + 1))]?", "[limit(3;repeat(. * 2))]", "[foreach (1,2,3) as $x (.;.+$x)]", "[foreach (1,2,3) as $x (.;.+$x;[$x,.])]", "reduce (1,2,3) as $x (.;.+$x)", "@base32", "splits(\"a\")?", "tonumber", "toboolean?", "exp2?|floor", "log2|floor", "getpath([\"a\"])?", "have_decnum", "[., 1e1000]|max", "[paths]", "tojson|test(\"e\")"]
BY_KIND = {"a": ARRAY, "o": OBJECT, "s": STRING, "n": NUMBER}
BINARY = ["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "and", "or", "//", ",", "|"]
ASSIGN = ["=", "|=", "+=", "-=", "*=", "/=", "%=", "//="]


class Programs:
    def __init__(self, r):
        self.r, self.names, self.functions, self.labels = r, [], [], []

    def pick(self, *words):
        return self.r.choice(words)

    def literal(self):
        return value(self.r, 1) if self.r.random() < 0.5 else self.pick(*SMALL, "\"a\"", "\"\"", "[]", "{}", "true", "false", "null", "[1,2]", "{\"a\":1}", "\"abc\"")

    def text(self):
        return json.dumps(string(self.r), ensure_ascii=False)

    def known(self):
        r = self.r
        return r.choice(BY_KIND[r.choice("aosn")] if r.random() < 0.65 else ANY)

    def path(self, depth=0):
        r, out = self.r, "."
        for _ in range(r.randint(1, 3)):
            key = r.choice(KEYS[:5])
            piece = r.choice([f".{key}", f".{key}", "[]", f"[{r.choice(SMALL)}]", f"[\"{r.choice(KEYS)}\"]", f"[{r.choice(SMALL)}:{r.choice(SMALL)}]", f"[:{r.choice(SMALL)}]", f"[{r.choice(SMALL)}:]", "[]?", f".{key}?", f"[{self.expression(depth + 3)}]?"])
            out = ("." + piece if piece[0] == "[" else piece) if out == "." else out + piece
        if r.random() < 0.3:
            out = r.choice([f"({out}, {self.path(3)})" if depth < 3 else out, f"({out} | select(.))", f"({out} // .a)", f"first({out})", f"last({out})", f"if .a then {out} else . end", f"getpath([\"a\",0])", "..", f"({out}|recurse)", f"limit(1;{out})", f"to_entries", f"paths", f"({out}|.[]?)", f"(. as $p | {out})", f"try {out} catch .", f"reduce (\"a\",\"b\") as $k (.;.[$k])", f"foreach (0,1) as $k (.;.[$k]?)", "empty", "error(\"x\")", f"input", "$__loc__", "(1|.a)", f"({out})?", f"skip(1;{out})", f"nth(0;{out})", f"recurse(.[]?; . != 1)", "first", "last", "getpath([\"a\",\"b\"],[\"c\"])", "label $f | (.a, break $f)", "map(.)", f"select({out}?)"])
        return out

    def pattern(self, depth=0):
        r = self.r
        name = r.choice(["x", "y", "z"])
        self.names.append(name)
        if depth > 1 or r.random() < 0.5:
            return "$" + name
        if r.random() < 0.5:
            return "[" + ",".join(self.pattern(depth + 1) for _ in range(r.randint(1, 3))) + "]"
        return "{" + ",".join(r.choice([f"$a", f"a:{self.pattern(depth + 1)}", f"\"b\":{self.pattern(depth + 1)}", f"$c:{self.pattern(depth + 1)}", f"(\"a\",\"b\"):{self.pattern(depth + 1)}"]) for _ in range(r.randint(1, 2))) + "}"

    def bound(self, depth):
        keep = list(self.names)
        source = self.expression(depth + 1)
        pattern = self.pattern()
        if self.r.random() < 0.12:
            pattern += " ?// " + self.pattern()
        body = self.expression(depth + 1)
        self.names = keep
        return source, pattern, body

    def compound(self, depth):
        r = self.r
        e = lambda: self.expression(depth + 1)
        kind = r.randint(0, 27)
        if kind < 4:
            return f"{e()} | {e()}"
        if kind == 4:
            return f"({e()}, {e()})"
        if kind < 8:
            return f"({e()} {r.choice(BINARY)} {e()})"
        if kind < 11:
            return f"({self.path()} {r.choice(ASSIGN)} {e()})"
        if kind == 11:
            return f"if {e()} then {e()}" + (f" elif {e()} then {e()}" if r.random() < 0.3 else "") + (f" else {e()}" if r.random() < 0.8 else "") + " end"
        if kind == 12:
            return f"try ({e()}) catch " + r.choice(['.', 'length', '"E:\\(.)"', 'empty'])
        if kind == 13:
            return f"({e()})?"
        if kind == 14:
            source, pattern, body = self.bound(depth)
            return f"({source} as {pattern} | {body})"
        if kind == 15:
            source, pattern, body = self.bound(depth)
            return f"(reduce {r.choice(['.[]?', 'range(3)', '(' + source + ')'])} as {pattern} ({e()}; {body}))"
        if kind == 16:
            source, pattern, body = self.bound(depth)
            return f"[foreach {r.choice(['.[]?', 'range(3)', '(' + source + ')'])} as {pattern} ({e()}; {body}" + (f"; {r.choice(['.', '[.]', e()])}" if r.random() < 0.5 else "") + ")]"
        if kind == 17:
            return f"[{e()}]"
        if kind == 18:
            pairs = [r.choice([f"{r.choice('abc')}: {self.item(depth)}", f"\"{r.choice(KEYS)}\": {self.item(depth)}", f"({e()}): {self.item(depth)}", "a", "\"b\"", "$__loc__", f"@base64 \"k\": 1"]) for _ in range(r.randint(1, 3))]
            return "{" + ", ".join(pairs) + "}"
        if kind == 19:
            return f"label $out | {r.choice(['foreach .[]? as $i (0; .+1; if . > 1 then ., break $out else . end)', f'({e()}, break $out, {e()})', f'{e()}'])}"
        if kind == 20:
            return self.function(depth)
        if kind == 21:
            return f"{r.choice(['map', 'map_values', 'with_entries', 'sort_by', 'group_by', 'unique_by', 'min_by', 'max_by', 'select', 'first', 'last', 'isempty', 'any', 'all', 'path', 'paths', 'del', 'to_entries|map', 'walk', 'recurse', 'add', 'INDEX', 'IN', 'error', 'pick', 'debug'])}({r.choice([e(), self.path()])})" if r.random() < 0.8 else f"[limit(5; {r.choice(['recurse', 'repeat', 'path', '..|', 'limit(3;.[]?)|'])}({self.path()}))]"
        if kind == 22:
            return f"[{r.choice(['limit', 'skip', 'nth'])}({r.choice(['0', '1', '2', '3', '-1', '1.5', '(1,2)'])}; {e()})]"
        if kind == 23:
            name = r.choice(["test", "match", "capture", "scan", "split", "splits", "sub", "gsub"])
            pattern, flags = f"\"{r.choice(PATTERNS)}\"", r.choice(FLAGS)
            flags = flags if flags == "null" else f"\"{flags}\""
            subject = r.choice(["tostring", "strings", self.text()])
            if name in ("sub", "gsub"):
                by = r.choice([self.text(), '"<\\(.x)>"', '"\\(.)"', '.x', '("1","2")', '""'])
                return f"({subject} | [{name}({pattern}; {by}{'; ' + flags if r.random() < 0.5 else ''})])"
            return f"({subject} | [{name}({pattern}{'; ' + flags if r.random() < 0.5 or name == 'split' else ''})])"
        if kind == 24:
            return r.choice([f"setpath({self.path_value()}; {e()})", f"getpath({self.path_value()})", f"delpaths([{self.path_value()}])", f"[paths({e()})]", f"path({self.path()})", f"[path({self.path()})]", f"del({self.path()})", f"delpaths([path({self.path()})])", f"to_entries", f"pick({self.path()})", f"[getpath([path({self.path()})]|.[])]", f"tostream", f"fromstream({e()})", f"[truncate_stream(1; {e()}|tostream)]", f"limit(1;{self.path()}) |= {e()}", f"has({self.literal()})", f"in({self.literal()})", f"inside({self.literal()})", f"contains({self.literal()})", f"indices({self.literal()})", f"index({self.text()})", f"bsearch({self.literal()})", f"ltrimstr({self.literal()})", f"join({self.text()})", f"split({self.text()})", f"flatten({self.literal()})", f"splits({self.text()})", f"startswith({self.literal()})", f"implode", f"error({self.literal()})", f"tojson", f"ascii_downcase", f"@json", f"trimstr({self.text()})", f"combinations", f"getpath([{self.text()}])", f"any({e()};{e()})", f"all({e()};{e()})", f"IN({e()};{e()})", f"INDEX({e()};{e()})", f"[JOIN({{\"1\":2}};.[]?;tostring)]", f"have_literal_numbers", f"min_by({e()})", f"add({e()})", f"[range({r.choice(SMALL)};{r.choice(SMALL)};{r.choice(['1','2','-1','0.5','3'])})]"])
        if kind == 25:
            return r.choice(FORMATS) + ' "' + r.choice(['x', 'a\\tb', '', 'é']) + f"\\({e()})y\""
        if kind == 26:
            return "(" + r.choice([f"{r.randint(-10**10, 10**10)}{r.choice(['', '.5'])} | strftime(\"{r.choice(TIMES)}\")", f"{r.randint(-10**10, 10**10)} | gmtime", f"\"2015-03-05T23:51:47Z\" | strptime(\"{r.choice(TIMES[:1])}\") | mktime", f"{r.choice(SMALL)} | todate", f"[{r.randint(1960, 2040)},{r.randint(0, 11)},{r.randint(0, 40)},{r.randint(0, 30)},{r.randint(0, 70)},{r.choice(['0', '1.5', '59.999'])},0,0] | mktime, todate, strftime(\"{r.choice(TIMES)}\")", f"{r.randint(-10**9, 4 * 10**9)} | todate, (gmtime | mktime), strftime(\"{r.choice(TIMES)}\")"])+ ")"
        return f"-({e()})"

    def item(self, depth):
        return self.pick(f"({self.expression(depth + 1)})", ".a", "1", "\"s\"", ".", "(1,2)", "[.]", "null", "-1", ".a.b?", "1 | 2" if self.r.random() < 0.05 else "true")

    def path_value(self):
        r = self.r
        return "[" + ",".join(r.choice(["\"a\"", "\"b\"", "0", "1", "-1", "\"c\"", "{\"start\":1}", "{\"start\":0,\"end\":1}", "null", "1.5", "[1]", "true"] if r.random() < 0.3 else ["\"a\"", "\"b\"", "0", "1"]) for _ in range(r.randint(0, 3))) + "]"

    def function(self, depth):
        r = self.r
        name = r.choice(["f", "g"])
        head, call = r.choice([("", ""), ("(h)", "(@)"), ("($p)", "(@)"), ("(h; $p)", "(@; @)")])
        keep = list(self.names)
        body = self.expression(depth + 1)
        if "h" in head:
            body = r.choice([f"[h] | {body}", f"h | {body}", "h | h", f"[h, ({body})]", f"[limit(3; h)]", f"path(h)", f"(h |= {body})", f"reduce h as $q (0; . + 1)", f"def k: h; [k, k]"])
        if "$p" in head:
            body = r.choice([f"[$p, ({body})]", f"$p | {body}", "$p + $p", f"[$p, p]"])
        self.names = keep
        words = call.split("@")
        call = name + words[0] + "".join(r.choice([self.path(), self.expression(depth + 2)]) + w for w in words[1:])
        return f"(def {name}{head}: {body}; " + r.choice([call, f"[{call}]", f"{call} | {call}"]) + ")"

    def expression(self, depth=0):
        r = self.r
        if depth < 4 and r.random() < (0.75, 0.6, 0.45, 0.3)[depth]:
            return self.compound(depth)
        choice = r.random()
        if self.names and choice < 0.25:
            return "$" + r.choice(self.names)
        if choice < 0.4:
            return self.literal()
        if choice < 0.55:
            return self.path(depth)
        if choice < 0.62:
            return "."
        return f"({self.known()})" if depth else self.known()

    def program(self):
        return self.expression()
