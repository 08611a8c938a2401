/* xml: documents for xmllint over libxml2, parsed from memory and printed to memory.
 *
 * Nothing is loaded: a DTD is only what the caller hands over as text, external entities are not even declared where something could ask for them, and XInclude, schemas
 * and catalogs are not used. Encodings are the library's own (UTF-8, UTF-16, Latin-1, ASCII); others would
 * be iconv's, which reads the host's modules. Only handles are set up, nothing of the process.
 */
#include <libxml/HTMLparser.h>
#include <libxml/HTMLtree.h>
#include <libxml/c14n.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/tree.h>
#include <libxml/valid.h>
#include <libxml/xmlsave.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/kernel/component.h"

typedef struct Text {
    char *data;
    size_t len, cap, most;
    bool failed;
} Text;

typedef struct Xml {
    xmlDocPtr doc;
    bool html, replaces, valid;
    const char *dtd_name, *dtd; /* while it is parsed: what the caller has for the document's own */
    size_t dtd_len;
    uint64_t attributes, attributes_most;
    startElementNsSAX2Func start;
    Text out, messages;
    entityDeclSAXFunc declare;
} Xml;

enum { CONTEXT = 79 /* bytes of a line that an error shows */, XPATH_WORK = 50000000, ATTRIBUTE = 200 /* bytes that one takes, about */ };

static void add(Text *t, const char *data, size_t n)
{
    if (t->failed || n > t->most - t->len) {
        t->failed = true;
        return;
    }
    if (n >= t->cap - t->len) {
        size_t cap = t->cap * 2 + n + 256;
        char *grown = realloc(t->data, cap);
        if (!grown) {
            t->failed = true;
            return;
        }
        t->data = grown;
        t->cap = cap;
    }
    memcpy(t->data + t->len, data, n);
    t->len += n;
}

static void add_text(Text *t, const char *s) { add(t, s, strlen(s)); }

/* ---------- messages ---------- */

static bool line_end(xmlChar c) { return c == '\n' || c == '\r'; }

/* The line where the parser stands, and a mark under the place. */
static void add_context(Text *t, xmlParserInputPtr input)
{
    if (!input || !input->cur)
        return;
    const xmlChar *base = input->base, *from = input->cur, *end;
    while (from > base && line_end(*from))
        from--;
    for (int n = 0; n < CONTEXT && from > base && !line_end(*from); n++)
        from--;
    if (line_end(*from))
        from++;
    for (end = from; *end && !line_end(*end) && end - from < CONTEXT; end++)
        ;
    add(t, (const char *)from, (size_t)(end - from));
    add(t, "\n", 1);
    for (const xmlChar *c = from; c < input->cur && c < end; c++)
        add(t, *c == '\t' ? "\t" : " ", 1);
    add_text(t, "^\n");
}

static void add_place(Text *t, const char *file, int line, int domain)
{
    char number[32];
    snprintf(number, sizeof number, "%d: ", line);
    if (file) {
        add_text(t, file);
        add_text(t, ":");
        add_text(t, number);
    } else if (line && domain == XML_FROM_PARSER) {
        add_text(t, "Entity: line ");
        add_text(t, number);
    }
}

static const char *domain_name(int domain)
{
    switch (domain) {
    case XML_FROM_PARSER: return "parser ";
    case XML_FROM_NAMESPACE: return "namespace ";
    case XML_FROM_DTD:
    case XML_FROM_VALID: return "validity ";
    case XML_FROM_HTML: return "HTML parser ";
    case XML_FROM_MEMORY: return "memory ";
    case XML_FROM_OUTPUT: return "output ";
    case XML_FROM_IO: return "I/O ";
    case XML_FROM_XPATH: return "XPath ";
    default: return "";
    }
}

static const char *xpath_message(int code)
{
    static const char *const messages[] = {
        "Ok\n", "Number encoding\n", "Unfinished literal\n", "Start of literal\n", "Expected $ for variable reference\n", "Undefined variable\n", "Invalid predicate\n",
        "Invalid expression\n", "Missing closing curly brace\n", "Unregistered function\n", "Invalid operand\n", "Invalid type\n", "Invalid number of arguments\n",
        "Invalid context size\n", "Invalid context position\n", "Memory allocation error\n", "Syntax error\n", "Resource error\n", "Sub resource error\n",
        "Undefined namespace prefix\n", "Encoding error\n", "Char out of XML range\n", "Invalid or incomplete context\n", "Stack usage error\n", "Forbidden variable\n",
        "Operation limit exceeded\n", "Recursion limit exceeded\n",
    };
    unsigned i = (unsigned)(code - XML_XPATH_EXPRESSION_OK);
    return i < sizeof messages / sizeof *messages ? messages[i] : "?? Unknown error ??\n";
}

