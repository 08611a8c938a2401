/* sed's machine: the program over one line after the other. */
#include "sed.h"

/* ---------- output ---------- */

void sed_put(Sed *s, SedOut *o, Slice line, bool ended)
{
    if (o->no_newline) {
        out_char(o->out, s->end);
        o->no_newline = false;
    }
    out_write(o->out, line);
    if (ended)
        out_char(o->out, s->end);
    else
        o->no_newline = true;
    if (o->flush)
        output_flush(o->out);
}

static void put_raw(SedOut *o, Slice text, char end)
{
    if (o->no_newline) {
        out_char(o->out, end);
        o->no_newline = false;
    }
    out_write(o->out, text);
    if (o->flush)
        output_flush(o->out);
}

static void put_space(Sed *s, SedOut *o) { sed_put(s, o, buf_slice(&s->space), s->ended); }

static void append_add(Sed *s, Append a)
{
    if (s->append_count == s->append_cap) {
        size_t cap = s->append_cap ? s->append_cap * 2 : 8;
        s->appends = mem_grow(&s->p->keep, s->appends, s->append_cap * sizeof a, cap * sizeof a);
        s->append_cap = cap;
    }
    s->appends[s->append_count++] = a;
}

static void put_file(Sed *s, const char *name)
{
    int fd = proc_open(s->p, name, V_READ, 0); /* a file that is /dev/stdin begins again each time */
    put_raw(s->out, slice("", 0), s->end);
    if (fd < 0)
        return;
    Slice chunk;
    Chunk *holder;
    while (proc_read_chunk(s->p, fd, 65536, &chunk, &holder) > 0)
        put_raw(s->out, chunk, s->end);
    proc_close(s->p, fd);
}

/* What a, r and R left for the end of the cycle. */
static void put_appends(Sed *s)
{
    for (size_t i = 0; i < s->append_count; i++) {
        const Append *a = &s->appends[i];
        if (a->kind == APPEND_TEXT)
            put_raw(s->out, a->text, s->end);
        else
            put_file(s, a->file);
    }
    s->append_count = 0;
    mem_reset(&s->p->mem, s->mark);
}

static void queue_line_of(Sed *s, SedSource *r)
{
    if (!r->open && !r->ended) {
        bool is_stdin = strcmp(r->name, "/dev/stdin") == 0;
        int fd = is_stdin ? 0 : proc_open(s->p, r->name, V_READ, 0);
        r->open = fd >= 0;
        r->ended = fd < 0;
        if (r->open) {
            r->in = input_fd(s->p, fd, r->name);
            r->in.delimiter = s->end;
        }
    }
    Slice line;
    bool ended;
    if (r->ended || !input_record(&r->in, &line, &ended)) {
        r->ended = true;
        return;
    }
    char *copy = mem_alloc(&s->p->mem, line.len + 1);
    memcpy(copy, line.data, line.len);
    copy[line.len] = s->end;
    append_add(s, (Append){APPEND_TEXT, slice(copy, line.len + ended), NULL});
}

/* l: what is not printable ASCII as escapes, folded with a backslash before `width`. */
static void list_space(Sed *s, int64_t width)
{
    static const char letters[] = "\a\b\f\n\r\t\v\\", names[] = "abfnrtv\\";
    int64_t column = 0;
    Buf *w = &s->work;
    buf_clear(w);
    for (size_t i = 0; i < s->space.len; i++) {
        unsigned char c = (unsigned char)s->space.data[i];
        char text[8];
        const char *known = c ? strchr(letters, c) : NULL;
        size_t n = 1;
        text[0] = (char)c;
        if (known) {
            text[0] = '\\';
            text[1] = names[known - letters];
            n = 2;
        } else if (c < 0x20 || c > 0x7E) {
            n = (size_t)snprintf(text, sizeof text, "\\%03o", c);
        }
        if (width > 0 && column + (int64_t)n > width - 1) {
            buf_char(w, '\\');
            buf_char(w, s->end);
            column = 0;
        }
        buf_append(w, slice(text, n));
        column += (int64_t)n;
    }
    buf_char(w, '$');
    buf_char(w, s->end);
    put_raw(s->out, buf_slice(w), s->end);
}

/* ---------- matching ---------- */

