/* xmllint: parse XML and HTML files, format them, ask them by XPath. libxml2 2.9.14, without all that loads other files: no DTD, no external
 * entity, no XInclude, no schema, no catalog, no network. A DTD is read where an option asks for it. */
#include "shared.h"

enum {
    OPT_FORMAT = 256, OPT_PRETTY, OPT_NOOUT, OPT_XPATH, OPT_RECOVER, OPT_NOENT, OPT_NOBLANKS, OPT_NOCDATA, OPT_NOWARNING, OPT_NSCLEAN, OPT_OLD, OPT_NOENC, OPT_HTML,
    OPT_XMLOUT, OPT_NODEFDTD, OPT_DROPDTD, OPT_C14N, OPT_C14N_11, OPT_C14N_EXC, OPT_ENCODE, OPT_ACCEPT, OPT_VERSION_LONG, OPT_QUIET,
    OPT_VALID, OPT_POSTVALID, OPT_DTDVALID, OPT_LOADDTD, OPT_DTDATTR, OPT_AUTO, OPT_TRACE, OPT_REFUSED,
};

static const Option options[] = {
    {0, "format", OPT_FLAG, "reformat/reindent the output", NULL, OPT_FORMAT},
    {0, "pretty", OPT_VALUE, "0: do not pretty print, 1: as --format, 2: add whitespace inside tags, preserving content", "STYLE", OPT_PRETTY},
    {0, "noout", OPT_FLAG, "don't output the result tree", NULL, OPT_NOOUT},
    {0, "xpath", OPT_VALUE, "evaluate the XPath expression, imply --noout", "EXPR", OPT_XPATH},
    {0, "recover", OPT_FLAG, "output what was parsable on broken XML documents", NULL, OPT_RECOVER},
    {0, "noent", OPT_FLAG, "substitute entity references by their value (internal entities)", NULL, OPT_NOENT},
    {0, "noenc", OPT_FLAG, "ignore any encoding specified inside the document", NULL, OPT_NOENC},
    {0, "noblanks", OPT_FLAG, "drop (ignorable?) blanks spaces", NULL, OPT_NOBLANKS},
    {0, "nocdata", OPT_FLAG, "replace cdata section with text nodes", NULL, OPT_NOCDATA},
    {0, "nowarning", OPT_FLAG, "do not emit warnings from parser/validator", NULL, OPT_NOWARNING},
    {0, "nsclean", OPT_FLAG, "remove redundant namespace declarations", NULL, OPT_NSCLEAN},
    {0, "oldxml10", OPT_FLAG, "use XML-1.0 parsing rules before the 5th edition", NULL, OPT_OLD},
    {0, "html", OPT_FLAG, "use the HTML parser", NULL, OPT_HTML},
    {0, "xmlout", OPT_FLAG, "force to use the XML serializer when using --html", NULL, OPT_XMLOUT},
    {0, "nodefdtd", OPT_FLAG, "do not default HTML doctype", NULL, OPT_NODEFDTD},
    {0, "dropdtd", OPT_FLAG, "remove the DOCTYPE of the input docs", NULL, OPT_DROPDTD},
    {0, "c14n", OPT_FLAG, "save in W3C canonical format v1.0 (with comments)", NULL, OPT_C14N},
    {0, "c14n11", OPT_FLAG, "save in W3C canonical format v1.1 (with comments)", NULL, OPT_C14N_11},
    {0, "exc-c14n", OPT_FLAG, "save in W3C exclusive canonical format (with comments)", NULL, OPT_C14N_EXC},
    {0, "encode", OPT_VALUE, "output in the given encoding: UTF-8, UTF-16, ISO-8859-1, ASCII", "ENCODING", OPT_ENCODE},
    {'o', "output", OPT_VALUE, "save to a given file", "FILE", 0},
    {0, "valid", OPT_FLAG, "validate the document in addition to std well-formed check", NULL, OPT_VALID},
    {0, "postvalid", OPT_FLAG, "do a posteriori validation, i.e after parsing", NULL, OPT_POSTVALID},
    {0, "dtdvalid", OPT_VALUE, "do a posteriori validation against a given DTD", "FILE", OPT_DTDVALID},
    {0, "loaddtd", OPT_FLAG, "fetch external DTD", NULL, OPT_LOADDTD},
    {0, "dtdattr", OPT_FLAG, "loaddtd + populate the tree with inherited attributes", NULL, OPT_DTDATTR},
    {0, "auto", OPT_FLAG, "generate a small doc on the fly", NULL, OPT_AUTO},
    {0, "load-trace", OPT_FLAG, "print trace of all external entities loaded", NULL, OPT_TRACE},
    {0, "stream", OPT_FLAG, "use the streaming interface: nothing is output", NULL, OPT_NOOUT},
    {0, "walker", OPT_FLAG, "create a reader and walk though the resulting doc: nothing is output", NULL, OPT_NOOUT},
    {0, "copy", OPT_FLAG, "accepted", NULL, OPT_ACCEPT}, {0, "push", OPT_FLAG, "accepted", NULL, OPT_ACCEPT}, {0, "pushsmall", OPT_FLAG, "accepted", NULL, OPT_ACCEPT},
    {0, "huge", OPT_FLAG, "accepted: the parser's limits stay", NULL, OPT_ACCEPT}, {0, "sax1", OPT_FLAG, "accepted", NULL, OPT_ACCEPT},
    {0, "nodict", OPT_FLAG, NULL, NULL, OPT_ACCEPT}, {0, "testIO", OPT_FLAG, NULL, NULL, OPT_ACCEPT}, {0, "chkregister", OPT_FLAG, "accepted", NULL, OPT_ACCEPT},
    {0, "compress", OPT_FLAG, "accepted", NULL, OPT_ACCEPT}, {0, "path", OPT_VALUE, "accepted: resources are where they are said to be", "PATHS", OPT_ACCEPT},
    {0, "nofixup-base-uris", OPT_FLAG, "accepted", NULL, OPT_ACCEPT},
    {0, "schema", OPT_VALUE, "refused, as the notes say", "SCHEMA", OPT_REFUSED}, {0, "relaxng", OPT_VALUE, "refused, as the notes say", "SCHEMA", OPT_REFUSED},
    {0, "schematron", OPT_VALUE, "refused, as the notes say", "SCHEMA", OPT_REFUSED}, {0, "pattern", OPT_VALUE, "refused, as the notes say", "PATTERN", OPT_REFUSED},
    {0, "xinclude", OPT_FLAG, "refused, as the notes say", NULL, OPT_REFUSED}, {0, "noxincludenode", OPT_FLAG, "refused, as the notes say", NULL, OPT_REFUSED},
    {0, "catalogs", OPT_FLAG, "refused, as the notes say", NULL, OPT_REFUSED}, {0, "dtdvalidfpi", OPT_VALUE, "refused, as the notes say", "FPI", OPT_REFUSED},
    {0, "shell", OPT_FLAG, "refused, as the notes say", NULL, OPT_REFUSED}, {0, "debug", OPT_FLAG, "refused, as the notes say", NULL, OPT_REFUSED},
    {0, "debugent", OPT_FLAG, "refused, as the notes say", NULL, OPT_REFUSED}, {0, "sax", OPT_FLAG, "refused, as the notes say", NULL, OPT_REFUSED},
    {0, "timing", OPT_FLAG, "refused, as the notes say", NULL, OPT_REFUSED}, {0, "repeat", OPT_FLAG, "refused, as the notes say", NULL, OPT_REFUSED},
    {0, "insert", OPT_FLAG, "refused, as the notes say", NULL, OPT_REFUSED}, {0, "htmlout", OPT_FLAG, "refused, as the notes say", NULL, OPT_REFUSED},
    {0, "nowrap", OPT_FLAG, "refused, as the notes say", NULL, OPT_REFUSED}, {0, "maxmem", OPT_VALUE, "refused, as the notes say", "BYTES", OPT_REFUSED},
    {0, "quiet", OPT_FLAG, "accepted", NULL, OPT_ACCEPT},
    {0, "nonet", OPT_FLAG, "accepted: there is never a network", NULL, OPT_ACCEPT},
    {0, "nocatalogs", OPT_FLAG, "accepted: there are none", NULL, OPT_ACCEPT},
    {0, "nocompact", OPT_FLAG, "accepted", NULL, OPT_ACCEPT},
    {0, "memory", OPT_FLAG, "accepted: files are always parsed from memory", NULL, OPT_ACCEPT},
    OPTIONS_END,
};

