/* options: the tables of `set -o` and `shopt`. */
#include "interp.h"

typedef struct { const char *name; char letter; } OptionRow;

/* In the order of OPT_*, which is set -o's (sorted). */
static const OptionRow option_table[OPT_COUNT] = {
    {"allexport", 'a'}, {"braceexpand", 'B'}, {"emacs", 0}, {"errexit", 'e'}, {"errtrace", 'E'}, {"functrace", 'T'},
    {"hashall", 'h'}, {"histexpand", 'H'}, {"history", 0}, {"ignoreeof", 0}, {"interactive-comments", 0}, {"keyword", 'k'},
    {"monitor", 'm'}, {"noclobber", 'C'}, {"noexec", 'n'}, {"noglob", 'f'}, {"nolog", 0}, {"notify", 'b'}, {"nounset", 'u'},
    {"onecmd", 't'}, {"physical", 'P'}, {"pipefail", 0}, {"posix", 0}, {"privileged", 'p'}, {"verbose", 'v'}, {"vi", 0},
    {"xtrace", 'x'},
};

static const char *const shopt_table[SHOPT_COUNT] = {
    "autocd", "assoc_expand_once", "cdable_vars", "cdspell", "checkhash", "checkjobs", "checkwinsize", "cmdhist", "compat31",
    "compat32", "compat40", "compat41", "compat42", "compat43", "compat44", "complete_fullquote", "direxpand", "dirspell", "dotglob",
    "execfail", "expand_aliases", "extdebug", "extglob", "extquote", "failglob", "force_fignore", "globasciiranges", "globskipdots",
    "globstar", "gnu_errfmt", "histappend", "histreedit", "histverify", "hostcomplete", "huponexit", "inherit_errexit",
    "interactive_comments", "lastpipe", "lithist", "localvar_inherit", "localvar_unset", "login_shell", "mailwarn",
    "no_empty_cmd_completion", "nocaseglob", "nocasematch", "noexpand_translation", "nullglob", "patsub_replacement", "progcomp",
    "progcomp_alias", "promptvars", "restricted_shell", "shift_verbose", "sourcepath", "varredir_close", "xpg_echo",
};

#define BIT(n) (UINT64_C(1) << (n))
const uint64_t options_default = BIT(OPT_BRACEEXPAND) | BIT(OPT_HASHALL) | BIT(OPT_COMMENTS);
const uint64_t shopts_default = BIT(SHOPT_CHECKWINSIZE) | BIT(SHOPT_CMDHIST) | BIT(SHOPT_COMPLETE_FULLQUOTE) | BIT(SHOPT_EXTQUOTE) |
                                BIT(SHOPT_FORCE_FIGNORE) | BIT(SHOPT_GLOBASCIIRANGES) | BIT(SHOPT_GLOBSKIPDOTS) |
                                BIT(SHOPT_HOSTCOMPLETE) | BIT(SHOPT_INTERACTIVE_COMMENTS) | BIT(SHOPT_PATSUB_REPLACEMENT) |
                                BIT(SHOPT_PROGCOMP) | BIT(SHOPT_PROMPTVARS) | BIT(SHOPT_SOURCEPATH);

static int option_by_letter(char letter)
{
    for (int i = 0; i < OPT_COUNT; i++)
        if (letter && option_table[i].letter == letter)
            return i;
    return -1;
}

static int option_by_name(Slice name)
{
    for (int i = 0; i < OPT_COUNT; i++)
        if (slice_is(name, option_table[i].name))
            return i;
    return -1;
}

static void option_put(Interp *in, int i, bool on)
{
    uint64_t before = in->st.options;
    if (on)
        in->st.options |= BIT(i);
    else
        in->st.options &= ~BIT(i);
    if (on && i == OPT_VI)
        in->st.options &= ~BIT(OPT_EMACS);
    if (on && i == OPT_EMACS)
        in->st.options &= ~BIT(OPT_VI);
    if ((i == OPT_POSIX || i == OPT_BRACEEXPAND) && before != in->st.options)
        in->parse_epoch++;
    if (i == OPT_POSIX && on)
        in->st.shopts |= BIT(SHOPT_EXPAND_ALIASES) | BIT(SHOPT_INHERIT_ERREXIT);
    if (i == OPT_COMMENTS)
        in->st.shopts = on ? in->st.shopts | BIT(SHOPT_INTERACTIVE_COMMENTS) : in->st.shopts & ~BIT(SHOPT_INTERACTIVE_COMMENTS);
}

