/* pr: paginate or columnate files for printing. GNU coreutils 9.1.
 *
 * A page is gathered before it is printed: rows of cells, each the text of one input line with its tabs and odd bytes already shown as
 * asked. A stream gives lines, breaks (form feeds) and its end. One file feeds all columns; with -m each file feeds its own.
 */
#include "command.h"
#include "shared.h"

enum { OPT_PAGES = 256, OPT_COLUMNS, HEADER_LINES = 5, FOOTER_LINES = 5, NUMBER_MOST = 1 << 16 };

static const Option options[] = {
    {0, "pages", OPT_VALUE, "begin [stop] printing with page FIRST_[LAST_]PAGE; also +FIRST_PAGE[:LAST_PAGE]", "FIRST_PAGE[:LAST_PAGE]", OPT_PAGES},
    {0, "columns", OPT_VALUE, "output COLUMN columns and print columns down, unless -a is used; also -COLUMN", "COLUMN", OPT_COLUMNS},
    {'a', "across", OPT_FLAG, "print columns across rather than down, used together with -COLUMN", NULL, 0},
    {'b', NULL, OPT_FLAG, NULL, NULL, 0},
    {'c', "show-control-chars", OPT_FLAG, "use hat notation (^G) and octal backslash notation", NULL, 0},
    {'d', "double-space", OPT_FLAG, "double space the output", NULL, 0},
    {'D', "date-format", OPT_VALUE, "use FORMAT for the header date", "FORMAT", 0},
    {'e', "expand-tabs", OPT_OPTIONAL, "expand input CHARs (TABs) to tab WIDTH (8)", "CHAR[WIDTH]", 0},
    {'F', "form-feed", OPT_FLAG, "use form feeds instead of newlines to separate pages", NULL, 0},
    {'f', NULL, OPT_FLAG, "same as -F", NULL, 0},
    {'h', "header", OPT_VALUE, "use a centered HEADER instead of filename in page header", "HEADER", 0},
    {'i', "output-tabs", OPT_OPTIONAL, "replace spaces with CHARs (TABs) to tab WIDTH (8)", "CHAR[WIDTH]", 0},
    {'J', "join-lines", OPT_FLAG, "merge full lines, turns off -W line truncation, no column alignment", NULL, 0},
    {'l', "length", OPT_VALUE, "set the page length to PAGE_LENGTH (66) lines; implies -t if PAGE_LENGTH <= 10", "PAGE_LENGTH", 0},
    {'m', "merge", OPT_FLAG, "print all files in parallel, one in each column, truncate lines, but join lines of full length with -J", NULL, 0},
    {'n', "number-lines", OPT_OPTIONAL, "number lines, use DIGITS (5) digits, then SEP (TAB)", "SEP[DIGITS]", 0},
    {'N', "first-line-number", OPT_VALUE, "start counting with NUMBER at 1st line of first page printed", "NUMBER", 0},
    {'o', "indent", OPT_VALUE, "offset each line with MARGIN (zero) spaces", "MARGIN", 0},
    {'r', "no-file-warnings", OPT_FLAG, "omit warning when a file cannot be opened", NULL, 0},
    {'s', "separator", OPT_OPTIONAL, "separate columns by a single character, default for CHAR is the <TAB> character without -w and 'no char' with -w", "CHAR", 0},
    {'S', "sep-string", OPT_OPTIONAL, "separate columns by STRING, without -S: <TAB> with -J and <space> otherwise", "STRING", 0},
    {'t', "omit-header", OPT_FLAG, "omit page headers and trailers; implied if PAGE_LENGTH <= 10", NULL, 0},
    {'T', "omit-pagination", OPT_FLAG, "omit page headers and trailers, eliminate any pagination by form feeds set in input files", NULL, 0},
    {'v', "show-nonprinting", OPT_FLAG, "use octal backslash notation", NULL, 0},
    {'w', "width", OPT_VALUE, "set page width to PAGE_WIDTH (72) characters for multiple text-column output only, -s[char] turns off (72)", "PAGE_WIDTH", 0},
    {'W', "page-width", OPT_VALUE, "set page width to PAGE_WIDTH (72) characters always, truncate lines, except -J option is set", "PAGE_WIDTH", 0},
    OPTION_DIGITS,
    OPTIONS_END,
};