static ReResult search(Sed *s, const SedRegex *regex, int groups, Slice text, size_t start, ReSpan *spans)
{
    size_t nspans = spans ? (size_t)groups + 1 : 0;
    Re *re = regex->re ? regex->re : s->last;
    if (!re)
        sed_bad(s, SIZE_MAX, "no previous regular expression");
    s->last = re;
    s->last_bytewise = regex->re ? regex->bytewise : s->last_bytewise;
    if (groups > (int)re_groups(re) && !s->posix)
        sed_bad(s, SIZE_MAX, "invalid reference \\%d on `s' command's RHS", groups);
    ReResult r = re_search(&s->env, re, text, start, false, spans, nspans);
    if (r == RE_ERR_LIMIT)
        die(s->p, 4, "regex work limit exceeded");
    if (r == RE_ERR_MEMORY)
        die(s->p, 4, "regex memory exhausted");
    return r;
}

static bool address_matches(Sed *s, const Address *a)
{
    switch (a->kind) {
    case ADDR_LINE: return s->line_number == a->n;
    case ADDR_STEP: return s->line_number >= a->n && (s->line_number - a->n) % a->step == 0;
    case ADDR_LAST: return sed_is_last(s);
    case ADDR_REGEX: return search(s, &a->regex, 0, buf_slice(&s->space), 0, NULL) == RE_MATCHED;
    default: return true;
    }
}

/* Opens the range at the current line unless it is that line alone. */
static void range_begin(Sed *s, SedCommand *c)
{
    uint64_t l = s->line_number, n = c->a2.n;
    c->closed = true;
    c->active = true;
    switch (c->a2.kind) {
    case ADDR_LINE: c->range_end = n; break;
    case ADDR_PLUS: c->range_end = l + n; break;
    case ADDR_MULTIPLE: c->range_end = n ? (l / n + 1) * n : l; break; /* the next one, also from a multiple */
    case ADDR_STEP:
    case ADDR_LAST:
        c->active = !address_matches(s, &c->a2);
        return;
    default: return;
    }
    c->active = c->range_end > l;
}

static bool range_matches(Sed *s, SedCommand *c)
{
    if (!c->active) {
        if (c->a1.kind == ADDR_LINE) {
            bool late = s->line_number > c->a1.n && c->a2.kind == ADDR_LINE && s->line_number > c->a2.n;
            if (c->closed || s->line_number < c->a1.n || late)
                return false;
        } else if (!address_matches(s, &c->a1)) {
            return false;
        }
        range_begin(s, c);
        return true;
    }
    if (c->a2.kind == ADDR_REGEX || c->a2.kind == ADDR_LAST || c->a2.kind == ADDR_STEP) {
        c->active = !address_matches(s, &c->a2);
        return true;
    }
    c->active = s->line_number < c->range_end;
    return s->line_number <= c->range_end || c->a2.kind != ADDR_LINE; /* +N and ~N take the line they end behind */
}

static bool selected(Sed *s, SedCommand *c)
{
    if (c->a1.kind == ADDR_NONE)
        return !c->negated;
    bool in = c->a2.kind == ADDR_NONE ? address_matches(s, &c->a1) : range_matches(s, c);
    return in != c->negated;
}

/* ---------- s ---------- */

/* `first` for the first character, `mode` for the others. */
static void append_cased(Sed *s, Buf *out, Slice text, CaseMode mode, CaseMode first)
{
    size_t n;
    for (size_t at = 0; at < text.len; at += n) {
        unsigned char byte = (unsigned char)text.data[at];
        uint32_t c = s->utf8 ? utf8_decode(text.data + at, text.len - at, &n) : (n = 1, byte < 128 ? byte : UTF8_BAD);
        CaseMode op = at == 0 && first != CASE_KEEP ? first : mode;
        char bytes[6];
        if (c == UTF8_BAD || op == CASE_KEEP)
            buf_append(out, slice(text.data + at, n));
        else
            buf_append(out, slice(bytes, utf8_encode(op == CASE_UPPER ? char_upper(c) : char_lower(c), bytes)));
    }
}

/* With changes of case. A \u before a group that is empty goes over to the next part, and no further. */
static void append_changed(Sed *s, Buf *out, const Substitution *sub, const ReSpan *spans)
{
    CaseMode carried = CASE_KEEP;
    for (size_t i = 0; i < sub->count; i++) {
        const ReplacePart *part = &sub->parts[i];
        CaseMode first = part->first != CASE_KEEP ? part->first : carried;
        carried = CASE_KEEP;
        if (part->text.len) {
            append_cased(s, out, part->text, part->mode, first);
            first = CASE_KEEP;
        }
        ReSpan g = part->group >= 0 ? spans[part->group] : (ReSpan){0, 0};
        if (part->group >= 0 && g.start == g.end)
            carried = part->first != CASE_KEEP ? first : CASE_KEEP;
        else if (part->group >= 0)
            append_cased(s, out, slice(s->space.data + g.start, g.end - g.start), part->mode, first);
    }
}

