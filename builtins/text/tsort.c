/* tsort: topological sort. GNU coreutils 9.1. */
#include "command.h"

static const Option options[] = {OPTIONS_END};

typedef struct Item Item;
typedef struct After { Item *item; struct After *next; } After;
struct Item {
    Slice name;
    size_t before;     /* how many must come first and have not been printed */
    bool printed;
    After *after;      /* newest first */
    Item *next;        /* in the queue; while a loop is looked for, where the search came from */
};

typedef struct {
    Proc *p;
    Map items;
    Item **order;      /* by name */
    size_t count, left;
} Tsort;

static Item *item_named(Tsort *t, Slice name)
{
    MapEntry *e = map_put(&t->items, name);
    if (!e->value) {
        Item *i = mem_new(&t->p->keep, Item);
        i->name = e->key;
        e->value = i;
    }
    return e->value;
}

static void relate(Tsort *t, Item *first, Item *then)
{
    if (first == then)
        return;
    After *a = mem_new(&t->p->keep, After);
    *a = (After){then, first->after};
    first->after = a;
    then->before++;
}

static void sort_names(Proc *p, Item **list, Item **scratch, size_t count)
{
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t at = 0; at < count; at += 2 * width) {
            size_t a = at, middle = MIN(at + width, count), b = middle, end = MIN(at + 2 * width, count);
            for (size_t out = at; out < end; out++) {
                bool left = a < middle && (b == end || slice_cmp(list[a]->name, list[b]->name) <= 0);
                scratch[out] = left ? list[a++] : list[b++];
            }
        }
        memcpy(list, scratch, count * sizeof *list);
        proc_tick(p, count);
    }
}

/* Prints all that nothing must come before any more. */
static void drain(Tsort *t)
{
    Item *first = NULL, **last = &first;
    for (size_t i = 0; i < t->count; i++)
        if (!t->order[i]->before && !t->order[i]->printed) {
            t->order[i]->next = NULL;
            *last = t->order[i];
            last = &t->order[i]->next;
        }
    for (; first; first = first->next) {
        out_write(t->p->out, first->name);
        out_char(t->p->out, '\n');
        first->printed = true;
        t->left--;
        for (After *a = first->after; a; a = a->next)
            if (--a->item->before == 0) {
                a->item->next = NULL;
                *last = a->item;
                last = &a->item->next;
            }
        proc_tick(t->p, 1);
    }
    for (size_t i = 0; i < t->count; i++)
        t->order[i]->next = NULL;
}

/* Walks backwards, as the original does, until an item comes up again; then cuts one relation of the loop. True when it has cut. */
static bool cut_in(Tsort *t, Item **loop, Item *k)
{
    if (!k->before)
        return false;
    if (!*loop) {
        *loop = k;
        return false;
    }
    for (After **a = &k->after; *a; a = &(*a)->next) {
        if ((*a)->item != *loop)
            continue;
        if (!k->next) {
            k->next = *loop;
            *loop = k;
            return false;
        }
        while (*loop) {
            Item *next = (*loop)->next;
            warn(t->p, "%.*s", (int)(*loop)->name.len, (*loop)->name.data);
            if (*loop == k) {
                (*a)->item->before--;
                *a = (*a)->next;
                break;
            }
            (*loop)->next = NULL;
            *loop = next;
        }
        while (*loop) {
            Item *next = (*loop)->next;
            (*loop)->next = NULL;
            *loop = next;
        }
        return true;
    }
    return false;
}

static void break_loop(Tsort *t)
{
    Item *loop = NULL;
    do
        for (size_t i = 0; i < t->count; i++) {
            proc_tick(t->p, 1);
            if (cut_in(t, &loop, t->order[i]))
                return;
        }
    while (loop);
}

static int tsort_main(Proc *p, Args *args)
{
    Tsort t = {.p = p};
    while (args_next(p, args) != -1)
        ;
    int n;
    char **v = args_operands(args, &n);
    if (n > 1)
        usage_extra(p, args, v[1]);
    map_init(&t.items, &p->keep);
    Input in = input_files(p, v, n);
    if (!input_open(&in))
        return 1;
    Item *first = NULL;
    Slice line;
    bool ended;
    while (input_record(&in, &line, &ended)) {
        for (size_t i = 0; i < line.len;) {
            size_t from = i;
            while (i < line.len && line.data[i] != ' ' && line.data[i] != '\t')
                i++;
            if (i > from) {
                Item *it = item_named(&t, slice(line.data + from, i - from));
                if (first)
                    relate(&t, first, it);
                first = first ? NULL : it;
            }
            i += i < line.len;
        }
        proc_tick(p, 1 + line.len / 32);
    }
    const char *name = strcmp(in.name, "-") == 0 ? "-" : in.name;
    if (first)
        die(p, 1, "%s: input contains an odd number of tokens", quotef(p, name));
    t.count = t.left = t.items.count;
    t.order = mem_array(&p->keep, t.count, Item *);
    for (size_t i = 0; i < t.count; i++)
        t.order[i] = t.items.entries[i].value;
    sort_names(p, t.order, mem_array(&p->keep, t.count, Item *), t.count);
    int status = input_status(&in);
    for (drain(&t); t.left; drain(&t)) {
        warn(p, "%s: input contains a loop:", quotef(p, name));
        status = 1;
        break_loop(&t);
    }
    return status;
}

COMMAND(tsort, "tsort [OPTION] [FILE]", "Write totally ordered list consistent with the partial ordering in FILE.", options, COMMAND_PURE);
