/* config: -K files: one option a line, "name value", "name = value", quoted values with \t \n \r \v \" \\, comments. */
#include "curl.h"

enum { DEEPEST = 16 };

static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static Slice trim(Slice s)
{
    while (s.len && blank(s.data[0]))
        s = slice_from(s, 1);
    while (s.len && blank(s.data[s.len - 1]))
        s.len--;
    return s;
}

static char *unquote(Curl *c, Slice s)
{
    static const char from[] = "tnrv", to[] = "\t\n\r\v";
    char *out = mem_alloc(&c->p->keep, s.len + 1);
    size_t n = 0;
    for (size_t i = 1; i < s.len && s.data[i] != '"'; i++) {
        char ch = s.data[i];
        if (ch == '\\' && i + 1 < s.len) {
            ch = s.data[++i];
            const char *at = ch ? strchr(from, ch) : NULL;
            ch = at ? to[at - from] : ch;
        }
        out[n++] = ch;
    }
    out[n] = 0;
    return out;
}

static int take_line(Curl *c, const char *file, unsigned number, Slice line)
{
    line = trim(line);
    if (!line.len || line.data[0] == '#')
        return 0;
    size_t n = 0;
    while (n < line.len && !blank(line.data[n]) && line.data[n] != '=' && line.data[n] != ':')
        n++;
    Slice rest = trim(slice_from(line, n));
    if (rest.len && (rest.data[0] == '=' || rest.data[0] == ':'))
        rest = trim(slice_from(rest, 1));
    char *value = !rest.len ? NULL : rest.data[0] == '"' ? unquote(c, rest) : mem_copy(&c->p->keep, slice(rest.data, slice_find(rest, ' ')));
    char *name = mem_printf(&c->p->keep, "%s%.*s", line.data[0] == '-' ? "" : "--", (int)n, line.data);
    bool used;
    int status = 0;
    const char *wrong = curl_option_wrong(name);
    if (wrong) {
        curl_warn(c, NULL, "%s:%u: warning: '%.*s' %s", strcmp(file, "-") == 0 ? "<stdin>" : file, number, (int)n, line.data, wrong);
        return 0;
    }
    return curl_option(c, name, value, &used, &status) == PARSE_STOP ? (status ? status : CURL_FAILED_INIT) : 0;
}

int curl_config(Curl *c, const char *file)
{
    Slice text;
    if (read_failure(c, file, &text) || c->files >= DEEPEST) {
        curl_complain(c, "cannot read config from '%s'", file);
        curl_complain(c, "option -K: error encountered when reading a file");
        curl_usage(c);
        return CURL_READ_ERROR;
    }
    c->files++;
    int status = 0;
    unsigned number = 1;
    while (text.len && !status) {
        size_t n = slice_find(text, '\n');
        status = take_line(c, file, number++, slice(text.data, n));
        text = slice_from(text, MIN(n + 1, text.len));
    }
    c->files--;
    return status;
}