static void append_replacement(Sed *s, Buf *out, const Substitution *sub, const ReSpan *spans)
{
    if (sub->cases) {
        append_changed(s, out, sub, spans);
        return;
    }
    for (size_t i = 0; i < sub->count; i++) {
        const ReplacePart *part = &sub->parts[i];
        buf_append(out, part->text);
        if (part->group >= 0 && spans[part->group].start != RE_UNSET) {
            ReSpan g = spans[part->group];
            buf_append(out, slice(s->space.data + g.start, g.end - g.start));
        }
    }
}

static size_t char_length(const Sed *s, Slice text, size_t at)
{
    size_t n = 1;
    if (s->utf8 && (unsigned char)text.data[at] >= 0x80)
        utf8_decode(text.data + at, text.len - at, &n);
    return n;
}

/* Whether the expression matches nothing at any place: where it is run over bytes, GNU sed finds that inside of a character too. */
static bool matches_anywhere(Sed *s, const SedRegex *regex)
{
    ReSpan m;
    return search(s, regex, 0, SLICE("\1\1"), 1, &m) == RE_MATCHED && m.start == 1 && m.end == 1;
}

/* --debug shows every group that there is, also where the substitution asks for none: unless that is too much work. */
static void show_match(Sed *s, const Substitution *sub, const ReSpan *found)
{
    ReSpan spans[10] = {found[0]};
    size_t count = MIN(re_groups(s->last), 9u) + 1;
    if (re_search(&s->env, s->last, buf_slice(&s->space), 0, false, spans, count) == RE_MATCHED)
        sed_debug_match(s, spans, count);
    else
        sed_debug_match(s, found, (size_t)sub->groups + 1);
}

/* The work buffer gets the new line; true when anything was replaced. */
static bool replace_all(Sed *s, const Substitution *sub)
{
    ReSpan spans[10];
    Slice line = buf_slice(&s->space);
    Buf *out = &s->work;
    size_t at = 0, last_end = RE_UNSET;
    uint64_t count = 0, wanted = sub->number ? sub->number : 1;
    bool replaced = false;
    buf_clear(out);
    while (at <= line.len && search(s, &sub->regex, sub->groups, line, at, spans) == RE_MATCHED) {
        ReSpan m = spans[0];
        if (s->debug && count == 0 && at == 0)
            show_match(s, sub, spans);
        bool empty = m.start == m.end, counts = !(empty && m.start == last_end);
        buf_append(out, slice(line.data + at, m.start - at));
        if (counts && ++count >= wanted) {
            append_replacement(s, out, sub, spans);
            replaced = true;
        } else {
            buf_append(out, slice(line.data + m.start, m.end - m.start));
        }
        at = last_end = m.end;
        if (replaced && !sub->global)
            break;
        if (empty && at < line.len) {
            size_t n = char_length(s, line, at);
            buf_char(out, line.data[at]);
            bool inside = n > 1 && s->last_bytewise && matches_anywhere(s, &sub->regex);
            for (size_t i = 1; i < n; i++) {
                if (inside && (sub->global || !replaced) && ++count >= wanted) {
                    spans[0] = (ReSpan){at + i, at + i};
                    append_replacement(s, out, sub, spans);
                    replaced = true;
                }
                buf_char(out, line.data[at + i]);
            }
            at += n;
            if (replaced && !sub->global)
                break;
        } else if (empty) {
            at++;
        }
    }
    if (replaced && at < line.len)
        buf_append(out, slice_from(line, at));
    return replaced;
}

static void substitute(Sed *s, const Substitution *sub)
{
    s->env.text = s->space.len > 4096 ? (slice_ascii(buf_slice(&s->space)) ? TEXT_ASCII : TEXT_MIXED) : TEXT_UNKNOWN;
    bool replaced = replace_all(s, sub);
    s->env.text = TEXT_UNKNOWN;
    if (!replaced)
        return;
    Buf old = s->space;
    s->space = s->work;
    s->work = old;
    s->replaced = true;
    if (sub->print)
        put_space(s, s->out);
    if (sub->file)
        put_space(s, sub->file);
}