typedef enum { GOT_LINE, GOT_BREAK, GOT_END } Got;

typedef struct {
    Input in;
    Slice window;
    int held;         /* a byte that was looked at, or -1 */
    bool line_ended;  /* by a newline: what comes next is not known yet */
    bool done, broken; /* no more; a form feed ended its page, the others may go on */
} Stream;

typedef struct { Slice text; uint64_t width; bool filled; } Cell;

typedef struct {
    Proc *p;
    /* as the options say */
    uint64_t first, last, columns, width, margin, length, body, number_digits;
    int64_t line_number;
    bool across, hat, octal, twice, feeds, join, merge, numbered, count_skipped, quiet_open, bare, drop_breaks, truncate, expand, compress, separated;
    bool columns_given, pages_given, old_s, old_w;
    const char *date_format, *header, *separator, *default_separator;
    char number_mark, tab_in, tab_out;
    uint64_t tab_in_width, tab_out_width;
    /* worked out */
    uint64_t separator_len, number_width, column_width;
    uint64_t *starts;
    Stream *streams;
    int nstreams;
    /* the page */
    bool ended_short; /* its last line had no newline */
    uint64_t page;
    const char *date_text, *file_text;
    Mem *mem;
    Cell *cells;
    size_t rows, room, last_cells; /* of the last row, when it is cut short */
    /* the row being printed */
    uint64_t at, spaces, separators;
    int status;
} Pr;

/* ---------- reading ---------- */

static int next_byte(Stream *s)
{
    if (s->held >= 0) {
        int c = s->held;
        s->held = -1;
        return c;
    }
    if (!s->window.len && (s->done || !input_chunk(&s->in, &s->window)))
        return -1;
    int c = (unsigned char)s->window.data[0];
    s->window = slice_from(s->window, 1);
    return c;
}

/* A form feed takes the newline behind it along. */
static bool take_break(Stream *s)
{
    int c = next_byte(s);
    if (c != '\f') {
        s->held = c;
        return false;
    }
    c = next_byte(s);
    s->held = c == '\n' ? -1 : c;
    return true;
}

/* How byte c at column `at` is shown: the text in out, its width (a backspace's is -1) as the result. */
static int show_byte(const Pr *pr, int c, uint64_t at, char out[5], size_t *spaces)
{
    uint64_t tab = c == (unsigned char)pr->tab_in ? pr->tab_in_width : 8;
    *spaces = 0;
    out[0] = (char)c;
    out[1] = '\0';
    if (c == (unsigned char)pr->tab_in || c == '\t') {
        uint64_t width = tab - at % tab;
        if (pr->expand)
            *spaces = (size_t)width;
        return (int)width;
    }
    if (c >= 32 && c < 127)
        return 1;
    if (pr->octal || (pr->hat && c >= 128)) {
        snprintf(out, 5, "\\%03o", (unsigned)c & 255);
        return 4;
    }
    if (pr->hat) {
        snprintf(out, 5, "^%c", c ^ 64);
        return 2;
    }
    return c == '\b' ? -1 : 0;
}

static uint64_t moved(uint64_t at, int width)
{
    return width >= 0 ? at + (uint64_t)width : at ? at - 1 : 0;
}

static void add_number(const Pr *pr, int64_t number, Buf *out)
{
    char digits[32];
    int n = snprintf(digits, sizeof digits, "%lld", (long long)number);
    const char *from = digits;
    if ((uint64_t)n > pr->number_digits) {
        from += (uint64_t)n - pr->number_digits;
        n = (int)pr->number_digits;
    }
    for (uint64_t i = (uint64_t)n; i < pr->number_digits; i++)
        buf_char(out, ' ');
    buf_append(out, slice(from, (size_t)n));
    if (pr->columns > 1 && pr->number_mark == '\t')
        for (uint64_t i = pr->number_digits; i < pr->number_width; i++)
            buf_char(out, ' ');
    else
        buf_char(out, pr->number_mark);
}

