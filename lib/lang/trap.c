/* trap: actions of trap and when they run. A signal only becomes due; its action runs between commands. */
#include "interp.h"

static const char *const names[] = {
    "EXIT", "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1", "SIGSEGV",
    "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU",
    "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS", NULL, NULL, "SIGRTMIN",
    "SIGRTMIN+1", "SIGRTMIN+2", "SIGRTMIN+3", "SIGRTMIN+4", "SIGRTMIN+5", "SIGRTMIN+6", "SIGRTMIN+7", "SIGRTMIN+8", "SIGRTMIN+9",
    "SIGRTMIN+10", "SIGRTMIN+11", "SIGRTMIN+12", "SIGRTMIN+13", "SIGRTMIN+14", "SIGRTMIN+15", "SIGRTMAX-14", "SIGRTMAX-13",
    "SIGRTMAX-12", "SIGRTMAX-11", "SIGRTMAX-10", "SIGRTMAX-9", "SIGRTMAX-8", "SIGRTMAX-7", "SIGRTMAX-6", "SIGRTMAX-5",
    "SIGRTMAX-4", "SIGRTMAX-3", "SIGRTMAX-2", "SIGRTMAX-1", "SIGRTMAX", "DEBUG", "ERR", "RETURN",
};

enum { LAST_SIGNAL = 64, TRAP_CHLD = 17 };

const char *signal_name(int number)
{
    return number >= 0 && (size_t)number < ARRAY_LEN(names) ? names[number] : NULL;
}

static bool same_name(Slice a, const char *b)
{
    if (a.len != strlen(b))
        return false;
    for (size_t i = 0; i < a.len; i++)
        if ((char)char_upper((unsigned char)a.data[i]) != b[i])
            return false;
    return true;
}

int signal_number(Slice spec)
{
    int64_t n = 0;
    bool digits = spec.len > 0 && spec.len < 4;
    for (size_t i = 0; i < spec.len && digits; i++) {
        digits = spec.data[i] >= '0' && spec.data[i] <= '9';
        n = n * 10 + (spec.data[i] - '0');
    }
    if (digits)
        return n <= LAST_SIGNAL && names[n] ? (int)n : -1;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (names[i] && (same_name(spec, names[i]) || (strncmp(names[i], "SIG", 3) == 0 && same_name(spec, names[i] + 3))))
            return (int)i;
    return -1;
}

bool trap_has(Interp *in, int number) { return in->st.traps && in->st.traps->action[number] && in->st.traps->action[number]->len; }

bool trap_get(Interp *in, int number, Slice *action)
{
    const Traps *t = in->outer_traps ? in->outer_traps : in->st.traps;
    if (!t || !t->action[number])
        return false;
    *action = str_slice(t->action[number]);
    return true;
}

/* Tells the kernel what to do with a signal. */
enum { SIGNAL_QUIT = 3 };

static void arm(Interp *in, int number, const Str *action)
{
    if (number < 1 || number > LAST_SIGNAL)
        return;
    uint64_t bit = SIGNAL_BIT(number);
    in->p->caught &= ~bit;
    in->p->ignored &= ~bit;
    if (action && action->len)
        in->p->caught |= bit;
    else if (action)
        in->p->ignored |= bit;
    else if (number == SIGNAL_QUIT && !in->subshell_level) /* a shell takes no notice of it, what it starts does */
        in->p->caught |= bit;
}

/* The traps that were kept from the last run. */
void traps_arm(Interp *in)
{
    for (int n = 1; in->st.traps && n <= LAST_SIGNAL; n++)
        if (in->st.traps->action[n])
            arm(in, n, in->st.traps->action[n]);
}

bool trap_set(Interp *in, int number, const Slice *action)
{
    Gen *g = gen_of(in);
    traps_unref(g, in->outer_traps);
    in->outer_traps = NULL;
    if (!action && !in->st.traps)
        return true;
    Str *s = action ? str_new(g, *action) : NULL;
    Traps *t = traps_own(g, &in->st.traps);
    if (!t || (action && !s))
        lang_nomem(in);
    str_unref(g, t->action[number]);
    t->action[number] = s;
    arm(in, number, s);
    if (number == TRAP_CHLD)
        in->p->children_ended = 0;
    if (number == TRAP_DEBUG)
        in->dyn.hidden_traps &= (uint8_t)~HIDE_DEBUG;
    if (number == TRAP_ERR)
        in->dyn.hidden_traps &= (uint8_t)~HIDE_ERR;
    if (number == TRAP_RETURN)
        in->dyn.hidden_traps &= (uint8_t)~HIDE_RETURN;
    return true;
}

/* A subshell starts with what was ignored, and DEBUG, ERR and RETURN only where they are inherited. */
void traps_for_child(Interp *in)
{
    in->p->caught = 0;
    if (likely(!in->st.traps))
        return;
    Gen *g = gen_of(in);
    Traps *t = traps_own(g, &in->st.traps);
    if (!t)
        lang_nomem(in);
    for (int n = 0; n <= TRAP_MAX; n++) {
        bool kept = n == TRAP_ERR ? OPT(in, ERRTRACE) : n == TRAP_DEBUG || n == TRAP_RETURN ? OPT(in, FUNCTRACE) : false;
        if (!t->action[n] || kept || (n >= 1 && n <= LAST_SIGNAL && !t->action[n]->len))
            continue;
        str_unref(g, t->action[n]);
        t->action[n] = NULL;
    }
}

