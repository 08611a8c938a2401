/* component: the tables of functions that components hand over, and how a process asks for one.
 *
 * A component is a shared object of its own that drags in libraries a shell should not start with. It is built with libshell and
 * fits that build alone: the version and the table's size are compared when it is handed over. It links nothing of libshell, and
 * includes of it only this header and shell.h. Its functions are leaves: they do not block, switch, raise or call back, but for
 * the allocator they are given; what they need is in memory before. The commands that use a table live in builtins/.
 *
 * Memory: a library with allocators for each handle gets a ComponentMem, which charges the shell's budget and returns NULL when
 * that says no. One without is charged a fixed amount by the command.
 */
#ifndef LIBSHELL_COMPONENT_H
#define LIBSHELL_COMPONENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct Proc;

/* An allocator as zlib, bzip2, xz and the like take it. */
typedef struct ComponentMem {
    void *(*alloc)(void *user, size_t n); /* NULL: no memory */
    void (*free)(void *user, void *block); /* NULL block allowed */
    void *user;
} ComponentMem;

/* "crypto": message digests of libcrypto. */
typedef struct CryptoComponent {
    /* "md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sm3", "blake2b"; NULL: unknown, or no memory. */
    void *(*digest_new)(const char *name);
    size_t (*digest_size)(const void *digest); /* bytes */
    bool (*digest_update)(void *digest, const void *data, size_t n);
    bool (*digest_final)(void *digest, unsigned char *out); /* and ready for the next message */
    void (*digest_free)(void *digest);
} CryptoComponent;

/* "archive": streaming codecs of bzip2, xz and zstd. The library's own deflate has the same shape, so that one loop drives them all. */
typedef enum { CODEC_DEFLATE /* raw; not the component's */, CODEC_BZIP2, CODEC_XZ, CODEC_LZMA, CODEC_ZSTD } Codec;

typedef struct CodecParams {
    bool compress;
    int level;
    bool extreme;        /* xz -e */
    int check;           /* xz: 0 none, 1 CRC32, 4 CRC64, 10 SHA-256; -1 the default */
    uint64_t memory;     /* decompression needs no more than this; 0: no bound */
    bool checksum;       /* zstd: of the content, at the end of a frame */
    uint64_t size;       /* zstd: what is to be compressed, UINT64_MAX when unknown */
} CodecParams;

typedef struct CodecIo {
    const unsigned char *in;
    size_t in_len;
    unsigned char *out;
    size_t out_len;
} CodecIo; /* step moves all four on */

enum { CODEC_OK = 0, CODEC_END = 1, CODEC_EFORMAT = -1, CODEC_EDATA = -2, CODEC_EMEMORY = -3, CODEC_ELIMIT = -4, CODEC_EOPTIONS = -5, CODEC_ETRUNCATED = -6 };

typedef struct ArchiveComponent {
    void *(*open)(Codec codec, const CodecParams *params, const ComponentMem *mem); /* NULL: no memory. `mem` outlives it */
    /* finish: no more input will come. CODEC_END: the stream is complete; what is left of the input was not part of it. */
    int (*step)(void *stream, CodecIo *io, bool finish);
    void (*close)(void *stream);
} ArchiveComponent;
/* "net": HTTP over libcurl. A hub belongs to one shell and its functions are called on the stack of the thread that steps it; wake and
 * what a resolution runs are for any thread. All but the sink's functions are the component's. */

/* How a transfer tells its owner; leaves that neither block nor raise. */
typedef struct NetSink {
    bool (*address)(void *user, const uint8_t address[16]);      /* may this peer be talked to? */
    bool (*header)(void *user, const char *line, size_t n);      /* a line with its end, the empty one last; false: stop */
    bool (*sent)(void *user, const char *text, size_t n);        /* the request's head as it went out */
    void (*info)(void *user, const char *text, size_t n);        /* libcurl's remarks, as curl -v shows them */
    void (*data)(void *user, bool out, size_t n);                /* so many bytes of a body went or came, as curl -v tells */
    ptrdiff_t (*body)(void *user, const char *data, size_t n);   /* n; 0: not now, resume will tell; -1: stop */
    ptrdiff_t (*upload)(void *user, char *out, size_t n);        /* bytes; 0: the end; -2: not now; -1: stop */
    void (*done)(void *user);                                    /* net_result is set */
} NetSink;