/* The rest of the line goes; a form feed in it stays to be seen. */
static void skip_line(Stream *s)
{
    for (int c; (c = next_byte(s)) != '\n';) {
        if (c == '\f' || c < 0) {
            s->held = c;
            s->line_ended = false;
            return;
        }
    }
}

/* The result: where the text ends. */
static uint64_t add_text(Pr *pr, Stream *s, uint64_t at, Buf *out)
{
    uint64_t number = at;
    at = 0; /* a tab that comes first does not know of the number */
    for (int c; (c = next_byte(s)) != '\n'; number = 0) {
        char shown[5];
        size_t spaces, len = 1;
        if (c == '\f' || c < 0) {
            s->held = c;
            s->line_ended = false;
            return at + number;
        }
        int width = show_byte(pr, c, at, shown, &spaces);
        uint64_t next = moved(at + number, width);
        if (pr->truncate && next > pr->column_width) {
            skip_line(s);
            return at + number;
        }
        if (c)
            len = strlen(shown);
        if (spaces)
            for (size_t i = 0; i < spaces; i++)
                buf_char(out, ' ');
        else if (width >= 0 || at + number)
            buf_append(out, slice(shown, len));
        at = next;
        if (unlikely(out->failed))
            die(pr->p, 1, "memory exhausted");
    }
    return at + number;
}

static Got read_cell(Pr *pr, Stream *s, bool numbered, Cell *cell)
{
    Buf out;
    if (take_break(s))
        return GOT_BREAK;
    if (s->held < 0) { /* take_break looked: no byte is there */
        s->held = next_byte(s);
        if (s->held < 0) {
            s->done = true;
            return GOT_END;
        }
    }
    buf_init(&out, pr->mem, BUF_MAX);
    s->line_ended = true;
    if (numbered)
        add_number(pr, pr->line_number++, &out);
    uint64_t width = add_text(pr, s, numbered && pr->truncate && !pr->merge ? pr->number_width : 0, &out);
    *cell = (Cell){out.data ? buf_slice(&out) : (Slice){"", 0}, width, true};
    return GOT_LINE;
}

/* ---------- gathering a page ---------- */

static Cell *cell_at(Pr *pr, size_t row, size_t column)
{
    size_t per_row = (size_t)pr->columns;
    if (row >= pr->room) {
        size_t room = pr->room ? pr->room * 2 : 16;
        if (per_row > SIZE_MAX / 2 / sizeof(Cell) / room)
            die(pr->p, 1, "memory exhausted");
        pr->cells = mem_grow(pr->mem, pr->cells, pr->room * per_row * sizeof(Cell), room * per_row * sizeof(Cell));
        memset(pr->cells + pr->room * per_row, 0, (room - pr->room) * per_row * sizeof(Cell));
        pr->room = room;
    }
    return &pr->cells[row * per_row + column];
}

/* Lines in reading order become columns of as equal length as can be. */
static void balance(Pr *pr, size_t count)
{
    size_t columns = (size_t)pr->columns, k = 0;
    if (columns == 1 || count == 0) {
        pr->rows = count;
        return;
    }
    Cell *lines = mem_array(pr->mem, count, Cell);
    memcpy(lines, pr->cells, count * sizeof *lines);
    memset(pr->cells, 0, pr->room * columns * sizeof *pr->cells);
    for (size_t c = 0; c < columns; c++)
        for (size_t r = 0, n = count / columns + (c < count % columns); r < n; r++)
            *cell_at(pr, r, c) = lines[k++];
    pr->rows = (count + columns - 1) / columns;
}

static Got gather_one(Pr *pr, bool numbered)
{
    Stream *s = &pr->streams[0];
    uint64_t most = pr->body > SIZE_MAX / pr->columns ? SIZE_MAX : pr->body * pr->columns;
    size_t count = 0;
    Got got = GOT_LINE;
    while (count < most) {
        Cell *cell = cell_at(pr, count / (size_t)pr->columns, count % (size_t)pr->columns);
        got = read_cell(pr, s, numbered, cell);
        if (got != GOT_LINE)
            break;
        count++;
        pr->ended_short = !s->line_ended;
        proc_tick(pr->p, 1);
    }
    if (got == GOT_LINE && take_break(s)) /* a form feed at the end of a full page adds none */
        got = GOT_LINE;
    if (pr->across)
        pr->rows = (count + (size_t)pr->columns - 1) / (size_t)pr->columns;
    else
        balance(pr, count);
    return got;
}