enum { COST = 20 /* bytes of memory for each of the text, about */, TEXT_MOST = 64 << 20, EXPRESSION_MOST = 16384, NESTING_MOST = 100, STEPS_MOST = 1000 };

typedef struct {
    Proc *p;
    const XmlFunctions *xml;
    unsigned parse, print;
    bool silent, post_valid, generated, trace;
    const char *dtd;
    const char *xpath, *encoding, *output;
    uint64_t most;
    int status;
} Lint;

static void say(Proc *p, Slice text)
{
    output_flush(p->out);
    out_write(p->err, text);
    output_flush(p->err);
}

static void show_messages(Lint *l, void *doc)
{
    const char *data;
    size_t n;
    l->xml->messages(doc, &data, &n);
    if (n)
        say(l->p, (Slice){data, n});
}

static void complain(Lint *l, const char *text, int status)
{
    say(l->p, slice_str(text));
    l->status = status;
}

static void put(Lint *l, Slice text)
{
    Proc *p = l->p;
    if (!l->output) {
        out_write(p->out, text);
        return;
    }
    int fd = proc_open(p, l->output, V_WRITE | V_CREATE | V_TRUNC, 0666);
    if (fd < 0) {
        complain(l, mem_printf(&p->mem, "I/O error : %s\n", error_text(-fd)), 6);
        return;
    }
    for (ssize_t n; text.len && (n = proc_write(p, fd, text)) > 0;)
        text = slice_from(text, (size_t)n);
    proc_close(p, fd);
}

