/* fmt: simple optimal text formatter. GNU coreutils 9.1.
 *
 * Words of a paragraph are broken into lines from the end backwards, each place for a break having the least cost of all that follows: how
 * far lines are from the goal and from each other, with a bonus at the end of sentences. Costs are the original's, so lines are too.
 */
#include "command.h"

enum { WORDS_MOST = 1000, TEXT_MOST = 5000, LEEWAY = 7, OTHER_INDENT = 3 };

static const Option options[] = {
    {'c', "crown-margin", OPT_FLAG, "preserve indentation of first two lines", NULL, 0},
    {'p', "prefix", OPT_VALUE, "reformat only lines beginning with STRING, reattaching the prefix to reformatted lines", "STRING", 0},
    {'s', "split-only", OPT_FLAG, "split long lines, but do not refill", NULL, 0},
    {'t', "tagged-paragraph", OPT_FLAG, "indentation of first line different from second", NULL, 0},
    {'u', "uniform-spacing", OPT_FLAG, "one space between words, two after sentences", NULL, 0},
    {'w', "width", OPT_VALUE, "maximum line width (default of 75 columns)", "WIDTH", 0},
    {'g', "goal", OPT_VALUE, "goal width (default of 93% of width)", "WIDTH", 0},
    OPTION_DIGITS,
    OPTIONS_END,
};

typedef int64_t Cost;
#define COST_MOST INT64_MAX
#define SQUARE(n) ((Cost)(n) * (Cost)(n))
#define LINE_COST SQUARE(70)

typedef struct {
    const char *text;
    int length, space;
    bool opens, period, punctuation, final;
    int line_length;
    Cost best;
    size_t next; /* the word that begins the next line */
} Word;

typedef struct {
    Proc *p;
    bool crown, tagged, split, uniform, tabs;
    int width, goal;
    const char *prefix;
    int prefix_lead, prefix_full, prefix_length;
    Input *in;
    Slice rest;
    int c;                /* the byte that comes next */
    int column, prefix_indent, next_prefix_indent, first_indent, other_indent, last_length, out_column;
    Word words[WORDS_MOST + 1];
    size_t count;
    char text[TEXT_MOST];
    size_t text_len;
} Fmt;

static int take(Fmt *f)
{
    if (!f->rest.len && !input_chunk(f->in, &f->rest))
        return -1;
    int c = (unsigned char)*f->rest.data;
    f->rest = slice_from(f->rest, 1);
    return c;
}

static bool is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static int skip_blanks(Fmt *f, int c)
{
    for (; c == ' ' || c == '\t'; c = take(f)) {
        f->tabs |= c == '\t';
        f->column = c == '\t' ? (f->column / 8 + 1) * 8 : f->column + 1;
    }
    return c;
}

/* The blanks and the prefix at the beginning of a line. */
static int read_prefix(Fmt *f)
{
    f->column = 0;
    int c = skip_blanks(f, take(f));
    if (f->prefix_length == 0) {
        f->next_prefix_indent = MIN(f->prefix_lead, f->column);
        return c;
    }
    f->next_prefix_indent = f->column;
    for (int i = 0; i < f->prefix_length; i++) {
        if (c != (unsigned char)f->prefix[i])
            return c;
        f->column++;
        c = take(f);
    }
    return skip_blanks(f, c);
}

/* ---------- output ---------- */

static void put_space(Fmt *f, int n)
{
    int target = f->out_column + n;
    if (f->tabs) {
        int last_stop = target / 8 * 8;
        if (f->out_column + 1 < last_stop)
            for (; f->out_column < last_stop; f->out_column = (f->out_column / 8 + 1) * 8)
                out_char(f->p->out, '\t');
    }
    for (; f->out_column < target; f->out_column++)
        out_char(f->p->out, ' ');
}

static void put_line(Fmt *f, size_t from, int indent)
{
    f->out_column = 0;
    put_space(f, f->prefix_indent);
    out_write(f->p->out, slice(f->prefix, (size_t)f->prefix_length));
    f->out_column += f->prefix_length;
    put_space(f, indent - f->out_column);
    for (size_t w = from; w < f->words[from].next; w++) {
        out_write(f->p->out, slice(f->words[w].text, (size_t)f->words[w].length));
        f->out_column += f->words[w].length;
        if (w + 1 < f->words[from].next)
            put_space(f, f->words[w].space);
    }
    f->last_length = f->out_column;
    out_char(f->p->out, '\n');
}

static void put_paragraph(Fmt *f, size_t end)
{
    put_line(f, 0, f->first_indent);
    for (size_t w = f->words[0].next; w != end; w = f->words[w].next)
        put_line(f, w, f->other_indent);
}

/* ---------- breaking ---------- */