static bool goes_on(const Pr *pr)
{
    for (int i = 0; i < pr->nstreams; i++)
        if (!pr->streams[i].done && !pr->streams[i].broken)
            return true;
    return false;
}

static Got gather_beside(Pr *pr)
{
    bool broken = false;
    for (int i = 0; i < pr->nstreams; i++)
        pr->streams[i].broken = false;
    for (pr->rows = 0; pr->rows < pr->body; pr->rows++) {
        bool any = false;
        for (int i = 0; i < pr->nstreams; i++) {
            Stream *s = &pr->streams[i];
            Cell *cell = cell_at(pr, pr->rows, (size_t)i);
            if (s->done || s->broken)
                continue;
            Got got = read_cell(pr, s, false, cell);
            any |= got == GOT_LINE;
            if (got == GOT_LINE && !s->line_ended && !take_break(s))
                s->done = true;
            else
                broken |= s->broken = got == GOT_BREAK || (got == GOT_LINE && !s->line_ended);
            if (any && !goes_on(pr)) { /* the last line of all: the columns behind it are not there */
                pr->rows++;
                pr->ended_short = true;
                pr->last_cells = (size_t)i + 1;
                return broken ? GOT_BREAK : GOT_END;
            }
        }
        proc_tick(pr->p, 1);
        if (!any)
            break;
    }
    for (int i = 0; i < pr->nstreams && pr->rows == pr->body; i++)
        if (!pr->streams[i].done && !pr->streams[i].broken)
            take_break(&pr->streams[i]);
    return broken ? GOT_BREAK : pr->rows == pr->body ? GOT_LINE : GOT_END;
}

static Got gather(Pr *pr, bool numbered)
{
    pr->ended_short = false;
    mem_drop(pr->mem);
    pr->cells = NULL;
    pr->room = pr->rows = pr->last_cells = 0;
    return pr->merge ? gather_beside(pr) : gather_one(pr, numbered);
}

/* ---------- printing ---------- */

static void flush_spaces(Pr *pr)
{
    uint64_t to = pr->at + pr->spaces, tab = pr->tab_out_width;
    for (uint64_t next; to - pr->at > 1 && (next = pr->at + tab - pr->at % tab) <= to; pr->at = next)
        out_char(pr->p->out, pr->tab_out);
    out_pad(pr->p->out, (size_t)(to - pr->at), ' ');
    pr->at = to;
    pr->spaces = 0;
}

static void put_byte(Pr *pr, char c)
{
    if (pr->compress) {
        if (c == ' ') {
            pr->spaces++;
            return;
        }
        if (pr->spaces)
            flush_spaces(pr);
        if (c >= 32 && c < 127)
            pr->at++;
        else if (c == '\b' && pr->at)
            pr->at--;
    }
    out_char(pr->p->out, c);
}

static void put_text(Pr *pr, Slice text)
{
    if (!pr->compress) {
        out_write(pr->p->out, text);
        return;
    }
    for (size_t i = 0; i < text.len; i++)
        put_byte(pr, text.data[i]);
}

static void pad_to(Pr *pr, uint64_t position)
{
    uint64_t n = position > pr->at ? position - pr->at : 0;
    if (pr->compress) {
        pr->spaces = n;
    } else {
        out_pad(pr->p->out, (size_t)n, ' ');
        pr->at += n;
    }
}

static void put_separators(Pr *pr)
{
    for (; pr->separators; pr->separators--) {
        for (uint64_t i = 0; i < pr->separator_len; i++) {
            if (pr->separator[i] == ' ') {
                pr->spaces++;
            } else {
                if (pr->spaces)
                    flush_spaces(pr);
                out_char(pr->p->out, pr->separator[i]);
                pr->at++;
            }
        }
        if (pr->spaces)
            flush_spaces(pr);
    }
    if (pr->spaces)
        flush_spaces(pr);
}