enum { NET_HTTP_DEFAULT, NET_HTTP_1_0, NET_HTTP_1_1, NET_HTTP_2, NET_HTTP_2_PRIOR };

typedef struct NetStart {
    const char *url;                   /* canonical */
    const char *host, *path, *query;   /* its parts, as our parser has them; query NULL: none */
    unsigned port;
    bool secure;
    const char *method;
    bool no_body;                      /* HEAD */
    const char *const *headers;        /* "Name: value", NULL-terminated; "Name:" leaves libcurl's own out, "Name;" sends it empty */
    const char *user_agent, *referer, *cookie, *range, *accept_encoding, *user, *password; /* NULL: none */
    int64_t body_len;                  /* < 0: none; INT64_MAX: unknown */
    const char *body;                  /* whole, when it is in memory; else upload() is asked */
    int64_t resume_from;               /* of an upload: what the server has already */
    const char *bearer;                /* a token that the script gave, or NULL */
    bool fail, http09;                 /* a status of 400 or more is an error; an answer without a head is none */
    bool post;                         /* a body is a form's unless a header says otherwise */
    const char *resolve;               /* "host:port:address,address" or NULL for a literal */
    const char *ca_file, *proxy;       /* NULL: the system's; none */
    bool insecure;
    int http_version;
    int64_t connect_timeout_ms, timeout_ms; /* 0: libcurl's own; none */
    int64_t max_file_size, max_receive_speed, max_send_speed, low_speed_limit, low_speed_time; /* 0: none; bytes, bytes a second, seconds */
    int tls_min;                       /* 0: the library's; 10 .. 13 */
    uint64_t partition;                /* connections are shared within one alone */
    const NetSink *sink;
    void *user_data;
} NetStart;

enum { NET_OK = 0, NET_DISAGREE = 1000 /* libcurl reads the URL otherwise */, NET_REFUSED = 1001 /* sink->address said no */ };

typedef struct NetResult {
    int code;                          /* CURLE_*, or NET_* above */
    char message[256];
    long response, http_version, num_connects, ssl_verify;
    double namelookup, connect, appconnect, pretransfer, starttransfer, total; /* seconds */
    int64_t size_header, size_request, size_upload, size_download;
    char remote_ip[48], local_ip[48];
    long remote_port, local_port;
} NetResult;

typedef struct NetComponent {
    void *(*hub_new)(void *owner);                       /* the embedder's shell: for a transport of its own */
    void (*hub_free)(void *hub);                        /* no transfer is left */
    void *(*start)(void *hub, const NetStart *s);       /* NULL: no memory. Strings are copied, body and sink borrowed until stop */
    void (*resume)(void *transfer);                     /* body and upload may be asked again */
    void (*result)(void *transfer, NetResult *out);
    void (*stop)(void *transfer);                       /* ended or not; frees it */
    void (*drop_idle)(void *hub, uint64_t but_partition); /* closes the connections of other partitions that nothing uses */
    void (*perform)(void *hub);                         /* does what can be done without waiting; calls sinks */
    void (*poll)(void *hub, int64_t nanoseconds);       /* waits until perform has work, wake is called, or the time is over */
    void (*wake)(void *hub);                            /* any thread */
    void *(*resolve)(void *hub, const char *host, int family); /* 0, 4 or 6; on a thread of its own, which wakes the hub */
    int (*resolved)(void *resolution, uint8_t out[][16], int most); /* how many; -1: not yet, -2: no such host, -3: it failed otherwise */
    void (*resolve_free)(void *resolution);             /* finished or not */
    bool (*own_address)(const uint8_t address[16]);     /* of one of the host's interfaces */
    bool (*idn)(const char *utf8, char *out, size_t size);
} NetComponent;

/* "data": SQLite over files that lie in memory. Before a database is opened the command hands over the bytes of its files; what SQLite wants
 * besides is told by `wanted`, and the statement tried again; what it wrote is told by `change`. */
struct sqlite3;
struct sqlite3_stmt;
struct sqlite3_backup;
typedef struct SqlSession SqlSession;