static void report(Xml *x, xmlErrorPtr e, xmlParserCtxtPtr parser)
{
    Text *t = &x->messages;
    xmlParserInputPtr input = parser ? parser->input : NULL, inner = NULL;
    const char *text = e->message ? e->message : e->domain == XML_FROM_XPATH ? xpath_message(e->code) : "(null)\n";
    if (input && !input->filename && parser->inputNr > 1) {
        inner = input;
        input = parser->inputTab[parser->inputNr - 2];
    }
    add_place(t, input ? input->filename : e->file, input ? input->line : e->line, e->domain);
    if (e->node && ((xmlNodePtr)e->node)->type == XML_ELEMENT_NODE) {
        add_text(t, "element ");
        add_text(t, (const char *)((xmlNodePtr)e->node)->name);
        add_text(t, ": ");
    }
    add_text(t, domain_name(e->domain));
    add_text(t, e->level == XML_ERR_WARNING ? "warning : " : "error : ");
    add_text(t, text);
    if (!*text || text[strlen(text) - 1] != '\n')
        add(t, "\n", 1);
    add_context(t, input);
    if (inner) {
        add_place(t, NULL, inner->line, e->domain);
        add(t, "\n", 1);
        add_context(t, inner);
    }
    if (e->domain == XML_FROM_XPATH && e->str1 && e->int1 >= 0 && e->int1 < 100 && (size_t)e->int1 < strlen(e->str1)) {
        add_text(t, e->str1);
        add(t, "\n", 1);
        for (int i = 0; i < e->int1; i++)
            add(t, " ", 1);
        add_text(t, "^\n");
    }
}

static void parser_error(void *user, xmlErrorPtr e)
{
    xmlParserCtxtPtr parser = user;
    report(parser->_private, e, parser);
}

static void plain_error(void *user, xmlErrorPtr e) { report(user, e, NULL); }

/* What the library would print on the host's stderr. Its handler is this thread's, and given back before the call returns. */
typedef struct { xmlGenericErrorFunc function; void *context; } Handler;

