/* library: yq's operators in jq's language, and the little that is changed in a program's text before jq's parser sees it. */
#include "yq.h"

#define WHAT(name, short) "def " name ": _yq_ask(\"" short "\");"

/* A name that is jq's too is kept under another before it is defined again: a definition sees itself. */
static const char library[] =
    "def _yq_now: now; def now: _yq_now | floor | todate; def _yq_has($k): has($k); def _yq_match($p; $f): match($p; $f);"
    "def _yq_update(p; f): reduce path(p) as $q (.; [getpath($q) | limit(1; f)] as $x | if $x == [] then . else setpath($q; $x[0]) end);"
    "def keys: keys_unsorted; def sort_keys(f): f |= (if type == \"object\" then to_entries | sort_by(.key) | from_entries else . end);"
    "def with(p; e): p |= e; def upcase: ascii_upcase; def downcase: ascii_downcase;"
    "def to_number: tonumber; def to_string: tostring; def trim: if type == \"string\" then sub(\"^\\\\s+\"; \"\") | sub(\"\\\\s+$\"; \"\") else . end;"
    "def pick($ks): . as $o | if ($ks | type) == \"array\" then reduce $ks[] as $k ({}; if $o | has($k) then .[$k] = $o[$k] else . end) else error(\"pick wants an array\") end;"
    "def omit($ks): reduce $ks[] as $k (.; del(.[$k])); def filter(f): map(select(f)); def any_c(f): any(.[]; f); def all_c(f): all(.[]; f);"
    "def document_index: _yq_document_index; def di: _yq_document_index; def documentIndex: _yq_document_index; def file_index: _yq_file_index; def fi: _yq_file_index;"
    "def fileIndex: _yq_file_index; def filename: _yq_filename; def load(f): _yq_load(f; \"yaml\"); def load_xml(f): _yq_load(f; \"xml\");"
    "def load_str(f): _yq_load(f; \"str\"); def strload(f): load_str(f); def load_props(f): _yq_load(f; \"props\"); def load_base64(f): load_str(f) | @base64d;"
    "def from_yaml: _yq_parse(\"yaml\"); def from_xml: _yq_parse(\"xml\"); def from_props: _yq_parse(\"props\"); def from_csv: _yq_parse(\"csv\"); def from_tsv: _yq_parse(\"tsv\");"
    "def from_json: _yq_parse(\"json\"); def _yq_at_yamld: from_yaml; def _yq_at_xmld: from_xml; def _yq_at_propsd: from_props; def _yq_at_csvd: from_csv; def _yq_at_tsvd: from_tsv; def _yq_at_jsond: from_json;"
    "def to_yaml($i): _yq_encode(\"yaml\"; $i); def to_yaml: to_yaml(2); def to_json($i): _yq_encode(\"json\"; $i); def to_json: to_json(2); def to_xml($i): _yq_encode(\"xml\"; $i); def to_xml: to_xml(2);"
    "def to_props: _yq_encode(\"props\"; 2); def to_csv: _yq_encode(\"csv\"; 0); def to_tsv: _yq_encode(\"tsv\"; 0);"
    "def _yq_at_yaml: to_yaml; def _yq_at_json: to_json(0); def _yq_at_xml: to_xml(0); def _yq_at_props: to_props; def _yq_at_csv: to_csv; def _yq_at_tsv: to_tsv;"
    "def split_doc: _yq_split_doc; def splitDoc: _yq_split_doc; def kind: if type == \"array\" then \"seq\" elif type == \"object\" then \"map\" else \"scalar\" end;"
    "def envsubst: gsub(\"\\\\$(\\\\{(?<n>[A-Za-z_][A-Za-z0-9_]*)(?<e>:?-(?<d>[^}]*))?\\\\}|(?<m>[A-Za-z_][A-Za-z0-9_]*))\"; $ENV[.n // .m] as $v | if .e and ($v == null or ($v == \"\" and .e[:1] == \":\")) then .d else $v // \"\" end);"
    "def _yq_env($n): if ($ENV[$n] // \"\") == \"\" then error(\"value for env variable '\" + $n + \"' not provided in env()\") else $ENV[$n] | (try _yq_parse(\"yaml\") catch $ENV[$n]) end;"
    /* what a value does not say */
    WHAT("style", "style") WHAT("anchor", "anchor") WHAT("alias", "alias") WHAT("head_comment", "head") WHAT("headComment", "head")
    WHAT("line_comment", "line") WHAT("lineComment", "line") WHAT("foot_comment", "foot") WHAT("footComment", "foot")
    WHAT("key", "key") WHAT("path", "path") WHAT("parent", "parent") WHAT("line", "row") WHAT("column", "column") WHAT("is_key", "is_key")
    "def parent($n): if $n > 0 then parent | parent($n - 1) else . end; def parents: [recurse(parent)] | .[1:];"
    "def _yq_all: ..;"
    /* _yq_marked's variables are gone when setpath is called, or that would copy the parent they hold */
    "def _yq_marked($q; $what; f): (if $q == [] then null else getpath($q[:-1]) end) as $parent | getpath($q) as $v | [$v | limit(1; f)] as $x"
    " | if $x == [] then empty else $v | _yq_mark($what; $x[0]; $parent; $q[-1]) end;"
    "def _yq_set(p; $what; f): reduce path(p) as $q (.; [_yq_marked($q; $what; f)] as $y | if $y == [] then . else setpath($q; $y[0]) end);"
    "def _yq_put(p; $what; f): . as $dot | _yq_set(p; $what; $dot | f); def _yq_each(p; $what; f): _yq_set(p; $what; f);"
    "def explode(f): f |= _yq_explode;"
    "def _yq_merge(a; b; $flags): . as $dot | b as $b | a as $a | $a | _yq_merge_two($b; $flags);"
    "def _yq_merge_into(p; b; $flags): . as $dot | reduce path(p) as $q (.; setpath($q; getpath($q) | _yq_merge_two($dot | b; $flags)));"
    "def _yq_glob($g): if type == \"object\" then .[keys_unsorted[] | select(_yq_like($g))] elif type == \"array\" then .[range(length) | select(tostring | _yq_like($g))] else empty end;"
    /* collections */
    "def unique_by(f): reduce .[] as $x ({}; ($x | [f] | tojson) as $k | if has($k) then . else .[$k] = $x end) | [.[]]; def unique: unique_by(.);"
    "def _yq_grouped(f): group_by(f); def group_by(f): to_entries | _yq_grouped(.value | f) | sort_by(.[0].key) | map(map(.value)); def first: .[0]; def first(f): limit(1; .[] | select(f));"
    "def array_to_map: . as $l | reduce range(length) as $i ({}; if $l[$i] == null then . else .[$i | tostring] = $l[$i] end);"
    "def pivot: . as $l | if (.[0] | type) == \"array\" then transpose else reduce ([.[] | keys_unsorted[]] | unique)[] as $k ({}; .[$k] = [$l[] | .[$k]]) end;"
    "def shuffle: [.[] | [_yq_random, .]] | sort_by(.[0]) | map(.[1]); def has($k): if type == \"array\" or type == \"object\" then _yq_has($k) else false end;"
    "def eval(e): _yq_eval(e)[]; def system(c): error(\"system operations are disabled\"); def system(c; a): system(c);"
    /* text */
    "def _yq_tidy: {string, offset, length} + (if .name then {name} else {} end); def match($p; $f): _yq_match($p; $f) | {string, offset, length, captures: [.captures[] | _yq_tidy]};"
    "def match($p): match($p; \"\"); def _yq_expand($m): gsub(\"\\\\$\\\\{?(?<n>[0-9]+)\\\\}?\"; (.n | tonumber) as $i | if $i == 0 then $m.string else $m.captures[$i - 1].string // \"\" end);"
    "def sub($p; $r): reduce ([_yq_match($p; \"g\")] | reverse)[] as $m (.; .[:$m.offset] + ($r | _yq_expand($m)) + .[$m.offset + $m.length:]); def sub(l): [l] as $l | sub($l[0]; $l[1]);"
    /* times: 2006-01-02T15:04:05Z07:00 */
    "def _yq_time: (_yq_match(\"^([0-9]{4}-[0-9]{2}-[0-9]{2})([T ]([0-9:]{8}))?([.][0-9]+)?(Z|([-+])([0-9]{2}):([0-9]{2}))?$\"; \"\") // error(\"cannot parse '\" + . + \"' as a time\")) | [.captures[].string]"
    " | {local: (.[0] + \"T\" + (.[2] // \"00:00:00\") + \"Z\" | fromdate), offset: (if .[5] then ((.[6] | tonumber) * 3600 + (.[7] | tonumber) * 60) * (if .[5] == \"-\" then -1 else 1 end) else 0 end)};"
    "def format_datetime($l): ($l | _yq_layout) as $f | _yq_time | .local | strftime($f); def from_unix: floor | todate; def to_unix: _yq_time | .local - .offset; def tz($z): _yq_time | .local - .offset | _yq_zoned($z);"
    "def with_dtf($l; f): ($l | _yq_layout) as $f | strptime($f) | mktime | todate | f | (try (_yq_time | .local | strftime($f)) catch error);"
    "def tag: _yq_ask(\"tag\"); def type: tag;"
    "\n";