typedef struct TrapUnwind {
    Unwind unwind;
    Str *action;
    bool *busy;
} TrapUnwind;

static void end_trap(Interp *in, Unwind *u)
{
    TrapUnwind *t = (TrapUnwind *)u;
    in->trap_depth--;
    str_unref(gen_of(in), t->action);
    if (t->busy)
        *t->busy = false;
}

static bool *busy_flag(Interp *in, int number)
{
    return number == TRAP_CHLD ? &in->in_child_trap : number == TRAP_DEBUG ? &in->in_debug_trap : number == TRAP_ERR ? &in->in_err_trap : number == TRAP_RETURN ? &in->in_return_trap : NULL;
}

static bool hidden(Interp *in, int number)
{
    unsigned h = in->dyn.hidden_traps;
    return (number == TRAP_DEBUG && h & HIDE_DEBUG) || (number == TRAP_RETURN && h & HIDE_RETURN) || (number == TRAP_ERR && h & HIDE_ERR);
}

void trap_run(Interp *in, int number)
{
    bool *busy = busy_flag(in, number);
    if (!trap_has(in, number) || (busy && *busy) || (busy && hidden(in, number)))
        return;
    MemMark mem = mem_mark(mem_of(in));
    Unwind *mark = in->unwind;
    int status = in->status;
    uint32_t line = in->dyn.line;
    int subst = in->subst_status, *statuses = mem_array(mem_of(in), in->npipestatus + 1, int);
    uint32_t nstatuses = in->npipestatus;
    memcpy(statuses, in->pipestatus, nstatuses * sizeof *statuses);
    TrapUnwind *t = mem_new(mem_of(in), TrapUnwind);
    t->action = obj_ref(gen_of(in), in->st.traps->action[number]);
    t->busy = busy;
    unwind_push(in, &t->unwind, end_trap);
    in->trap_depth++;
    if (busy)
        *busy = true;
    Slice text = str_slice(t->action);
    unsigned no_errexit = in->dyn.no_errexit, no_exit = in->dyn.no_exit;
    in->dyn.no_errexit = in->dyn.no_exit = 0; /* what the interrupted command stands in does not count for the action */
    if (number == TRAP_EXIT)
        trap_set(in, TRAP_EXIT, NULL);
    unsigned level = in->trace_level;
    bool stale_word = in->stale_word, stale_cond = in->stale_cond; /* what the reader was left with is not for the action */
    in->stale_word = in->stale_cond = false;
    in->trace_level += number != TRAP_EXIT;
    run_units(in, text, number == TRAP_EXIT ? 1 : line, number == TRAP_EXIT ? "exit trap" : "trap");
    in->trace_level = level;
    in->stale_word = stale_word;
    in->stale_cond = stale_cond;
    in->dyn.line = line;
    in->dyn.no_errexit = no_errexit;
    in->dyn.no_exit = no_exit;
    in->debug_status = in->status;
    unwind_to(in, mark);
    set_pipestatus(in, statuses, nstatuses);
    mem_reset(mem_of(in), mem);
    in->subst_status = subst;
    if (in->flow != FLOW_EXIT && in->flow != FLOW_RETURN)
        in->status = status;
}

/* The DEBUG trap. True: with extdebug it has failed, and the command is skipped; 2 ends the function or sourced file besides. */
bool trap_debug(Interp *in)
{
    in->debug_status = 0;
    trap_run(in, TRAP_DEBUG);
    if (likely(!SHOPT(in, EXTDEBUG) || !in->debug_status || in->flow))
        return false;
    if (in->debug_status == 2 && (in->dyn.function_depth || in->dyn.source_depth)) {
        in->flow = FLOW_RETURN;
        in->return_status = 2;
    }
    in->status = 0;
    return true;
}

/* Once for each child that ended; those of the trap itself do not count. */
static void run_child_traps(Interp *in)
{
    for (uint32_t n = in->in_child_trap || !trap_has(in, TRAP_CHLD) ? 0 : in->p->children_ended; n && !in->flow; n--)
        trap_run(in, TRAP_CHLD);
    in->p->children_ended = 0;
}

void traps_run_due(Interp *in)
{
    if (in->p->children_ended)
        run_child_traps(in);
    while (in->due && !in->flow) {
        int n = __builtin_ctzll(in->due) + 1;
        in->due &= in->due - 1;
        trap_run(in, n);
    }
}

/* kill of the shell itself by a signal that nothing catches: what it printed gets out, and its EXIT trap runs. bash looks for
 * the signal before each command: when kill is what a subshell ends with, the trap's own command is the next, and never runs. */
void signal_self(Interp *in, pid_t pid, int number)
{
    static const uint64_t harmless = SIGNAL_BIT(17) | SIGNAL_BIT(18) | SIGNAL_BIT(23) | SIGNAL_BIT(28);
    if (pid != in->p->pid || number < 1 || number > LAST_SIGNAL || (in->p->caught | in->p->ignored | harmless) & SIGNAL_BIT(number))
        return;
    output_flush(in->p->out);
    if (in->command && in->command == in->tail && !in->trap_depth && in->st.traps)
        trap_set(in, TRAP_EXIT, NULL);
    if (number != 9 && number != 19) {
        in->trace_level += in->subshell_level && !in->substituted;
        trap_run(in, TRAP_EXIT);
    }
    output_flush(in->p->out);
}

void lang_on_signal(Proc *p, int signal)
{
    Interp *in = interp_of(p);
    in->due |= SIGNAL_BIT(signal);
}