/* The library walks an expression by recursion: how deep it can get is seen in its marks. */
static bool too_deep(const char *expression)
{
    size_t nested = 0, deepest = 0, steps = 0, n = strlen(expression);
    for (const char *c = expression; *c; c++) {
        nested += *c == '(' || *c == '[';
        nested -= nested && (*c == ')' || *c == ']');
        deepest = MAX(deepest, nested);
        steps += strchr("/|+-*=<>!,[", *c) != NULL || (*c == ' ');
    }
    return n > EXPRESSION_MOST || deepest > NESTING_MOST || steps > STEPS_MOST;
}

static void ask(Lint *l, void *doc)
{
    const char *data;
    size_t n;
    if (too_deep(l->xpath) || !proc_stack_room(l->p, 384 << 10)) {
        complain(l, "XPath error : the expression is too deep\nXPath evaluation failure\n", 10);
        return;
    }
    XmlXPath result = l->xml->xpath(doc, l->xpath, &data, &n);
    show_messages(l, doc);
    if (result == XML_XPATH_FAILED)
        complain(l, "XPath evaluation failure\n", 10);
    else if (result == XML_XPATH_EMPTY)
        complain(l, "XPath set is empty\n", 10);
    else
        out_write(l->p->out, (Slice){data, n});
}

static void drop(Proc *p, void *thing)
{
    void **held = thing;
    (void)p;
    ((const XmlFunctions *)held[0])->free(held[1]);
}

/* The path and the text of the DTD that a document names, beside the document where the name is relative. */
static void read_dtd(Lint *l, const char *document, const char *name, const char **path, Slice *text)
{
    Proc *p = l->p;
    if (!name || strstr(name, "://"))
        return;
    const char *slash = strrchr(document, '/');
    *path = *name == '/' || !slash ? mem_strdup(&p->mem, name) : mem_printf(&p->mem, "%.*s/%s", (int)(slash - document), document, name);
    if (read_file(p, *path, text))
        *text = (Slice){NULL, 0};
    else if (!text->data)
        *text = (Slice){"", 0};
}

/* A document that wants its DTD is parsed twice: only then it is known what that is. */
static void *parse_document(Lint *l, const void **held, const char *name, Slice text)
{
    Proc *p = l->p;
    const char *path = NULL;
    Slice dtd = {NULL, 0};
    bool wants = l->parse & (XML_VALIDATE | XML_LOAD_DTD | XML_DTD_ATTRIBUTES) && !(l->parse & XML_HTML);
    for (int round = wants ? 0 : 1; round < 2; round++) {
        unsigned flags = round ? l->parse : XML_RECOVER;
        void *doc = l->xml->parse_with(name, text.data, text.len, flags, l->most / 4, path, dtd.data, dtd.len);
        if (!doc)
            proc_raise(p, RAISE_MEMORY);
        held[1] = doc;
        proc_own(p, drop, held);
        if (round)
            return doc;
        if (l->xml->parsed(doc))
            read_dtd(l, name, l->xml->names_dtd(doc), &path, &dtd);
        if (dtd.data && dtd.len > l->most / COST)
            dtd = (Slice){NULL, 0};
        mem_alloc(&p->mem, dtd.len * COST);
        proc_disown(p, held);
    }
    return NULL;
}