static Cost base_cost(const Fmt *f, size_t at)
{
    const Word *w = &f->words[at];
    Cost cost = LINE_COST;
    if (at > 0) {
        if (w[-1].period)
            cost += w[-1].final ? -SQUARE(50) : SQUARE(600);
        else if (w[-1].punctuation)
            cost -= SQUARE(40);
        else if (at > 1 && w[-2].final)
            cost += SQUARE(200) / (w[-1].length + 2);
    }
    if (w->opens)
        cost -= SQUARE(40);
    else if (w->final)
        cost += SQUARE(150) / (w->length + 2);
    return cost;
}

static Cost line_cost(const Fmt *f, size_t next, int length)
{
    if (next == f->count)
        return 0;
    Cost cost = SQUARE((f->goal - length) * 10);
    if (f->words[next].next != f->count)
        cost += SQUARE((length - f->words[next].line_length) * 10) / 2;
    return cost;
}

static void best_break(Fmt *f, size_t start)
{
    Cost best = COST_MOST;
    int length = (start == 0 ? f->first_indent : f->other_indent) + f->words[start].length;
    for (size_t w = start + 1;; w++) {
        Cost cost = line_cost(f, w, length) + f->words[w].best;
        if (start == 0 && f->last_length > 0)
            cost += SQUARE((length - f->last_length) * 10) / 2;
        if (cost < best) {
            best = cost;
            f->words[start].next = w;
            f->words[start].line_length = length;
        }
        if (w == f->count)
            break;
        length += f->words[w - 1].space + f->words[w].length;
        if (length >= f->width)
            break;
    }
    f->words[start].best = best + base_cost(f, start);
}

static void break_lines(Fmt *f)
{
    f->words[f->count].best = 0;
    for (size_t start = f->count; start-- > 0;)
        best_break(f, start);
    proc_tick(f->p, 1 + f->count);
}

/* The paragraph is too long to be held: what lies before the best of its breaks is printed. */
static void flush_paragraph(Fmt *f)
{
    if (f->count == 0) {
        out_write(f->p->out, slice(f->text, f->text_len));
        f->text_len = 0;
        return;
    }
    break_lines(f);
    size_t split = f->count;
    Cost best = COST_MOST;
    for (size_t w = f->words[0].next; w != f->count; w = f->words[w].next) {
        Cost c = f->words[w].best - f->words[f->words[w].next].best;
        if (c < best) {
            split = w;
            best = c;
        }
        if (best <= COST_MOST - SQUARE(3))
            best += SQUARE(3);
    }
    put_paragraph(f, split);
    const char *from = split < f->count ? f->words[split].text : f->text + f->text_len;
    if (split == f->count) /* the word that is being read lies behind the last whole one */
        from = f->words[f->count].text ? f->words[f->count].text : from;
    size_t gone = (size_t)(from - f->text);
    memmove(f->text, from, f->text_len - gone);
    f->text_len -= gone;
    memmove(f->words, f->words + split, (f->count - split + 1) * sizeof *f->words);
    f->count -= split;
    for (size_t i = 0; i <= f->count; i++)
        f->words[i].text -= gone;
}

/* ---------- paragraphs ---------- */

static bool same_paragraph(const Fmt *f, int c)
{
    return f->next_prefix_indent == f->prefix_indent && f->column >= f->next_prefix_indent + f->prefix_full && c != '\n' && c >= 0;
}

static void set_other_indent(Fmt *f, bool same)
{
    if (f->split)
        f->other_indent = f->first_indent;
    else if (f->crown)
        f->other_indent = same ? f->column : f->first_indent;
    else if (!f->tagged)
        f->other_indent = f->first_indent;
    else if (same && f->column != f->first_indent)
        f->other_indent = f->column;
    else if (f->other_indent == f->first_indent)
        f->other_indent = f->first_indent == 0 ? OTHER_INDENT : 0;
}

static void look_at_word(Word *w)
{
    const char *first = w->text, *last = w->text + w->length - 1;
    w->opens = strchr("(['`\"", *first) && *first;
    w->punctuation = (unsigned char)*last < 128 && class_has(CLASS_PUNCT, (unsigned char)*last);
    while (last > first && *last && strchr(")]'\"", *last))
        last--;
    w->period = *last && strchr(".?!", *last);
}

static int read_line(Fmt *f, int c)
{
    do {
        f->words[f->count] = (Word){.text = f->text + f->text_len};
        size_t from = f->text_len;
        do {
            if (f->text_len == TEXT_MOST) {
                size_t before = f->count;
                set_other_indent(f, true);
                flush_paragraph(f);
                from = f->count || before ? (size_t)(f->words[f->count].text - f->text) : 0;
                f->words[f->count].text = f->text + from;
            }
            f->text[f->text_len++] = (char)c;
            c = take(f);
        } while (c >= 0 && !is_space(c));
        Word *w = &f->words[f->count];
        w->length = (int)(f->text + f->text_len - w->text);
        f->column += w->length;
        look_at_word(w);
        int start = f->column;
        c = skip_blanks(f, c);
        w->space = f->column - start;
        w->final = c < 0 || (w->period && (c == '\n' || w->space > 1));
        if (c == '\n' || c < 0 || f->uniform)
            w->space = w->final ? 2 : 1;
        f->count++;
        if (f->count == WORDS_MOST) {
            set_other_indent(f, true);
            f->words[f->count].text = f->text + f->text_len;
            flush_paragraph(f);
        }
    } while (c != '\n' && c >= 0);
    return read_prefix(f);
}