/* Goes to where column c begins; the separators that are due come first. */
static void place(Pr *pr, size_t c)
{
    uint64_t start = c == 0 ? pr->margin : pr->starts[c];
    if (c == 0 || !pr->join) {
        uint64_t before = c && pr->separated ? pr->separator_len : 0;
        if (start > before)
            pad_to(pr, start - before);
    }
    put_separators(pr);
}

/* In one column the tab behind the number counts as one. */
static void put_cell(Pr *pr, const Cell *cell)
{
    size_t number = pr->compress && pr->numbered && pr->columns == 1 && pr->number_mark == '\t' ? (size_t)pr->number_digits + 1 : 0;
    number = MIN(number, cell->text.len);
    put_text(pr, slice(cell->text.data, number));
    if (number)
        pr->at += pr->tab_out_width - pr->at % pr->tab_out_width;
    put_text(pr, slice_from(cell->text, number));
}

static void put_row(Pr *pr, size_t row)
{
    pr->at = pr->spaces = pr->separators = 0;
    size_t columns = pr->last_cells && row + 1 == pr->rows ? pr->last_cells : (size_t)pr->columns;
    for (size_t c = 0; c < columns; c++) {
        const Cell *cell = &pr->cells[row * (size_t)pr->columns + c];
        if (cell->filled || pr->merge) {
            place(pr, c);
            if (pr->merge && c == 0 && pr->numbered) {
                Buf number;
                buf_init(&number, pr->mem, BUF_MAX);
                add_number(pr, pr->line_number++, &number);
                put_text(pr, buf_slice(&number));
            }
            put_cell(pr, cell);
            if (pr->join && pr->columns > 1 && !pr->merge && !pr->across && !pr->spaces)
                pr->at = cell->width; /* full lines know of no columns */
            pr->at += pr->compress ? 0 : cell->text.len;
        }
        pr->separators += pr->separated;
    }
    out_char(pr->p->out, '\n');
}

static uint64_t text_width(Pr *pr, const char *s) { return display_width(slice_str(s), locale_utf8(pr->p)); }

static void put_header(Pr *pr)
{
    char page[40];
    Output *o = pr->p->out;
    int n = snprintf(page, sizeof page, "Page %llu", (unsigned long long)pr->page);
    uint64_t used = text_width(pr, pr->date_text) + text_width(pr, pr->file_text) + (uint64_t)n, free_ = pr->width > used ? pr->width - used : 0;
    pr->at = pr->spaces = 0;
    pad_to(pr, pr->margin);
    flush_spaces(pr);
    out_str(o, "\n\n");
    out_pad(o, (size_t)pr->margin, ' ');
    out_str(o, pr->date_text);
    out_pad(o, (size_t)MAX(free_ / 2, 1), ' ');
    out_str(o, pr->file_text);
    out_pad(o, (size_t)MAX(free_ - free_ / 2, 1), ' ');
    out_printf(o, "%s\n\n\n", page);
}

static void put_page(Pr *pr, Got got)
{
    uint64_t left = pr->twice ? pr->body * 2 : pr->body;
    if (!pr->bare)
        put_header(pr);
    for (size_t row = 0; row < pr->rows; row++) {
        put_row(pr, row);
        left--;
        if (pr->twice && !(pr->bare && row + 1 == pr->rows && pr->ended_short)) {
            out_char(pr->p->out, '\n');
            left--;
        }
        proc_tick(pr->p, 1);
    }
    if (!pr->bare && pr->feeds) {
        out_str(pr->p->out, pr->rows ? "\f" : "\n\f");
    } else if (!pr->bare) {
        for (left += FOOTER_LINES; left; left--)
            out_char(pr->p->out, '\n');
    } else if (got == GOT_BREAK && !pr->drop_breaks) {
        out_char(pr->p->out, '\f');
    }
}

static void print_pages(Pr *pr)
{
    for (pr->page = 1; pr->page <= pr->last; pr->page++) {
        bool skipped = pr->page < pr->first;
        int64_t number = pr->line_number;
        Got got = gather(pr, pr->numbered && !pr->merge);
        if (skipped) {
            if (!pr->count_skipped)
                pr->line_number = number;
            else if (pr->merge && pr->numbered)
                pr->line_number += (int64_t)pr->rows;
            if (got == GOT_END) {
                warn(pr->p, "starting page number %llu exceeds page count %llu", (unsigned long long)pr->first, (unsigned long long)pr->page);
                return;
            }
            continue;
        }
        if (!pr->rows && got == GOT_END)
            return;
        put_page(pr, got);
    }
}