typedef struct SqlHost {
    const ComponentMem *mem;
    bool (*due)(void *user); /* the run's time is over: the statement is interrupted. A pure look, nothing else */
    int64_t (*now)(void *user); /* the shell's clock, milliseconds since 1970; as pure */
    void *user;
    const char *directory;   /* absolute, where relative names begin */
    uint64_t memory;         /* of one connection's caches, schema and statements */
} SqlHost;

typedef struct SqlChange {
    const char *name;
    const unsigned char *data;
    uint64_t size, low, high; /* what was written lies in [low, high) */
    bool deleted;
} SqlChange;

/* YAML as events (YAML 1.2, libyaml). Lines and columns count from 0, columns in characters. */
enum { YAML_EV_OTHER, YAML_EV_DOCUMENT, YAML_EV_DOCUMENT_END, YAML_EV_ALIAS, YAML_EV_SCALAR, YAML_EV_SEQUENCE, YAML_EV_MAPPING, YAML_EV_CLOSE, YAML_EV_END };
enum { YAML_PLAIN, YAML_SINGLE, YAML_DOUBLE, YAML_LITERAL, YAML_FOLDED };
typedef struct YamlEvent {
    int kind, style;
    bool flow;                /* of a document: it begins with --- */
    const char *anchor, *tag; /* NULL: none */
    const char *value;
    size_t len;
    size_t line, column, end_line, end_column;
} YamlEvent;

typedef struct YamlFunctions {
    void *(*parser_new)(const char *text, size_t n); /* NULL: no memory; text is borrowed */
    bool (*next)(void *parser, YamlEvent *out);      /* false: out->value says what is wrong. Strings live until the next call */
    void (*parser_free)(void *parser);
} YamlFunctions;

enum {
    XML_RECOVER = 1 << 0, XML_ENTITIES = 1 << 1, XML_NO_BLANKS = 1 << 2, XML_NO_CDATA = 1 << 3, XML_NO_WARNING = 1 << 4, XML_CLEAN_NS = 1 << 5,
    XML_OLD = 1 << 6, XML_NO_ENCODING = 1 << 7, XML_HTML = 1 << 8, XML_NO_DEFAULT_DTD = 1 << 9,
    XML_FORMAT = 1 << 10, XML_SPACED = 1 << 11, XML_AS_XML = 1 << 12, XML_DROP_DTD = 1 << 13, XML_C14N = 1 << 14, XML_C14N_11 = 1 << 15,
    XML_C14N_EXCLUSIVE = 1 << 16, XML_VALIDATE = 1 << 17, XML_LOAD_DTD = 1 << 18, XML_DTD_ATTRIBUTES = 1 << 19,
};
typedef enum { XML_VALID, XML_INVALID, XML_NO_DTD /* it does not parse */ } XmlValidity;
typedef enum { XML_XPATH_OK, XML_XPATH_EMPTY, XML_XPATH_FAILED } XmlXPath;
typedef enum { XML_ITEM_OPEN, XML_ITEM_ATTRIBUTE, XML_ITEM_TEXT, XML_ITEM_INSTRUCTION, XML_ITEM_CLOSE } XmlItem;
typedef void XmlVisit(void *user, XmlItem kind, const char *prefix, const char *name, const char *text); /* "" where there is none; may jump out */

/* Documents in memory; nothing is loaded beside the text that is handed over. Texts handed out live until the next call on the document;
 * false: they are more than `most`, and cut. */
typedef struct XmlFunctions {
    void *(*parse)(const char *name, const char *text, size_t n, unsigned flags, uint64_t most); /* NULL: no memory */
    /* The same with the text of the DTD that the document names, which only then is looked at. */
    void *(*parse_with)(const char *name, const char *text, size_t n, unsigned flags, uint64_t most, const char *dtd_name, const char *dtd, size_t dtd_len);
    const char *(*names_dtd)(const void *doc); /* the file that its document type names, or NULL */
    bool (*valid)(const void *doc);            /* after XML_VALIDATE */
    /* By a DTD's text, or where that is NULL by the document's own. */
    XmlValidity (*validate)(void *doc, const char *dtd_name, const char *dtd, size_t n);
    void (*free)(void *doc);
    bool (*parsed)(const void *doc); /* there is a tree */
    bool (*messages)(void *doc, const char **data, size_t *n); /* since they were asked for last */
    bool (*print)(void *doc, unsigned flags, const char *encoding, const char **data, size_t *n);
    bool (*encoding_known)(const char *name);
    XmlXPath (*xpath)(void *doc, const char *expression, const char **data, size_t *n);
    const char *version;
    void (*walk)(void *doc, XmlVisit *visit, void *user); /* the tree in its order, attributes behind their element's start */
} XmlFunctions;