/* The rest of a line that is not to be formatted. */
static int copy_line(Fmt *f, int c)
{
    f->out_column = 0;
    if (f->column > f->next_prefix_indent || (c != '\n' && c >= 0)) {
        put_space(f, f->next_prefix_indent);
        for (int i = 0; i < f->prefix_length && f->out_column != f->column; i++, f->out_column++)
            out_char(f->p->out, f->prefix[i]);
        if (c >= 0 && c != '\n')
            put_space(f, f->column - f->out_column);
        if (c < 0 && f->column >= f->next_prefix_indent + f->prefix_length)
            out_char(f->p->out, '\n');
    }
    for (; c != '\n' && c >= 0; c = take(f))
        out_char(f->p->out, (char)c);
    return c;
}

static bool read_paragraph(Fmt *f)
{
    int c = f->c;
    f->last_length = 0;
    while (c == '\n' || c < 0 || f->next_prefix_indent < f->prefix_lead || f->column < f->next_prefix_indent + f->prefix_full) {
        c = copy_line(f, c);
        if (c < 0) {
            f->c = -1;
            return false;
        }
        out_char(f->p->out, '\n');
        c = read_prefix(f);
        proc_tick(f->p, 1);
    }
    f->prefix_indent = f->next_prefix_indent;
    f->first_indent = f->column;
    f->count = f->text_len = 0;
    c = read_line(f, c);
    bool same = same_paragraph(f, c);
    set_other_indent(f, same);
    bool more = !f->split && same && (!f->tagged || f->crown || f->column != f->first_indent);
    if (more && (f->crown || f->tagged || f->column == f->other_indent))
        do
            c = read_line(f, c);
        while (same_paragraph(f, c) && f->column == f->other_indent);
    if (f->count)
        f->words[f->count - 1].period = f->words[f->count - 1].final = true;
    f->c = c;
    return true;
}

static void format_file(Fmt *f)
{
    f->tabs = false;
    f->other_indent = 0;
    f->rest = (Slice){"", 0};
    f->c = read_prefix(f);
    while (read_paragraph(f)) {
        if (!f->count)
            continue;
        break_lines(f);
        put_paragraph(f, f->count);
    }
}

/* ---------- options ---------- */

static void set_prefix(Fmt *f, const char *text)
{
    f->prefix_lead = (int)strspn(text, " ");
    f->prefix = text + f->prefix_lead;
    f->prefix_full = (int)strlen(f->prefix);
    f->prefix_length = f->prefix_full;
    while (f->prefix_length && f->prefix[f->prefix_length - 1] == ' ')
        f->prefix_length--;
}

static int number(Proc *p, const char *text, int64_t most)
{
    int64_t v;
    int err = parse_int(text, &v);
    if (err == -EINVAL)
        die(p, 1, "invalid width: %s", quote(p, text));
    if (err || v < 0 || v > most)
        die_errno(p, 1, ERANGE, "invalid width: %s", quote(p, text));
    return (int)v;
}

static int fmt_main(Proc *p, Args *args)
{
    Fmt *f = mem_new(&p->keep, Fmt);
    const char *width = NULL, *goal = NULL;
    f->p = p;
    f->prefix = "";
    const char *first = args->argc > 1 ? args->argv[1] : "";
    if (first[0] == '-' && first[1] >= '0' && first[1] <= '9') {
        width = first + 1;
        args->at++;
    }
    for (int id; (id = args_next(p, args)) != -1;) {
        if (id >= '0' && id <= '9') {
            warn(p, "invalid option -- %c; -WIDTH is recognized only when it is the first\noption; use -w N instead", id);
            usage_hint(p, args);
        }
        switch (id) {
        case 'c': f->crown = true; break;
        case 's': f->split = true; break;
        case 't': f->tagged = true; break;
        case 'u': f->uniform = true; break;
        case 'w': width = args->value; break;
        case 'g': goal = args->value; break;
        case 'p': set_prefix(f, args->value); break;
        default: break;
        }
    }
    f->width = width ? number(p, width, TEXT_MOST / 2) : 75;
    if (goal) {
        f->goal = number(p, goal, f->width);
        if (!width)
            f->width = f->goal + 10;
    } else {
        f->goal = f->width * (2 * (100 - LEEWAY) + 1) / 200;
    }
    Input in = input_first(p, args);
    in.open_format = "cannot open %s for reading";
    in.quote_name = true;
    f->in = &in;
    for (; input_open(&in); input_next(&in))
        format_file(f);
    return input_status(&in);
}

COMMAND(fmt, "fmt [-WIDTH] [OPTION]... [FILE]...", "Reformat each paragraph in the FILE(s), writing to standard output.", options, COMMAND_PURE);