__attribute__((format(printf, 2, 3))) static void printed(void *user, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    int n = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (n > 0)
        add(user, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

static Handler listen_to(Xml *x)
{
    Handler before = {xmlGenericError, xmlGenericErrorContext};
    xmlSetGenericErrorFunc(&x->messages, printed);
    return before;
}

static void give_back(Handler before) { xmlSetGenericErrorFunc(before.context, before.function); }

/* ---------- parsing ---------- */

/* Text as what a parser reads. */
static xmlParserInputPtr input_of(xmlParserCtxtPtr c, const char *name, const char *text, size_t n)
{
    xmlParserInputBufferPtr b = n <= INT32_MAX ? xmlParserInputBufferCreateMem(text, (int)n, XML_CHAR_ENCODING_NONE) : NULL;
    xmlParserInputPtr in = b ? xmlNewIOInputStream(c, b, XML_CHAR_ENCODING_NONE) : NULL;
    if (in)
        in->filename = (char *)xmlStrdup((const xmlChar *)name);
    else
        xmlFreeParserInputBuffer(b);
    return in;
}

/* Only the DTD whose text is there is ever loaded, and once. */
static xmlParserInputPtr load_dtd(void *user, const xmlChar *public_id, const xmlChar *system_id)
{
    xmlParserCtxtPtr c = user;
    Xml *x = c->_private;
    const char *text = x->dtd;
    (void)public_id;
    if (!text && x->dtd_name && c->input) { /* it could not be read */
        add_place(&x->messages, c->input->filename, c->input->line, XML_FROM_PARSER);
        add_text(&x->messages, "warning: failed to load external entity \"");
        add_text(&x->messages, x->dtd_name);
        add_text(&x->messages, "\"\n");
        add_context(&x->messages, c->input);
    }
    if (!text || !system_id)
        return NULL;
    x->dtd = NULL;
    return input_of(c, x->dtd_name, text, x->dtd_len);
}

/* What a DTD adds to each element would make much of little: it is counted, and ended. */
static void start_element(void *user, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespaces, const xmlChar **spaces, int attributes, int defaulted, const xmlChar **values)
{
    xmlParserCtxtPtr c = user;
    Xml *x = c->_private;
    x->attributes += (uint64_t)attributes;
    if (x->attributes > x->attributes_most) {
        if (c->errNo != XML_ERR_INTERNAL_ERROR)
            add_text(&x->messages, "too many attributes\n");
        c->errNo = XML_ERR_INTERNAL_ERROR;
        xmlStopParser(c);
        return;
    }
    x->start(user, name, prefix, uri, namespaces, spaces, attributes, defaulted, values);
}

static void no_subset(void *user, const xmlChar *name, const xmlChar *public_id, const xmlChar *system_id)
{
    (void)user;
    (void)name;
    (void)public_id;
    (void)system_id;
}

/* Where references are replaced, external entities are not declared, so nothing can ask for them; elsewhere they stay references. */
static void declare_internal(void *user, const xmlChar *name, int type, const xmlChar *public_id, const xmlChar *system_id, xmlChar *content)
{
    Xml *x = ((xmlParserCtxtPtr)user)->_private;
    if (!x->replaces || type == XML_INTERNAL_GENERAL_ENTITY || type == XML_INTERNAL_PARAMETER_ENTITY)
        x->declare(user, name, type, public_id, system_id, content);
}

static bool own_encoding(const char *name, size_t n)
{
    static const char *const names[] = {"UTF-8", "UTF8", "UTF-16", "UTF-16LE", "UTF-16BE", "ISO-8859-1", "ISO-LATIN-1", "LATIN1", "ASCII", "US-ASCII", "HTML"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && strncasecmp(names[i], name, n) == 0)
            return true;
    return false;
}

/* Whether the declaration at the document's beginning, if any, names an encoding that is not the library's own. */
static bool foreign_encoding(const char *text, size_t n)
{
    const char *end = n > 5 && memcmp(text, "<?xml", 5) == 0 ? memchr(text, '>', n < 1024 ? n : 1024) : NULL;
    const char *at = end ? memmem(text, (size_t)(end - text), "encoding", 8) : NULL;
    if (!at)
        return false;
    at += 8;
    while (at < end && (*at == ' ' || *at == '=' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    const char *from = at + 1, *to = at < end ? memchr(from, *at, (size_t)(end - from)) : NULL;
    return to && !own_encoding(from, (size_t)(to - from));
}

static int parse_flags(unsigned flags)
{
    int o = XML_PARSE_NONET | XML_PARSE_COMPACT;
    o |= flags & XML_RECOVER ? XML_PARSE_RECOVER : 0;
    o |= flags & XML_ENTITIES ? XML_PARSE_NOENT : 0;
    o |= flags & XML_NO_BLANKS ? XML_PARSE_NOBLANKS : 0;
    o |= flags & XML_NO_CDATA ? XML_PARSE_NOCDATA : 0;
    o |= flags & XML_NO_WARNING ? XML_PARSE_NOWARNING : 0;
    o |= flags & XML_CLEAN_NS ? XML_PARSE_NSCLEAN : 0;
    o |= flags & XML_OLD ? XML_PARSE_OLD10 : 0;
    o |= flags & XML_NO_ENCODING ? XML_PARSE_IGNORE_ENC : 0;
    o |= flags & XML_VALIDATE ? XML_PARSE_DTDVALID : 0;
    o |= flags & XML_LOAD_DTD ? XML_PARSE_DTDLOAD : 0;
    o |= flags & XML_DTD_ATTRIBUTES ? XML_PARSE_DTDATTR | XML_PARSE_DTDLOAD : 0;
    return o;
}

static void *parse_with(const char *name, const char *text, size_t n, unsigned flags, uint64_t most, const char *dtd_name, const char *dtd, size_t dtd_len)
{
    Xml *x = calloc(1, sizeof *x);
    xmlParserCtxtPtr c = NULL;
    if (x)
        c = flags & XML_HTML ? htmlNewParserCtxt() : xmlNewParserCtxt();
    if (!c || n > INT32_MAX) {
        free(x);
        if (c)
            xmlFreeParserCtxt(c);
        return NULL;
    }
    x->html = flags & XML_HTML;
    x->replaces = flags & (XML_ENTITIES | XML_VALIDATE | XML_LOAD_DTD | XML_DTD_ATTRIBUTES);
    x->dtd_name = dtd_name;
    x->dtd = dtd;
    x->dtd_len = dtd_len;
    x->attributes_most = flags & XML_DTD_ATTRIBUTES ? most / ATTRIBUTE : UINT64_MAX;
    x->out.most = x->messages.most = (size_t)most;
    x->declare = c->sax->entityDecl;
    c->_private = x;
    Handler before = listen_to(x);
    c->sax->serror = parser_error;
    c->sax->resolveEntity = load_dtd;
    if (!dtd_name)
        c->sax->externalSubset = no_subset;
    if ((flags & XML_DTD_ATTRIBUTES) && c->sax->startElementNs) {
        x->start = c->sax->startElementNs;
        c->sax->startElementNs = start_element;
    }
    c->sax->entityDecl = declare_internal;
    if (x->html) {
        int o = HTML_PARSE_NONET | HTML_PARSE_COMPACT | HTML_PARSE_IGNORE_ENC | HTML_PARSE_RECOVER;
        o |= flags & XML_NO_BLANKS ? HTML_PARSE_NOBLANKS : 0;
        o |= flags & XML_NO_WARNING ? HTML_PARSE_NOWARNING : 0;
        o |= flags & XML_NO_DEFAULT_DTD ? HTML_PARSE_NODEFDTD : 0;
        x->doc = htmlCtxtReadMemory(c, text, (int)n, name, NULL, o);
    } else if (!(flags & XML_NO_ENCODING) && foreign_encoding(text, n)) {
        add_text(&x->messages, name);
        add_text(&x->messages, ": the document's encoding is not supported\n");
    } else {
        x->doc = xmlCtxtReadMemory(c, text, (int)n, name, NULL, parse_flags(flags));
        x->valid = c->valid;
    }
    x->dtd = NULL;
    if (x->html)
        htmlFreeParserCtxt(c);
    else
        xmlFreeParserCtxt(c);
    give_back(before);
    return x;
}

static void *parse(const char *name, const char *text, size_t n, unsigned flags, uint64_t most) { return parse_with(name, text, n, flags, most, NULL, NULL, 0); }

static const char *names_dtd(const void *xml)
{
    const Xml *x = xml;
    xmlDtdPtr dtd = x->doc ? xmlGetIntSubset(x->doc) : NULL;
    return dtd ? (const char *)dtd->SystemID : NULL;
}

static bool valid(const void *xml) { return ((const Xml *)xml)->valid; }

static void silent(void *user, const char *format, ...)
{
    (void)user;
    (void)format;
}

/* A DTD parsed by itself, with the guards of a document's. */
static xmlDtdPtr dtd_of(Xml *x, const char *name, const char *text, size_t n)
{
    xmlDtdPtr dtd = NULL;
    xmlParserCtxtPtr c = xmlNewParserCtxt();
    if (!c)
        return NULL;
    x->replaces = true;
    x->declare = c->sax->entityDecl;
    c->_private = x;
    c->sax->serror = parser_error;
    c->sax->resolveEntity = load_dtd;
    c->sax->entityDecl = declare_internal;
    xmlParserInputPtr in = input_of(c, name, text, n);
    c->myDoc = in ? xmlNewDoc((const xmlChar *)"1.0") : NULL;
    if (in && !c->myDoc)
        xmlFreeInputStream(in);
    if (c->myDoc && xmlPushInput(c, in) >= 0) {
        c->inSubset = 2;
        c->myDoc->extSubset = xmlNewDtd(c->myDoc, (const xmlChar *)"none", NULL, (const xmlChar *)name);
        xmlParseExternalSubset(c, NULL, (const xmlChar *)name);
        dtd = c->wellFormed ? c->myDoc->extSubset : NULL;
    }
    if (dtd) { /* it goes on without the document that it was read into */
        c->myDoc->extSubset = NULL;
        dtd->doc = NULL;
        for (xmlNodePtr node = dtd->children; node; node = node->next)
            node->doc = NULL;
    }
    xmlFreeDoc(c->myDoc);
    c->myDoc = NULL;
    xmlFreeParserCtxt(c);
    return dtd;
}

/* The library would open the file that the document type names, were it asked about such a document. */
static bool lacks_dtd(Xml *x)
{
    const char *name = names_dtd(x);
    if (!name || x->doc->extSubset)
        return false;
    add_text(&x->messages, "warning: failed to load external entity \"");
    add_text(&x->messages, name);
    add_text(&x->messages, "\"\nvalidity error : Could not load the external subset \"");
    add_text(&x->messages, name);
    add_text(&x->messages, "\"\n");
    return true;
}

static XmlValidity validate(void *xml, const char *dtd_name, const char *text, size_t n)
{
    Xml *x = xml;
    Handler before = listen_to(x);
    xmlStructuredErrorFunc structured = xmlStructuredError;
    void *structured_user = xmlStructuredErrorContext;
    XmlValidity result = XML_NO_DTD;
    xmlDtdPtr dtd = text ? dtd_of(x, dtd_name, text, n) : NULL;
    xmlValidCtxtPtr c = text && !dtd ? NULL : xmlNewValidCtxt();
    xmlSetStructuredErrorFunc(x, plain_error);
    if (c) {
        c->error = silent;
        c->warning = silent;
        if (!text && (lacks_dtd(x) || (x->doc->intSubset && x->doc->intSubset->ExternalID && !x->doc->extSubset)))
            result = XML_INVALID;
        else
            result = (text ? xmlValidateDtd(c, x->doc, dtd) : xmlValidateDocument(c, x->doc)) ? XML_VALID : XML_INVALID;
        xmlFreeValidCtxt(c);
    }
    xmlSetStructuredErrorFunc(structured_user, structured);
    if (dtd)
        xmlFreeDtd(dtd);
    give_back(before);
    return result;
}

static void xml_free(void *xml)
{
    Xml *x = xml;
    if (x->doc)
        xmlFreeDoc(x->doc);
    free(x->out.data);
    free(x->messages.data);
    free(x);
}

static bool parsed(const void *xml) { return ((const Xml *)xml)->doc != NULL; }

static bool take(Text *t, const char **data, size_t *n)
{
    *data = t->data ? t->data : "";
    *n = t->len;
    t->len = 0;
    return !t->failed;
}

static bool messages(void *xml, const char **data, size_t *n) { return take(&((Xml *)xml)->messages, data, n); }

/* ---------- printing ---------- */

static int write_out(void *user, const char *data, int n)
{
    Text *t = user;
    add(t, data, (size_t)n);
    return t->failed ? -1 : n;
}

static void drop_dtd(Xml *x)
{
    xmlDtdPtr dtd = xmlGetIntSubset(x->doc);
    if (dtd) {
        xmlUnlinkNode((xmlNodePtr)dtd);
        xmlFreeDtd(dtd);
        x->doc->intSubset = NULL;
    }
}

/* Without an encoding, asked for or declared, what is not ASCII becomes entities. */
static xmlCharEncodingHandlerPtr html_encoder(Xml *x, const char *encoding)
{
    const char *declared = (const char *)htmlGetMetaEncoding(x->doc);
    if (!encoding && declared && own_encoding(declared, strlen(declared)))
        encoding = declared;
    return xmlFindCharEncodingHandler(encoding ? encoding : "HTML");
}

static bool print(void *xml, unsigned flags, const char *encoding, const char **data, size_t *n)
{
    Xml *x = xml;
    Handler before = listen_to(x);
    if (flags & XML_DROP_DTD)
        drop_dtd(x);
    if (flags & (XML_C14N | XML_C14N_11 | XML_C14N_EXCLUSIVE)) {
        xmlOutputBufferPtr b = xmlOutputBufferCreateIO(write_out, NULL, &x->out, NULL);
        int mode = flags & XML_C14N ? XML_C14N_1_0 : flags & XML_C14N_11 ? XML_C14N_1_1 : XML_C14N_EXCLUSIVE_1_0;
        if (b) {
            xmlC14NDocSaveTo(x->doc, NULL, mode, NULL, 1, b);
            xmlOutputBufferClose(b);
        }
    } else if (x->html && !(flags & XML_AS_XML)) {
        xmlOutputBufferPtr b = xmlOutputBufferCreateIO(write_out, NULL, &x->out, html_encoder(x, encoding));
        if (b) {
            htmlDocContentDumpFormatOutput(b, x->doc, encoding, 1);
            xmlOutputBufferClose(b);
        }
    } else {
        int o = flags & XML_FORMAT ? XML_SAVE_FORMAT : flags & XML_SPACED ? XML_SAVE_WSNONSIG : 0;
        xmlSaveCtxtPtr s = xmlSaveToIO(write_out, NULL, &x->out, encoding, o | (flags & XML_AS_XML ? XML_SAVE_AS_XML : 0));
        if (s) {
            xmlSaveDoc(s, x->doc);
            xmlSaveClose(s);
        }
    }
    give_back(before);
    return take(&x->out, data, n);
}

static bool encoding_known(const char *name) { return own_encoding(name, strlen(name)); }

/* ---------- XPath ---------- */

static void show_nodes(Xml *x, xmlNodeSetPtr set)
{
    for (int i = 0; set && i < set->nodeNr; i++) {
        xmlOutputBufferPtr b = xmlOutputBufferCreateIO(write_out, NULL, &x->out, NULL);
        if (!b)
            return;
        if (set->nodeTab[i]->type != XML_NAMESPACE_DECL)
            xmlNodeDumpOutput(b, x->doc, set->nodeTab[i], 0, 0, NULL);
        xmlOutputBufferWrite(b, 1, "\n");
        xmlOutputBufferClose(b);
    }
}

static void show_number(Text *t, double v)
{
    char text[64];
    if (isnan(v))
        add_text(t, "NaN\n");
    else if (isinf(v))
        add_text(t, v > 0 ? "Infinity\n" : "-Infinity\n");
    else {
        snprintf(text, sizeof text, "%0g\n", v);
        add_text(t, text);
    }
}

static XmlXPath xpath(void *xml, const char *expression, const char **data, size_t *n)
{
    Xml *x = xml;
    XmlXPath result = XML_XPATH_OK;
    xmlXPathContextPtr c = xmlXPathNewContext(x->doc);
    if (!c)
        return XML_XPATH_FAILED;
    c->node = (xmlNodePtr)x->doc;
    c->userData = x;
    c->error = plain_error;
    c->opLimit = XPATH_WORK;
    Handler before = listen_to(x);
    xmlXPathObjectPtr value = xmlXPathEval((const xmlChar *)expression, c);
    if (!value) {
        result = XML_XPATH_FAILED;
    } else if (value->type == XPATH_NODESET) {
        if (!value->nodesetval || value->nodesetval->nodeNr <= 0)
            result = XML_XPATH_EMPTY;
        show_nodes(x, value->nodesetval);
    } else if (value->type == XPATH_BOOLEAN) {
        add_text(&x->out, value->boolval ? "true\n" : "false\n");
    } else if (value->type == XPATH_NUMBER) {
        show_number(&x->out, value->floatval);
    } else if (value->type == XPATH_STRING) {
        add_text(&x->out, (const char *)value->stringval);
        add(&x->out, "\n", 1);
    } else {
        result = XML_XPATH_FAILED;
    }
    xmlXPathFreeObject(value);
    xmlXPathFreeContext(c);
    give_back(before);
    return take(&x->out, data, n) ? result : XML_XPATH_FAILED;
}

/* ---------- walking ---------- */

static const char *text_or_none(const xmlChar *s) { return s ? (const char *)s : ""; }

static void visit_start(xmlNodePtr node, XmlVisit *visit, void *user)
{
    const char *prefix = node->ns ? text_or_none(node->ns->prefix) : "";
    visit(user, XML_ITEM_OPEN, prefix, text_or_none(node->name), "");
    for (xmlNsPtr ns = node->nsDef; ns; ns = ns->next)
        visit(user, XML_ITEM_ATTRIBUTE, "xmlns", text_or_none(ns->prefix), text_or_none(ns->href));
    for (xmlAttrPtr a = node->properties; a; a = a->next)
        visit(user, XML_ITEM_ATTRIBUTE, a->ns ? text_or_none(a->ns->prefix) : "", text_or_none(a->name), a->children ? text_or_none(a->children->content) : "");
}

static void visit_node(xmlNodePtr node, XmlVisit *visit, void *user)
{
    if (node->type == XML_ELEMENT_NODE)
        visit_start(node, visit, user);
    else if (node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE)
        visit(user, XML_ITEM_TEXT, "", "", text_or_none(node->content));
    else if (node->type == XML_PI_NODE)
        visit(user, XML_ITEM_INSTRUCTION, "", text_or_none(node->name), text_or_none(node->content));
}

static void walk(void *xml, XmlVisit *visit, void *user)
{
    xmlNodePtr node = ((Xml *)xml)->doc->children;
    while (node) {
        visit_node(node, visit, user);
        bool element = node->type == XML_ELEMENT_NODE;
        if (element && node->children) {
            node = node->children;
            continue;
        }
        if (element)
            visit(user, XML_ITEM_CLOSE, "", "", "");
        while (node && !node->next) {
            node = node->parent && node->parent->type == XML_ELEMENT_NODE ? node->parent : NULL;
            if (node)
                visit(user, XML_ITEM_CLOSE, "", "", "");
        }
        node = node ? node->next : NULL;
    }
}

extern const XmlFunctions xml_functions;
const XmlFunctions xml_functions = {parse, parse_with, names_dtd, valid, validate, xml_free, parsed, messages, print, encoding_known, xpath, LIBXML_DOTTED_VERSION, walk};