/* ---------- files ---------- */

static void title(Pr *pr, const char *name, int fd)
{
    Proc *p = pr->p;
    VStat st;
    uint32_t ns;
    int64_t seconds = proc_now(p, &ns);
    CivilTime t;
    Buf out;
    if (fd >= 0 && proc_fstat(p, fd, &st) == 0) {
        seconds = st.mtime;
        ns = st.mtime_ns;
    }
    const char *zone = proc_getenv(p, "TZ");
    buf_init(&out, &p->keep, 1 << 20);
    if (tz_civil(tz_parse(&p->keep, slice_str(zone ? zone : "UTC")), seconds, ns, &t))
        tz_format(&out, slice_str(pr->date_format), &t, seconds);
    buf_char(&out, '\0');
    pr->date_text = out.data ? out.data : "";
    pr->file_text = pr->header ? pr->header : name;
}

static bool open_stream(Pr *pr, Stream *s, char **name)
{
    *s = (Stream){.held = -1};
    if (strcmp(*name, "-") == 0) {
        s->in = input_fd(pr->p, 0, "-");
        return input_open(&s->in);
    }
    int fd = proc_open(pr->p, *name, V_READ, 0);
    if (fd < 0) {
        if (!pr->quiet_open)
            warn_errno(pr->p, fd, "%s", quotef(pr->p, *name));
        pr->status = 1;
        return false;
    }
    s->in = input_fd(pr->p, fd, *name);
    s->in.read_format = "%s";
    return input_open(&s->in);
}

static void work_out(Pr *pr)
{
    uint64_t numbers = 0, between;
    if (pr->columns > 1) {
        if (!pr->separated) {
            pr->separator = pr->join ? "\t" : " ";
            pr->separator_len = 1;
            pr->separated = true;
        } else if (!pr->join && pr->separator_len == 1 && *pr->separator == '\t') {
            pr->separator = " ";
        }
        pr->truncate = true;
        pr->expand |= !(pr->separator_len == 1 && *pr->separator == '\t');
        pr->compress = true;
    }
    if (pr->join)
        pr->truncate = false;
    if (pr->numbered) {
        pr->number_width = pr->number_digits + (pr->number_mark == '\t' ? 8 - pr->number_digits % 8 : 1);
        numbers = pr->merge ? pr->number_width : 0;
    }
    between = (pr->columns - 1) * pr->separator_len;
    uint64_t useful = pr->width > numbers + between ? pr->width - numbers - between : 0;
    pr->column_width = useful / pr->columns;
    if (!pr->column_width)
        die(pr->p, 1, "page width too narrow");
    if (pr->columns > 1 << 20)
        die(pr->p, 1, "memory exhausted");
    pr->starts = mem_array(&pr->p->keep, (size_t)pr->columns, uint64_t);
    for (uint64_t c = 0, at = pr->margin + numbers; c < pr->columns; c++, at += pr->column_width + pr->separator_len)
        pr->starts[c] = pr->join ? 0 : at;
}

static void print_files(Pr *shared, char **names, int count)
{
    Pr one = *shared, *pr = &one;
    if (pr->merge)
        pr->columns = (uint64_t)count;
    work_out(pr);
    pr->streams = mem_array(&pr->p->keep, (size_t)count, Stream);
    for (int i = 0; i < count; i++)
        pr->nstreams += open_stream(pr, &pr->streams[pr->nstreams], &names[i]);
    if (pr->nstreams) {
        bool file = !pr->merge && strcmp(names[0], "-") != 0;
        pr->columns = pr->merge ? (uint64_t)pr->nstreams : pr->columns;
        title(pr, file ? names[0] : "", file ? pr->streams[0].in.fd : -1);
        print_pages(pr);
    }
    for (int i = 0; i < pr->nstreams; i++) {
        pr->status |= input_status(&pr->streams[i].in);
        if (pr->streams[i].in.fd > 2)
            proc_close(pr->p, pr->streams[i].in.fd);
    }
    shared->status = pr->status;
}