bool option_on(Interp *in, char letter)
{
    if (letter == 'r')
        return in->st.options & OPTION_RESTRICTED;
    int i = option_by_letter(letter);
    return i >= 0 && in->st.options & BIT(i);
}

bool option_set(Interp *in, char letter, bool on)
{
    if (letter == 'r' && on) {
        in->st.options |= OPTION_RESTRICTED;
        return true;
    }
    int i = option_by_letter(letter);
    if (i >= 0)
        option_put(in, i, on);
    return i >= 0;
}

bool option_set_named(Interp *in, Slice name, bool on)
{
    int i = option_by_name(name);
    if (i >= 0)
        option_put(in, i, on);
    return i >= 0;
}

OptionState *option_list(Interp *in, size_t *count)
{
    OptionState *list = mem_array(mem_of(in), OPT_COUNT, OptionState);
    for (int i = 0; i < OPT_COUNT; i++)
        list[i] = (OptionState){option_table[i].name, option_table[i].letter, (in->st.options & BIT(i)) != 0};
    *count = OPT_COUNT;
    return list;
}

static int shopt_by_name(Slice name)
{
    for (int i = 0; i < SHOPT_COUNT; i++)
        if (name.len && *shopt_table[i] == *name.data && slice_is(name, shopt_table[i])) /* echo asks each time */
            return i;
    return -1;
}

bool shopt_get(Interp *in, Slice name, bool *on)
{
    int i = shopt_by_name(name);
    if (i >= 0)
        *on = in->st.shopts & BIT(i);
    return i >= 0;
}

bool shopt_set(Interp *in, Slice name, bool on)
{
    int i = shopt_by_name(name);
    if (i < 0)
        return false;
    if (i == SHOPT_LOGIN_SHELL || i == SHOPT_RESTRICTED_SHELL) /* read only */
        return true;
    uint64_t before = in->st.shopts;
    in->st.shopts = on ? before | BIT(i) : before & ~BIT(i);
    if ((i == SHOPT_EXTGLOB || i == SHOPT_EXPAND_ALIASES) && before != in->st.shopts)
        in->parse_epoch++;
    if (i == SHOPT_EXTDEBUG) { /* brings the tracing of functions along */
        const uint64_t tracing = BIT(OPT_FUNCTRACE) | BIT(OPT_ERRTRACE);
        in->st.options = on ? in->st.options | tracing : in->st.options & ~tracing;
        if (on)
            base_args_know(in);
    }
    if (i == SHOPT_INTERACTIVE_COMMENTS)
        in->st.options = on ? in->st.options | BIT(OPT_COMMENTS) : in->st.options & ~BIT(OPT_COMMENTS);
    return true;
}

OptionState *shopt_list(Interp *in, size_t *count)
{
    OptionState *list = mem_array(mem_of(in), SHOPT_COUNT, OptionState);
    for (int i = 0; i < SHOPT_COUNT; i++)
        list[i] = (OptionState){shopt_table[i], 0, (in->st.shopts & BIT(i)) != 0};
    *count = SHOPT_COUNT;
    return list;
}

Slice options_text(Interp *in, bool shopt)
{
    Buf b;
    buf_init(&b, mem_of(in), BUF_MAX);
    buf_reserve(&b, 64);
    int n = shopt ? SHOPT_COUNT : OPT_COUNT;
    for (int pass = 0; pass < 2; pass++) /* bash sorts: assoc_expand_once comes before autocd */
        for (int i = 0; i < n; i++) {
            bool first = shopt && i == SHOPT_ASSOC_EXPAND_ONCE;
            if (!((shopt ? in->st.shopts : in->st.options) & BIT(i)) || first != (pass == 0))
                continue;
            if (b.len)
                buf_char(&b, ':');
            buf_append(&b, slice_str(shopt ? shopt_table[i] : option_table[i].name));
        }
    return buf_slice(&b);
}

Slice flags_text(Interp *in)
{
    static const char order[] = "abefhkmnprtuvxBCEHPT";
    char *out = mem_alloc(mem_of(in), sizeof order + 2);
    size_t n = 0;
    for (const char *c = order; *c; c++)
        if (option_on(in, *c))
            out[n++] = *c;
    if (in->has_execution_string)
        out[n++] = 'c';
    else if (in->from_stdin)
        out[n++] = 's';
    out[n] = 0;
    return slice(out, n);
}
