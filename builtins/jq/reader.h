/* reader: JSON texts out of bytes that come in pieces. Private to builtins/jq. */
#ifndef LIBSHELL_JQ_READER_H
#define LIBSHELL_JQ_READER_H

#include "value.h"

typedef struct Reader {
    J *j;
    /* More bytes: true, or false at the end. The window replaced by a call need not stay. */
    bool (*refill)(void *user, Slice *more);
    void *user;
    bool stream, seq, stream_errors;

    const char *at, *end;    /* unread part of the window */
    const char *counted;     /* up to where line and column are counted */
    Buf carry;               /* a window of our own, when a token crosses chunks */
    bool last;               /* no more chunks */
    uint64_t line, column;   /* at `counted` */
    char message[160];

    Val *items;              /* contents of the open containers */
    size_t nitems, items_cap;
    uint32_t *open;          /* where each begins in items << 1 | is_object */
    size_t depth, open_cap;
    Val next;                /* a value that waits for what follows it */

    /* --stream */
    Val path;                /* keys down to here; a container that waits for its first key has null */
    enum { SEEN_NOTHING, SEEN_OPEN_ARRAY, SEEN_OPEN_OBJECT, SEEN_COLON, SEEN_COMMA, SEEN_VALUE } seen;
    Val queued;              /* the closing event that follows the last value of a container */
    bool waiting;            /* --seq: for the next RS */
    bool begun;              /* a byte order mark can no longer come */
} Reader;

typedef enum { READ_VALUE, READ_END, READ_ERROR } ReadState;

void jq_reader_init(Reader *r, J *j);
/* The next value, or r->message. After an error reading may go on behind it. */
ReadState jq_reader_next(Reader *r, Val *out);
/* Lines that jq would have read by now: it reads whole lines. */
uint64_t jq_reader_lines(Reader *r);
void jq_reader_drop(Reader *r);
/* The parts that both ways of reading use: a token (a structural character, T_VALUE ...), and a failure noticed at `at`. */
enum { T_END = 0, T_VALUE = 'v', T_ERROR = 'e' };
int jq_reader_token(Reader *r, bool key, Val *out);
ReadState jq_reader_fail(Reader *r, const char *at, const char *text, bool eof);
bool jq_reader_stray(const Reader *r);
ReadState jq_reader_event(Reader *r, Val *out); /* --stream */

/* One JSON text; invalid with an error that quotes the text when it is none. */
Val jq_read_json_text(J *j, Slice text);

#endif