/* ---------- options ---------- */

static uint64_t number_option(Pr *pr, const char *text, int64_t least, const char *what)
{
    int64_t v;
    int err = parse_int(text, &v);
    if (err == -EINVAL)
        die(pr->p, 1, "%s: %s", what, quote(pr->p, text));
    if (err == -ERANGE || v > INT32_MAX)
        die_errno(pr->p, 1, EOVERFLOW, "%s: %s", what, quote(pr->p, text));
    if (v < least)
        die_errno(pr->p, 1, ERANGE, "%s: %s", what, quote(pr->p, text));
    return (uint64_t)v;
}

/* [CHAR][WIDTH] of -e, -i and -n. */
static void mark_and_number(Pr *pr, Args *args, char letter, char *mark, uint64_t *number)
{
    const char *text = args->value;
    int64_t v;
    if (*text && (*text < '0' || *text > '9'))
        *mark = *text++;
    if (!*text)
        return;
    if (parse_int(text, &v) || v < 1 || v > INT32_MAX) {
        warn(pr->p, "'-%c' extra characters or invalid number in the argument: %s", letter, quote(pr->p, text));
        usage_hint(pr->p, args);
    }
    *number = (uint64_t)v;
}

/* FIRST[:LAST]; false: it is none. */
static bool page_range(Pr *pr, const char *text)
{
    char *colon = strchr(text, ':');
    int64_t first, last = INT64_MAX;
    if (parse_int(colon ? mem_copy(&pr->p->mem, slice(text, (size_t)(colon - text))) : text, &first) || first < 1 || *text == '+' || *text == ' ')
        return false;
    if (colon && (parse_int(colon + 1, &last) || last < first))
        return false;
    pr->first = (uint64_t)first;
    pr->last = (uint64_t)last;
    return true;
}

static void pages_option(Pr *pr, const char *text)
{
    char *end = mem_strdup(&pr->p->mem, text) + strspn(text, "0123456789");
    if (end == text || (*end && *end != ':') || !*text)
        die(pr->p, 1, "invalid --pages argument '%s'", text);
    if (!page_range(pr, text))
        die(pr->p, 1, "invalid page range %s", quote(pr->p, text));
}

static void separator_option(Pr *pr, Args *args, int id)
{
    if (id == 's') {
        pr->old_s = true;
        if (pr->separated || !args->value)
            return;
    } else {
        pr->old_s = false;
        pr->separator = "";
        pr->separator_len = 0;
        pr->separated = true;
        if (!args->value)
            return;
    }
    pr->separator = mem_strdup(&pr->p->keep, args->value);
    pr->separator_len = strlen(args->value);
}

static void set_option(Pr *pr, Args *args, int id)
{
    char *v = args->value;
    switch (id) {
    case OPT_PAGES:
        pages_option(pr, v);
        pr->pages_given = true;
        break;
    case OPT_COLUMNS:
        pr->columns = number_option(pr, v, 1, "invalid number of columns");
        pr->columns_given = true;
        break;
    case 'a': pr->across = true; break;
    case 'c': pr->hat = true; break;
    case 'd': pr->twice = true; break;
    case 'D': pr->date_format = mem_strdup(&pr->p->keep, v); break;
    case 'e':
        if (v)
            mark_and_number(pr, args, 'e', &pr->tab_in, &pr->tab_in_width);
        pr->expand = true;
        break;
    case 'f':
    case 'F': pr->feeds = true; break;
    case 'h': pr->header = mem_strdup(&pr->p->keep, v); break;
    case 'i':
        if (v)
            mark_and_number(pr, args, 'i', &pr->tab_out, &pr->tab_out_width);
        pr->compress = true;
        break;
    case 'J': pr->join = true; break;
    case 'l': pr->length = number_option(pr, v, 1, "'-l PAGE_LENGTH' invalid number of lines"); break;
    case 'm': pr->merge = true; break;
    case 'n':
        pr->numbered = true;
        if (v)
            mark_and_number(pr, args, 'n', &pr->number_mark, &pr->number_digits);
        break;
    case 'N':
        pr->count_skipped = false;
        pr->line_number = (int64_t)number_option(pr, v, INT32_MIN, "'-N NUMBER' invalid starting line number");
        break;
    case 'o': pr->margin = number_option(pr, v, 0, "'-o MARGIN' invalid line offset"); break;
    case 'r': pr->quiet_open = true; break;
    case 's':
    case 'S': separator_option(pr, args, id); break;
    case 't': pr->bare = true; pr->drop_breaks = false; break;
    case 'T': pr->bare = pr->drop_breaks = true; break;
    case 'v': pr->octal = true; break;
    case 'w':
    case 'W': {
        uint64_t width = number_option(pr, v, 1, id == 'w' ? "'-w PAGE_WIDTH' invalid number of characters" : "'-W PAGE_WIDTH' invalid number of characters");
        pr->old_w = id == 'w';
        if (id == 'W')
            pr->truncate = true;
        if (id == 'W' || !pr->truncate)
            pr->width = width;
        break;
    }
    default: break;
    }
}

