/* parse_test: trees, bash's messages, printing, limits and memory of the parser. Expectations are bash 5.2's own output. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "lib/lang/parse.h"

/* Where the executor's arithmetic is not linked in: as if nothing compiled. */
__attribute__((weak)) Arith *arith_compile(Mem *mem UNUSED, const Word *text UNUSED) { return NULL; }

typedef struct {
    Parser *parser;
    Budget budget;
    Mem mem;
    Buf out;
} Fixture;

static Slice no_alias(void *user UNUSED, Slice name, bool *found)
{
    *found = false;
    return name;
}

static Slice test_alias(void *user UNUSED, Slice name, bool *found)
{
    static const struct { const char *name, *text; } table[] = {
        {"ll", "ls -l"}, {"loop", "while true; do"}, {"self", "self x"}, {"sudo", "sudo "}, {"open", "echo \"a"}, {"a", "b"}, {"b", "a"},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (slice_is(name, table[i].name)) {
            *found = true;
            return slice_str(table[i].text);
        }
    return no_alias(user, name, found);
}

static ParseOptions usual(void) { return (ParseOptions){.extglob = true, .brace_expand = true}; }

static void open_text(Fixture *f, const char *text, size_t len, const ParseOptions *o)
{
    *f = (Fixture){0};
    mem_init(&f->mem, NULL, NULL, NULL);
    buf_init(&f->out, &f->mem, BUF_MAX);
    f->parser = parser_new(&f->budget, slice(text, len), 1, o);
    assert_non_null(f->parser);
}

static void close_text(Fixture *f)
{
    parser_free(f->parser);
    mem_drop(&f->mem);
    assert_int_equal(f->budget.used, 0);
}

/* Every unit printed on a line of its own, errors and warnings as they come. */
static const char *show(Fixture *f, const char *text, const ParseOptions *o)
{
    open_text(f, text, strlen(text), o);
    Unit unit;
    ParseError error;
    for (ParseState s; (s = parser_next(f->parser, &unit, &error)) != PARSE_END;) {
        ParseWarnings w = parser_warnings(f->parser);
        for (uint32_t i = 0; i < w.count; i++)
            buf_printf(&f->out, "%s\n", w.messages[i]);
        if (s == PARSE_UNIT) {
            print_command_line(&f->out, unit.node);
            buf_char(&f->out, '\n');
            continue;
        }
        buf_printf(&f->out, "%s\n", error.message);
        if (error.second)
            buf_printf(&f->out, "%s\n", error.second);
    }
    return f->out.data ? f->out.data : "";
}

static void expect(const char *text, const char *printed)
{
    Fixture f;
    ParseOptions o = usual();
    assert_string_equal(show(&f, text, &o), printed);
    close_text(&f);
}

static void expect_alias(const char *text, const char *printed)
{
    Fixture f;
    ParseOptions o = usual();
    o.aliases = true;
    o.alias = test_alias;
    assert_string_equal(show(&f, text, &o), printed);
    close_text(&f);
}

static Node *only(Fixture *f, const char *text)
{
    ParseOptions o = usual();
    Unit unit;
    ParseError error;
    open_text(f, text, strlen(text), &o);
    assert_int_equal(parser_next(f->parser, &unit, &error), PARSE_UNIT);
    return unit.node;
}

static void test_words(void **state UNUSED)
{
    Fixture f;
    Node *n = only(&f, "x=1 echo a'b c'\"$d e\"~ ~u/x {1..3} \\$f \"\" $'\\x41\\n' *.c 2>&1");
    assert_int_equal(n->kind, NODE_SIMPLE);
    assert_int_equal(n->simple.nassigns, 1);
    assert_int_equal(n->simple.nwords, 8);
    Word **w = n->simple.words;
    assert_int_equal(w[0]->flags, WORD_LITERAL | WORD_SIMPLE);
    assert_int_equal(w[1]->count, 4);
    assert_true(slice_is(w[1]->parts[1].text, "b c") && w[1]->parts[1].quoted);
    assert_int_equal(w[1]->parts[2].kind, PART_QUOTED);
    assert_int_equal(w[1]->parts[2].inner->parts[0].kind, PART_PARAM);
    assert_int_equal(w[2]->parts[0].kind, PART_TILDE);
    assert_true(slice_is(w[2]->parts[0].text, "u"));
    assert_int_equal(w[3]->parts[0].kind, PART_BRACE);
    assert_int_equal(w[3]->parts[0].brace->last, 3);
    assert_true(slice_is(w[4]->parts[0].text, "$"));
    assert_true(w[5]->count == 1 && w[5]->parts[0].quoted && w[5]->parts[0].text.len == 0);
    assert_true(slice_is(w[6]->parts[0].text, "A\n"));
    assert_true(w[7]->flags & WORD_GLOB);
    assert_int_equal(n->redirs->kind, REDIR_DUP_OUT);
    assert_int_equal(n->redirs->fd, 2);
    close_text(&f);
}

static const Param *param_of(const char *text)
{
    static Fixture f;
    if (f.parser)
        close_text(&f);
    f = (Fixture){0};
    if (!text)
        return NULL;
    Node *n = only(&f, text);
    return n->simple.words[0]->parts[0].param;
}

static void test_params(void **state UNUSED)
{
    assert_int_equal(param_of("${#x}")->kind, PARAM_LENGTH);
    assert_int_equal(param_of("${#}")->var, VAR_COUNT);
    assert_int_equal(param_of("${##}")->kind, PARAM_LENGTH);
    assert_int_equal(param_of("${##x}")->kind, PARAM_REMOVE_PREFIX);
    assert_int_equal(param_of("${!x}")->indirect, true);
    assert_int_equal(param_of("${!x@}")->kind, PARAM_NAMES);
    assert_int_equal(param_of("${!x[@]}")->kind, PARAM_KEYS);
    assert_int_equal(param_of("${x[1+1]}")->index_kind, INDEX_EXPR);
    assert_int_equal(param_of("${x:-y}")->colon, true);
    assert_int_equal(param_of("${x: -1:2}")->kind, PARAM_SUBSTRING);
    assert_non_null(param_of("${x:a?b:c:2}")->length_word);
    assert_int_equal(param_of("${x//a/b}")->replace, REPLACE_ALL);
    assert_true(slice_is(param_of("${x////-}")->word->source, "/"));
    assert_int_equal(param_of("${x^^}")->longest, true);
    assert_int_equal(param_of("${x@Q}")->op, 'Q');
    assert_int_equal(param_of("${x!y}")->kind, PARAM_BAD);
    assert_int_equal(param_of("${10}")->number, 10);
    param_of(NULL);
}

static void test_errors(void **state UNUSED)
{
    expect("fi", "line 1: syntax error near unexpected token `fi'\nline 1: `fi'\n");
    expect("echo a\nif true", "echo a\nline 3: syntax error: unexpected end of file\n");
    expect("echo \"a", "line 1: unexpected EOF while looking for matching `\"'\n");
    expect("echo $(foo", "line 2: unexpected EOF while looking for matching `)'\n");
    expect("a=(1 ; 2)\necho n", "line 1: syntax error near unexpected token `;'\nline 1: `a=(1 ; 2)'\necho n\n");
    expect("for ((i=0;i<3)); do :; done", "line 1: syntax error: arithmetic expression required\nline 1: syntax error: `((i=0;i<3))'\n");
    expect("[[ a b ]]", "line 1: conditional binary operator expected\n");
    expect("cat <<E\nx", "line 2: warning: here-document at line 1 delimited by end-of-file (wanted `E')\ncat <<E\nx\nE\n\n");
    expect("a\n{ echo `fi`; }", "a\n{ echo `fi`; }\n");
}

static void test_printing(void **state UNUSED)
{
    expect("if a;then b;else c&fi", "if a; then\n    b;\nelse\n    c &\nfi\n");
    expect("for((;;)){ a; }", "for ((1; 1; 1))\ndo\n    a;\ndone\n");
    expect("x=$( ls  -l ;pwd ) y+=( a   b )", "x=$(ls -l; pwd) y+=(a b)\n");
    expect("a>&f 2>&- <<<b|&c", "a &> f 2>&- <<< b 2>&1 | c\n");
    expect("[[ a && ! ( b=~c ) ]]", "[[ -n a && ! ( -n b=~c ) ]]\n");
}

static void test_aliases(void **state UNUSED)
{
    expect_alias("ll x; sudo ll; \\ll", "ls -l x; sudo ls -l; \\ll\n");
    expect_alias("loop\nll\ndone", "while true; do\n    ls -l;\ndone\n");
    expect_alias("self\na", "self x\na\n");
    expect_alias("open\nb\" c\nd", "echo \"a \nb\" c\nd\n");
    expect_alias("x=$(ll y) z", "x=$(ls -l y) z\n");
}

/* A level costs stack; the guard must stop before 1 MiB, with a message. */
static void test_depth(void **state UNUSED)
{
    static const char *const openers[] = {"(", "$(", "\"$(", "${x:-", "{ ", "[[ (", "if "};
    for (size_t i = 0; i < ARRAY_LEN(openers); i++) {
        static char text[200000];
        size_t n = 0, k = strlen(openers[i]);
        for (; n + k < sizeof text; n += k)
            memcpy(text + n, openers[i], k);
        ParseOptions o = usual();
        Fixture f;
        open_text(&f, text, n, &o);
        Unit unit;
        ParseError error;
        assert_int_equal(parser_next(f.parser, &unit, &error), PARSE_ERROR);
        close_text(&f);
    }
}

/* Whatever allocation fails, the error says so and nothing is left. */
static void test_no_memory(void **state UNUSED)
{
    static const char text[] = "f() { a=(1 $(b `c` ${d:-e})) <<X; }\nx\nX\ncase y in a|b) g;; esac\n";
    for (uint64_t at = 1; at < 200; at++) {
        Budget budget = {.fail_at = at, .fail_forever = at & 1};
        ParseOptions o = usual();
        Parser *p = parser_new(&budget, slice_str(text), 1, &o);
        Unit unit;
        ParseError error = {0};
        ParseState s = PARSE_UNIT;
        while (p && s == PARSE_UNIT)
            s = parser_next(p, &unit, &error);
        assert_true(!p || s == PARSE_END || error.no_memory);
        parser_free(p);
        assert_int_equal(budget.used, 0);
    }
}

static void test_pieces(void **state UNUSED)
{
    Mem mem;
    ParseError error;
    ParseOptions o = usual();
    mem_init(&mem, NULL, NULL, NULL);
    Word *w = parse_dquote_text(&mem, SLICE("a \"$b\" $(c) 'd'"), &o, &error);
    assert_non_null(w);
    assert_int_equal(w->count, 5);
    Assign *a = parse_assignment(&mem, SLICE("x=([k]=v b)"), &o, &error);
    assert_true(a && a->is_array && a->nitems == 2);
    assert_null(parse_assignment(&mem, SLICE("x=(a"), &o, &error));
    Slice name, sub;
    assert_true(parse_reference(SLICE("a[b c]"), &name, &sub) && slice_is(sub, "b c"));
    assert_false(parse_reference(SLICE("1a"), &name, &sub));
    mem_drop(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words), cmocka_unit_test(test_params), cmocka_unit_test(test_errors), cmocka_unit_test(test_printing),
        cmocka_unit_test(test_aliases), cmocka_unit_test(test_depth), cmocka_unit_test(test_no_memory), cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