static void validate(Lint *l, void *doc, const char *name)
{
    Proc *p = l->p;
    Slice text = {NULL, 0};
    if (!l->dtd && !l->post_valid)
        return;
    XmlValidity result = XML_NO_DTD;
    if (l->dtd && (read_file(p, l->dtd, &text) || text.len > l->most / COST))
        complain(l, mem_printf(&p->mem, "warning: failed to load external entity \"%s\"\n", l->dtd), 2);
    else
        result = l->xml->validate(doc, l->dtd, l->dtd ? (text.data ? text.data : "") : NULL, text.len);
    show_messages(l, doc);
    if (result == XML_NO_DTD)
        complain(l, mem_printf(&p->mem, "Could not parse DTD %s\n", l->dtd), 2);
    else if (result == XML_INVALID)
        complain(l, l->dtd ? mem_printf(&p->mem, "Document %s does not validate against %s\n", name, l->dtd) : mem_printf(&p->mem, "Document %s does not validate\n", name), 3);
}

static void handle(Lint *l, const char *name, Slice text)
{
    Proc *p = l->p;
    if (text.len > l->most / COST || !proc_stack_room(p, 256 << 10)) {
        complain(l, mem_printf(&p->mem, "%s: too large\n", name), 1);
        return;
    }
    MemMark mark = mem_mark(&p->mem);
    mem_alloc(&p->mem, text.len * COST + (64 << 10)); /* what the library takes by itself */
    const void **held = mem_array(&p->keep, 2, const void *);
    held[0] = l->xml;
    void *doc = parse_document(l, held, name, (Slice){text.data ? text.data : "", text.len});
    proc_tick(p, 1 + text.len / 64);
    show_messages(l, doc);
    if (!l->xml->parsed(doc)) {
        l->status = 1;
    } else if (l->xpath) {
        ask(l, doc);
    } else if (!l->silent) {
        const char *data;
        size_t n;
        if (!l->xml->print(doc, l->print, l->encoding, &data, &n))
            complain(l, mem_printf(&p->mem, "%s: too large\n", name), 1);
        else
            put(l, (Slice){data, n});
    }
    if (l->xml->parsed(doc)) {
        validate(l, doc, name);
        if ((l->parse & XML_VALIDATE) && !l->xml->valid(doc))
            l->status = 4;
    }
    proc_disown(p, held);
    mem_reset(&p->mem, mark);
}

static void lint_file(Lint *l, char *name)
{
    Proc *p = l->p;
    Slice text;
    if (strcmp(name, "-") == 0) {
        handle(l, "-", read_all(p, 0));
    } else if (read_file(p, name, &text)) {
        complain(l, mem_printf(&p->mem, "warning: failed to load external entity \"%s\"\n", name), 1);
    } else {
        if (l->trace)
            complain(l, mem_printf(&p->mem, "Loaded URL=\"%s\" ID=\"(null)\"\n", name), l->status);
        handle(l, name, text);
    }
}