typedef struct DataComponent {
    SqlSession *(*session_new)(const SqlHost *host);
    void (*session_free)(SqlSession *s);
    const char *(*wanted)(SqlSession *s);  /* an absolute name that no file has been handed over for, once; NULL: none */
    bool (*give)(SqlSession *s, const char *name, const void *data, size_t n, bool exists, bool writable);
    bool (*change)(SqlSession *s, SqlChange *out); /* the next file that was written or deleted; false: no more. Takes note that it was told */
    int (*open)(SqlSession *s, const char *name, bool readonly, struct sqlite3 **db);
    bool (*over_budget)(const SqlSession *s); /* that was why a statement was interrupted */
    int (*close)(SqlSession *s, struct sqlite3 *db); /* with its statements */
    int (*prepare)(SqlSession *s, struct sqlite3 *db, const char *sql, int n, struct sqlite3_stmt **stmt, const char **tail);
    int (*step)(struct sqlite3_stmt *stmt);
    int (*finalize)(SqlSession *s, struct sqlite3_stmt *stmt); /* what `prepare` gave */
    int (*reset)(struct sqlite3_stmt *stmt);
    int (*column_count)(struct sqlite3_stmt *stmt);
    const char *(*column_name)(struct sqlite3_stmt *stmt, int i);
    int (*column_type)(struct sqlite3_stmt *stmt, int i); /* 1 integer, 2 float, 3 text, 4 blob, 5 null */
    const unsigned char *(*column_text)(struct sqlite3_stmt *stmt, int i);
    const void *(*column_blob)(struct sqlite3_stmt *stmt, int i);
    int (*column_bytes)(struct sqlite3_stmt *stmt, int i);
    double (*column_double)(struct sqlite3_stmt *stmt, int i);
    void (*format_real)(int n, char *out, double v); /* SQLite's "%!.20g" */
    int (*bind_count)(struct sqlite3_stmt *stmt);
    const char *(*bind_name)(struct sqlite3_stmt *stmt, int i);
    int (*bind_text)(struct sqlite3_stmt *stmt, int i, const char *text, int n); /* copied; text NULL: NULL */
    int (*bind_value)(struct sqlite3_stmt *to, int i, struct sqlite3_stmt *from, int column);
    const char *(*message)(struct sqlite3 *db);
    int (*error_offset)(struct sqlite3 *db);
    const char *(*sql)(struct sqlite3_stmt *stmt);
    int (*is_explain)(struct sqlite3_stmt *stmt);
    int (*complete)(const char *sql);
    int (*autocommit)(struct sqlite3 *db);
    int (*changes)(struct sqlite3 *db);
    int (*total_changes)(struct sqlite3 *db);
    int (*limit)(struct sqlite3 *db, int id, int value);
    const char *(*filename)(struct sqlite3 *db, const char *schema);
    int (*readonly)(struct sqlite3 *db, const char *schema);
    int (*copy)(struct sqlite3 *to, const char *to_schema, struct sqlite3 *from, const char *from_schema); /* the backup interface, whole */
    int (*keyword)(const char *word, int n);
    const char *version;
    const char *source;
    const YamlFunctions *yaml;
    const XmlFunctions *xml;
} DataComponent;

/* The table of component `name`, of `size` bytes; NULL when the embedder has none. Asks the embedder at the first use and may block. */
const void *proc_component(struct Proc *p, const char *name, size_t size);
/* The same, saying why not: -ENOENT there is none, -ESTALE it is of another version. */
const void *proc_component_why(struct Proc *p, const char *name, size_t size, int *error);
#define PROC_COMPONENT(p, name, Type) ((const Type *)proc_component((p), (name), sizeof(Type)))

/* Charges p's shell; lives until the process ends. */
const ComponentMem *proc_component_mem(struct Proc *p);

#endif
