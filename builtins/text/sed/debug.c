/* sed --debug: the program as GNU sed writes it out, and what each cycle does.
 *
 * All of it goes to standard output as it is, also behind a last line that has no end: the missing end is not put in for it.
 */
#include "sed.h"

/* ---------- texts ---------- */

/* The bytes that GNU escapes. Those that are no ASCII come out as the negative numbers that they are to a signed char. */
static void put_escaped(Output *out, Slice text, bool slashes)
{
    static const char letters[] = "\a\f\n\r\t\v\\", names[] = "afnrtv\\";
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        const char *known = c ? strchr(letters, c) : NULL;
        if (known || (slashes && c == '/')) {
            out_char(out, '\\');
            out_char(out, known ? names[known - letters] : '/');
        } else if (c < 0x20 || c > 0x7E) {
            out_printf(out, "\\o%03o", (unsigned)(int)(signed char)c);
        } else {
            out_char(out, (char)c);
        }
    }
}

void sed_debug_line(Sed *s, bool hold)
{
    out_str(s->p->out, hold ? "HOLD:    " : "PATTERN: ");
    put_escaped(s->p->out, buf_slice(hold ? &s->hold : &s->space), false);
    out_char(s->p->out, '\n');
}

void sed_debug_input(Sed *s)
{
    const char *name = strcmp(s->file_name, "-") == 0 ? "STDIN" : s->file_name;
    out_printf(s->p->out, "INPUT:   '%s' line %llu\n", name, (unsigned long long)s->line_number);
    sed_debug_line(s, false);
}

/* What the first match of a substitution took, up to the first group that took nothing. */
void sed_debug_match(Sed *s, const ReSpan *spans, size_t count)
{
    Output *out = s->p->out;
    out_str(out, "MATCHED REGEX REGISTERS\n");
    for (size_t i = 0; i < count && spans[i].start != RE_UNSET; i++) {
        out_printf(out, "  regex[%zu] = %zu-%zu '", i, spans[i].start, spans[i].end);
        out_write(out, slice(s->space.data + spans[i].start, spans[i].end - spans[i].start));
        out_str(out, "'\n");
    }
}

/* ---------- the program ---------- */

static void put_regex(Output *out, const SedRegex *regex)
{
    out_char(out, '/');
    put_escaped(out, regex->text, true);
    out_char(out, '/');
}

static void put_address(Output *out, const Address *a)
{
    switch (a->kind) {
    case ADDR_LINE: out_printf(out, "%llu", (unsigned long long)a->n); break;
    case ADDR_STEP: out_printf(out, "%llu~%llu", (unsigned long long)a->n, (unsigned long long)a->step); break;
    case ADDR_LAST: out_char(out, '$'); break;
    case ADDR_REGEX:
        put_regex(out, &a->regex);
        if (a->regex.flags & RE_ICASE)
            out_char(out, 'I');
        if (a->regex.flags & RE_NEWLINE)
            out_char(out, 'M');
        break;
    case ADDR_PLUS:
    case ADDR_MULTIPLE:
        if (a->n)
            out_printf(out, "%c%llu", a->kind == ADDR_PLUS ? '+' : '~', (unsigned long long)a->n);
        else
            out_str(out, "[ADDR-NULL]");
        break;
    case ADDR_NONE: break;
    }
}

static void put_addresses(Output *out, const SedCommand *c)
{
    put_address(out, &c->a1);
    if (c->a2.kind != ADDR_NONE)
        out_char(out, ',');
    put_address(out, &c->a2);
    if (c->negated)
        out_char(out, '!');
    if (c->a1.kind != ADDR_NONE)
        out_char(out, ' ');
}

/* A change of case is written where it differs from the part before, a \u or \l hiding the \U or \L it stands under. */
static void put_replacement(Output *out, const Substitution *sub)
{
    static const char modes[] = {[CASE_KEEP] = 'E', [CASE_UPPER] = 'U', [CASE_LOWER] = 'L'};
    CaseMode mode = CASE_KEEP, first = CASE_KEEP;
    for (size_t i = 0; i < sub->count; i++) {
        const ReplacePart *part = &sub->parts[i];
        if (part->mode != mode || part->first != first)
            out_printf(out, "\\%c", part->first == CASE_KEEP ? modes[part->mode] : modes[part->first] | 0x20);
        mode = part->mode;
        first = part->first;
        out_write(out, part->text);
        if (part->group > 0)
            out_printf(out, "\\%d", part->group);
        else if (part->group == 0)
            out_char(out, '&');
    }
}