static bool word_char(char c) { return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_'; }

/* env(NAME) and strenv(NAME) take a bare word: it is put between quotes. How much of rest that was. */
static size_t take_env(Buf *b, Slice rest)
{
    size_t n = slice_starts(rest, SLICE("strenv(")) ? 7 : slice_starts(rest, SLICE("env(")) ? 4 : 0, end = n;
    while (n && end < rest.len && word_char(rest.data[end]))
        end++;
    if (!n || end == n || end == rest.len || rest.data[end] != ')')
        return 0;
    buf_printf(b, n == 7 ? "($ENV[\"%.*s\"] // \"\")" : "_yq_env(\"%.*s\")", (int)(end - n), rest.data + n);
    return end + 1;
}

/* In a string a backslash before what jq has no escape for stands for itself, as in patterns. */
static size_t take_escape(Buf *b, Slice rest)
{
    if (rest.len < 2)
        return 0;
    if (!strchr("\"\\/bfnrtu(", rest.data[1]))
        buf_char(b, '\\');
    buf_append(b, slice(rest.data, 2));
    return 2;
}

Slice yq_translate(Yq *q, Slice text)
{
    Buf b;
    bool string = false;
    buf_init(&b, &q->p->keep, BUF_MAX);
    buf_append(&b, slice(library, sizeof library - 1));
    for (size_t i = 0; i < text.len;) {
        Slice rest = slice_from(text, i);
        size_t taken = 0;
        if (string && rest.data[0] == '\\')
            taken = take_escape(&b, rest);
        else if (string && slice_starts(rest, SLICE("(?P<")))
            buf_append(&b, SLICE("(?<")), taken = 4;
        else if (!string && (i == 0 || !word_char(text.data[i - 1])))
            taken = take_env(&b, rest);
        if (!string && slice_starts(rest, SLICE("..."))) { /* every node, the keys too */
            buf_append(&b, SLICE(" _yq_all "));
            taken = 3;
        }
        if (!taken) {
            string ^= rest.data[0] == '"';
            buf_char(&b, rest.data[0]);
            taken = 1;
        }
        i += taken;
    }
    return buf_slice(&b);
}