static void set_option(Lint *l, Args *args, int id)
{
    static const struct { int id; unsigned parse, print; } flags[] = {
        {OPT_FORMAT, XML_NO_BLANKS, XML_FORMAT}, {OPT_RECOVER, XML_RECOVER, 0}, {OPT_NOENT, XML_ENTITIES, 0}, {OPT_NOENC, XML_NO_ENCODING, 0}, {OPT_NOBLANKS, XML_NO_BLANKS, 0},
        {OPT_NOCDATA, XML_NO_CDATA, 0}, {OPT_NOWARNING, XML_NO_WARNING, 0}, {OPT_NSCLEAN, XML_CLEAN_NS, 0}, {OPT_OLD, XML_OLD, 0}, {OPT_HTML, XML_HTML, 0},
        {OPT_XMLOUT, 0, XML_AS_XML}, {OPT_NODEFDTD, XML_NO_DEFAULT_DTD, 0}, {OPT_DROPDTD, 0, XML_DROP_DTD}, {OPT_C14N, 0, XML_C14N}, {OPT_C14N_11, 0, XML_C14N_11},
        {OPT_C14N_EXC, 0, XML_C14N_EXCLUSIVE}, {OPT_VALID, XML_VALIDATE, 0}, {OPT_POSTVALID, XML_LOAD_DTD, 0}, {OPT_LOADDTD, XML_LOAD_DTD, 0}, {OPT_DTDATTR, XML_DTD_ATTRIBUTES, 0}, {OPT_DTDVALID, XML_LOAD_DTD, 0},
    };
    Proc *p = l->p;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].id == id) {
            l->parse |= flags[i].parse;
            l->print |= flags[i].print;
        }
    switch (id) {
    case OPT_PRETTY:
        l->parse |= strcmp(args->value, "1") == 0 ? XML_NO_BLANKS : 0;
        l->print |= strcmp(args->value, "1") == 0 ? XML_FORMAT : strcmp(args->value, "2") == 0 ? XML_SPACED : 0;
        break;
    case OPT_POSTVALID: l->post_valid = true; break;
    case OPT_DTDVALID: l->dtd = mem_strdup(&p->keep, args->value); break;
    case OPT_AUTO: l->generated = true; break;
    case OPT_TRACE: l->trace = true; break;
    case OPT_REFUSED: die(p, 1, "the option --%s is refused here", args->command->options[args->option_index].name);
    case OPT_NOOUT: l->silent = true; break;
    case OPT_XPATH: l->xpath = mem_strdup(&p->keep, args->value); break;
    case OPT_ENCODE:
        l->encoding = mem_strdup(&p->keep, args->value);
        if (!l->xml->encoding_known(l->encoding))
            die(p, 1, "the encoding %s is not supported", quote(p, l->encoding));
        break;
    case 'o': l->output = mem_strdup(&p->keep, args->value); break;
    default: break;
    }
}

/* Long options may be written with one dash. */
static void add_dashes(Proc *p, Args *args)
{
    for (int i = 1; i < args->argc && strcmp(args->argv[i], "--"); i++) {
        const char *word = args->argv[i];
        for (const Option *o = options; word[0] == '-' && word[1] != '-' && word[1] && o->help; o++)
            if (o->name && strcmp(o->name, word + 1) == 0) {
                args->argv[i] = mem_printf(&p->keep, "-%s", word);
                break;
            }
    }
}

static int xmllint_main(Proc *p, Args *args)
{
    const DataComponent *data = NEED_COMPONENT(p, "data", DataComponent);
    uint64_t limit = kern_budget(p->kernel)->limit, used = kern_budget(p->kernel)->used;
    Lint l = {.p = p, .xml = data->xml, .most = (uint64_t)TEXT_MOST * COST};
    if (limit)
        l.most = MIN(l.most, limit > used ? (limit - used) / 2 : 0);
    add_dashes(p, args);
    for (int id; (id = args_next(p, args)) != -1;)
        set_option(&l, args, id);
    int n;
    char **names = args_operands(args, &n);
    if (!n && !l.generated) {
        print_help(p, args->command);
        return 1;
    }
    for (int i = 0; i < n; i++)
        lint_file(&l, names[i]);
    if (l.generated)
        handle(&l, "(null)", SLICE("<?xml version=\"1.0\"?>\n<info>abc</info>\n"));
    return l.status;
}

COMMAND(xmllint, "xmllint [options] XMLfiles ...", "Parse the XML files and output the result of the parsing.", options, COMMAND_WRITES | COMMAND_SPAWNS, .package = "libxml2 2.9.14",
        .notes = "Nothing is loaded beside the files named and, with --valid, --loaddtd and --dtdattr, the DTD that a document names: no external entity,\n"
                 "no XInclude, no catalog. Refused: schemas (--schema, --relaxng, --schematron), which grow in the library with neither a bound nor a way to\n"
                 "stop it; --shell, --debug, --debugent, --sax, --pattern, --insert, --htmlout, --timing, --repeat and --maxmem, which are for testing the library. Encodings are UTF-8, UTF-16,\n"
                 "ISO-8859-1 and ASCII. Long options may be written with one dash.");