static void put_substitution(Output *out, const Substitution *sub)
{
    put_regex(out, &sub->regex);
    put_replacement(out, sub);
    out_char(out, '/');
    if (sub->regex.flags & RE_ICASE)
        out_char(out, 'i');
    if (sub->regex.flags & RE_NEWLINE)
        out_char(out, 'm');
    if (sub->global)
        out_char(out, 'g');
    if (sub->print)
        out_char(out, 'p');
    if (sub->number)
        out_printf(out, "%llu", (unsigned long long)sub->number);
    if (sub->file)
        out_printf(out, "w%s", sub->file->name);
}

static void put_code(Output *out, uint32_t c)
{
    char bytes[6];
    if (c >= 0x110000u)
        out_char(out, (char)(c & 0xFF));
    else
        out_write(out, slice(bytes, utf8_encode(c, bytes)));
}

/* Characters as they were given; in a locale of bytes, the table in the order of bytes. */
static void put_transliteration(const Sed *s, const Transliteration *y)
{
    Output *out = s->p->out;
    for (int to = 0; to < 2; to++) {
        out_char(out, '/');
        for (size_t i = 0; s->utf8 && i < y->count; i++)
            put_code(out, to ? y->to[i] : y->from[i]);
        for (uint32_t byte = 0; !s->utf8 && byte < 256; byte++)
            for (size_t i = 0; i < y->count; i++)
                if ((y->from[i] & 0xFF) == byte) {
                    if (((y->from[i] ^ y->to[i]) & 0xFF) != 0)
                        out_char(out, (char)((to ? y->to[i] : y->from[i]) & 0xFF));
                    break;
                }
    }
    out_char(out, '/');
}

/* The text's end is a newline here, under -z too. */
static void put_text(const Sed *s, Slice text)
{
    bool ended = text.len && text.data[text.len - 1] == s->end;
    out_write(s->p->out, slice(text.data, text.len - ended));
    if (ended)
        out_char(s->p->out, '\n');
}

static void put_argument(const Sed *s, const SedCommand *c)
{
    Output *out = s->p->out;
    switch (c->name) {
    case ':': out_str(out, c->label); break;
    case 'b': case 't': case 'T':
        if (*c->label)
            out_printf(out, " %s", c->label);
        break;
    case 'a': case 'i': case 'c':
        out_char(out, '\\');
        put_text(s, c->text);
        break;
    case 'l': case 'L': case 'q': case 'Q':
        if (c->number >= 0)
            out_printf(out, " %lld", (long long)c->number);
        break;
    case 'r':
        out_char(out, ' ');
        out_write(out, c->text);
        break;
    case 'R': out_printf(out, " %s", c->source->name); break;
    case 'w': case 'W': out_str(out, c->file->name); break;
    case 's': put_substitution(out, c->s); break;
    case 'y': put_transliteration(s, c->y); break;
    default: break;
    }
}

void sed_debug_command(Sed *s, const SedCommand *c)
{
    Output *out = s->p->out;
    if (c->name == '}' && s->debug_depth)
        s->debug_depth--;
    for (size_t i = 0; i < s->debug_depth; i++)
        out_str(out, "  ");
    put_addresses(out, c);
    out_char(out, c->name);
    put_argument(s, c);
    out_char(out, '\n');
    s->debug_depth += c->name == '{';
}

void sed_debug_program(Sed *s)
{
    out_str(s->p->out, "SED PROGRAM:\n");
    for (size_t i = 0; i < s->count; i++) {
        out_str(s->p->out, "  ");
        sed_debug_command(s, &s->commands[i]);
    }
    s->debug_depth = 0;
}

/* What a command left behind is shown for those that change a space; g shows the other one. */
void sed_debug_after(Sed *s, char name)
{
    if (strchr("GNnsxyz", name))
        sed_debug_line(s, false);
    if (strchr("Hghx", name))
        sed_debug_line(s, true);
}
