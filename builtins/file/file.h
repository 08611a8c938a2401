/* file: what the file commands share among themselves. Implementations in names.c and copy.c. */
#ifndef LIBSHELL_FILE_H
#define LIBSHELL_FILE_H

#include <sys/stat.h>

#include "shared.h"

Slice base_name(const char *path); /* last component, without slashes behind it; "/" for the root */
Slice dir_name(const char *path);  /* what is before it, "." for nothing */
const char *path_join(Proc *p, const char *dir, Slice name); /* in p->mem */
void strip_slashes(char *path);    /* trailing ones, but for the root's */
bool ask(Proc *p);                 /* a line of standard input that begins with y or Y */
bool is_dot(Slice name);           /* . or .. */

/* --- cp, mv, and what else copies --- */

typedef enum { BACKUP_NONE, BACKUP_SIMPLE, BACKUP_EXISTING, BACKUP_NUMBERED } Backup;
/* From --backup's argument (NULL: VERSION_CONTROL or existing). */
Backup backup_kind(Proc *p, Args *args, const char *value);
/* The name that `path` is to be moved to, in p->mem. */
const char *backup_name(Proc *p, const char *path, Backup kind, const char *suffix);

typedef enum { FOLLOW_NEVER, FOLLOW_OPERAND, FOLLOW_ALWAYS } Follow;
typedef enum { OVERWRITE_DEFAULT, OVERWRITE_FORCE, OVERWRITE_ASK, OVERWRITE_NEVER } Overwrite;

typedef struct {
    bool recursive, verbose, update, force, remove_destination, attributes_only;
    bool keep_mode, plain_mode /* not even the source's mode under the umask */, keep_owner, keep_times, keep_links, one_device;
    bool hard_links, symlinks; /* -l, -s: link instead of copying */
    bool moving;
    Follow follow;
    Overwrite overwrite;
    Backup backup;
    const char *suffix;
    Map *seen;    /* (device, inode) of what has several links, to the path of its copy */
    Map *made;    /* destinations made in this run, by (device, inode) */
    const char *top_from, *top_to; /* the operand and its destination, for messages */
    uint32_t device; /* of the operand, for one_device */
} CopyOptions;

void copy_init(Proc *p, CopyOptions *o);
/* Copies one operand; false after a message. */
bool copy_operand(Proc *p, CopyOptions *o, const char *from, const char *to);

/* Removes a tree as rm -rf does, for mv across mounts. */
bool remove_tree(Proc *p, const char *path);

#endif