/* -s and -w as they were before there were -S and -W. */
static void translate_old(Pr *pr)
{
    bool several = pr->merge || pr->columns_given;
    if (pr->old_w) {
        if (several) {
            pr->truncate = true;
            pr->separated |= pr->old_s;
        } else {
            pr->join = true;
        }
    } else if (!pr->separated && pr->old_s && several) {
        if (!pr->truncate)
            pr->join = true;
        if (pr->truncate || pr->separator_len)
            pr->separated = true;
    }
}

static void read_options(Pr *pr, Args *args)
{
    Proc *p = pr->p;
    Buf digits;
    buf_init(&digits, &p->keep, 4096);
    for (int id, before = 0; (id = args_next(p, args)) != -1; before = id) {
        if (id >= '0' && id <= '9') {
            if (before < '0' || before > '9')
                buf_clear(&digits);
            buf_char(&digits, (char)id);
            continue;
        }
        if (id == OPT_COLUMNS)
            buf_clear(&digits);
        set_option(pr, args, id);
    }
    if (digits.len) {
        buf_char(&digits, '\0');
        pr->columns = number_option(pr, digits.data, 1, "invalid number of columns");
        pr->columns_given = true;
    }
}

static int pr_main(Proc *p, Args *args)
{
    static char dash[] = "-";
    Pr pr = {.p = p, .first = 1, .last = UINT64_MAX, .columns = 1, .width = 72, .length = 66, .line_number = 1, .number_digits = 5, .count_skipped = true, .separator = "",
             .number_mark = '\t', .tab_in = '\t', .tab_out = '\t', .tab_in_width = 8, .tab_out_width = 8, .mem = proc_mem_new(p)};
    pr.date_format = proc_getenv(p, "POSIXLY_CORRECT") ? "%b %e %H:%M %Y" : "%Y-%m-%d %H:%M";
    read_options(&pr, args);
    if (pr.merge && pr.columns_given)
        die(p, 1, "cannot specify number of columns when printing in parallel");
    if (pr.merge && pr.across)
        die(p, 1, "cannot specify both printing across and printing in parallel");
    translate_old(&pr);
    int n, count = 0;
    char **v = args_operands(args, &n), **names = mem_array(&p->keep, (size_t)n + 1, char *);
    for (int i = 0; i < n; i++)
        if (v[i][0] != '+' || pr.pages_given || !(pr.pages_given = page_range(&pr, v[i] + 1)))
            names[count++] = v[i];
    if (count == 0) {
        names[count++] = dash;
        pr.merge = false;
    }
    const uint64_t frame = HEADER_LINES + FOOTER_LINES;
    if (pr.length <= frame)
        pr.bare = true;
    pr.body = pr.bare ? pr.length : pr.length - frame;
    if (pr.twice)
        pr.body /= 2;
    pr.body = MAX(pr.body, (uint64_t)1);
    if (pr.merge)
        print_files(&pr, names, count);
    else
        for (int i = 0; i < count; i++)
            print_files(&pr, names + i, 1);
    return pr.status;
}

COMMAND(pr, "pr [OPTION]... [FILE]...", "Paginate or columnate FILE(s) for printing.", options, COMMAND_PURE, .package = "GNU coreutils 9.1");