static void transliterate(Sed *s, const Transliteration *y)
{
    if (y->bytes || (!s->utf8 && slice_ascii(buf_slice(&s->space)))) {
        for (size_t i = 0; i < s->space.len; i++)
            s->space.data[i] = (char)y->table[(unsigned char)s->space.data[i]];
        return;
    }
    Slice line = buf_slice(&s->space);
    buf_clear(&s->work);
    for (size_t at = 0, n; at < line.len; at += n) {
        unsigned char byte = (unsigned char)line.data[at];
        uint32_t c = byte;
        n = 1;
        if (byte >= 0x80 && (!s->utf8 || (c = utf8_decode(line.data + at, line.len - at, &n)) == UTF8_BAD))
            c = 0x110000u | byte;
        char bytes[6];
        for (size_t i = 0; i < y->count; i++)
            if (y->from[i] == c || (c >= 0x110000u && y->from[i] < 0x110000u && utf8_encode(y->from[i], bytes) && (unsigned char)bytes[0] == byte)) {
                c = y->to[i]; /* a byte that is no character is taken for any that begins with it */
                break;
            }
        if (c >= 0x110000u)
            buf_char(&s->work, (char)(c & 0xFF));
        else
            buf_append(&s->work, slice(bytes, utf8_encode(c, bytes)));
    }
    Buf old = s->space;
    s->space = s->work;
    s->work = old;
}

/* ---------- the program ---------- */

typedef enum { CYCLE_END, CYCLE_DELETED, CYCLE_DROPPED /* by D */, CYCLE_RESTART, CYCLE_QUIT, CYCLE_QUIT_SILENT } CycleEnd;

static Slice first_line(const Sed *s)
{
    Slice all = buf_slice(&s->space);
    return slice(all.data, slice_find(all, s->end));
}

static void put_first_line(Sed *s, SedOut *o)
{
    Slice line = first_line(s);
    sed_put(s, o, line, line.len < s->space.len || s->ended);
}

static void copy_to(Buf *to, const Buf *from)
{
    buf_clear(to);
    buf_append(to, buf_slice(from));
}

static void add_line(Sed *s, Buf *to, const Buf *from)
{
    buf_char(to, s->end);
    buf_append(to, buf_slice(from));
}

/* n and N at the end of the input (of a file, when files are separate) end the cycle; --posix loses what N had. */
static bool next_line(Sed *s, bool append, CycleEnd *how)
{
    bool last = sed_is_last(s);
    if (!append && !s->quiet)
        put_space(s, s->out);
    if (last) {
        *how = !append || s->posix ? CYCLE_DELETED : CYCLE_END;
        return false;
    }
    if (append)
        buf_char(&s->space, s->end);
    put_appends(s);
    if (sed_read(s, append))
        return true;
    *how = CYCLE_QUIT_SILENT;
    return false;
}

static void delete_first_line(Sed *s)
{
    size_t n = first_line(s).len + 1;
    memmove(s->space.data, s->space.data + n, s->space.len - n);
    s->space.len -= n;
}

static void print_name_or_number(Sed *s, bool number)
{
    buf_clear(&s->work);
    if (number)
        buf_printf(&s->work, "%llu%c", (unsigned long long)s->line_number, s->end);
    else
        buf_printf(&s->work, "%s%c", s->file_name, s->end);
    put_raw(s->out, buf_slice(&s->work), s->end);
}

static void change(Sed *s, const SedCommand *c)
{
    if (c->a2.kind == ADDR_NONE || !c->active)
        put_raw(s->out, c->text, s->end);
}

/* The commands that neither jump nor end the cycle. */
static void simple_command(Sed *s, const SedCommand *c)
{
    switch (c->name) {
    case '=': print_name_or_number(s, true); break;
    case 'F': print_name_or_number(s, false); break;
    case 'a': append_add(s, (Append){APPEND_TEXT, c->text, NULL}); break;
    case 'i': put_raw(s->out, c->text, s->end); break;
    case 'r': append_add(s, (Append){APPEND_FILE, {NULL, 0}, c->text.data}); break;
    case 'R': queue_line_of(s, c->source); break;
    case 'g':
        copy_to(&s->space, &s->hold);
        s->ended = s->hold_ended;
        break;
    case 'G':
        add_line(s, &s->space, &s->hold);
        s->ended = s->hold_ended;
        break;
    case 'h':
        copy_to(&s->hold, &s->space);
        s->hold_ended = s->ended;
        break;
    case 'H':
        add_line(s, &s->hold, &s->space);
        s->hold_ended = s->ended;
        break;
    case 'x': {
        Buf other = s->hold;
        s->hold = s->space;
        s->space = other;
        bool ended = s->hold_ended;
        s->hold_ended = s->ended;
        s->ended = ended;
        break;
    }
    case 'l': list_space(s, c->number < 0 ? s->line_length : c->number); break;
    case 'p': put_space(s, s->out); break;
    case 'P': put_first_line(s, s->out); break;
    case 's': substitute(s, c->s); break;
    case 'w': put_space(s, c->file); break;
    case 'W': put_first_line(s, c->file); break;
    case 'y': transliterate(s, c->y); break;
    case 'z': buf_clear(&s->space); break;
    case 'L': die(s->p, 4, "INTERNAL ERROR: Bad cmd L"); /* parsed for old scripts' sake, so far does GNU's 4.9 go */
    default: break; /* ':' and, under --debug, '}' */
    }
}

static CycleEnd run_program(Sed *s, int *status)
{
    CycleEnd how;
    for (size_t at = 0; at < s->count;) {
        SedCommand *c = &s->commands[at++];
        proc_tick(s->p, 1);
        if (s->debug) {
            out_str(s->p->out, "COMMAND: ");
            sed_debug_command(s, c);
        }
        bool chosen = selected(s, c);
        if (c->name == '{' && !chosen)
            at = c->target;
        if (!chosen)
            continue;
        switch (c->name) {
        case '{': break;
        case 'b': at = c->target; break;
        case 't':
        case 'T': {
            bool jump = s->replaced == (c->name == 't');
            s->replaced = false;
            if (jump)
                at = c->target;
            break;
        }
        case 'c':
            change(s, c);
            return CYCLE_DELETED;
        case 'd': return CYCLE_DELETED;
        case 'D':
            if (first_line(s).len == s->space.len)
                return CYCLE_DROPPED;
            delete_first_line(s);
            return CYCLE_RESTART;
        case 'n':
        case 'N':
            if (!next_line(s, c->name == 'N', &how))
                return how;
            break;
        case 'q':
        case 'Q':
            *status = c->number < 0 ? 0 : (int)(c->number & 255);
            s->quitting = true;
            return c->name == 'q' ? CYCLE_QUIT : CYCLE_QUIT_SILENT;
        default: simple_command(s, c);
        }
        if (s->debug)
            sed_debug_after(s, c->name);
    }
    return CYCLE_END;
}

/* The expression without whose match no command does anything to a line, if that is one alone. */
static const SedRegex *only_condition(const Sed *s)
{
    const SedRegex *found = NULL;
    for (size_t i = 0; i < s->count; i++) {
        const SedCommand *c = &s->commands[i];
        const SedRegex *r = NULL;
        if (c->name == ':')
            continue;
        if (c->a1.kind == ADDR_REGEX && c->a2.kind == ADDR_NONE && !c->negated)
            r = &c->a1.regex;
        else if (c->name == 's' && c->a1.kind == ADDR_NONE && !c->negated)
            r = &c->s->regex;
        if (!r || !r->re || found || !re_needle(r->re).len)
            return NULL;
        found = r;
        if (c->name == '{')
            i = c->target - 1;
    }
    return found;
}

/* Lines that cannot match go out as they are, or nowhere, without a cycle of their own. */
static void pass_lines(Sed *s, const SedRegex *condition)
{
    if (!condition || s->has_ahead || !s->reading)
        return;
    Slice lines = input_pass(&s->in, condition->re);
    if (!lines.len)
        return;
    s->line_number += slice_count(lines, s->end);
    s->last = condition->re;
    s->last_bytewise = condition->bytewise;
    if (!s->quiet)
        put_raw(s->out, lines, s->end);
    proc_tick(s->p, lines.len / 64);
}

int sed_run(Sed *s)
{
    int status = 0;
    if (s->debug)
        sed_debug_program(s);
    const SedRegex *condition = s->debug || s->unbuffered ? NULL : only_condition(s);
    s->mark = mem_mark(&s->p->mem);
    bool more = sed_read(s, false);
    for (CycleEnd how = CYCLE_END; more;) {
        if (s->debug && how == CYCLE_RESTART)
            sed_debug_line(s, false);
        else if (s->debug)
            sed_debug_input(s);
        how = run_program(s, &status);
        if (s->debug && (how == CYCLE_END || how == CYCLE_DELETED))
            out_str(s->p->out, "END-OF-CYCLE:\n");
        if ((how == CYCLE_END || how == CYCLE_QUIT) && !s->quiet)
            put_space(s, s->out);
        if (how != CYCLE_QUIT_SILENT)
            put_appends(s);
        if (how == CYCLE_QUIT && s->quitting)
            put_raw(s->out, slice("", 0), s->end); /* what q leaves is whole lines */
        if (s->unbuffered)
            output_flush(s->out->out);
        if (how == CYCLE_QUIT || how == CYCLE_QUIT_SILENT)
            break;
        if (how == CYCLE_RESTART)
            continue;
        pass_lines(s, condition);
        more = sed_read(s, false);
    }
    sed_in_place_end(s);
    return status;
}
