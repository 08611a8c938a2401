/* bc: an arbitrary precision calculator. GNU bc 1.07.1. */
#include "bc.h"

static const Option options[] = {
    {'c', "compile", OPT_FLAG, NULL, NULL, 0},
    {'h', "help", OPT_FLAG, NULL, NULL, 0},
    {'i', "interactive", OPT_FLAG, "force interactive mode", NULL, 0},
    {'l', "mathlib", OPT_FLAG, "use the predefined math routines", NULL, 0},
    {'q', "quiet", OPT_FLAG, "don't print initial banner", NULL, 0},
    {'s', "standard", OPT_FLAG, "non-standard bc constructs are errors", NULL, 0},
    {'w', "warn", OPT_FLAG, "warn about non-standard bc constructs", NULL, 0},
    {'v', NULL, OPT_FLAG, "print version information and exit", NULL, 0},
    OPTIONS_END,
};

/* The mathematical functions of -l: each works with more digits than asked for and cuts the result to the scale it was called with. */
const char bc_library[] =
    "scale=2*A\n"
    "define e(x){auto d,g,k,n,r,s,t\n"
    "s=scale\nif(x<0){scale=s+6\nt=e(-x)\nscale=s\nreturn(1/t)}\n"
    "scale=0\ng=4*x/9\nscale=s+g+length(g)+8\n"
    "t=x\nwhile(t>1){t/=2\nk+=1}\nscale+=k/3+1\n"
    "t=x/2^k\nr=1\nd=1\nfor(n=1;1;n++){d=d*t/n\nif(d==0)break\nr+=d}\n"
    "while(k>0){r*=r\nk-=1}\nscale=s\nreturn(r/1)}\n"
    "define l(x){auto f,n,r,s,t,u,y\n"
    "s=scale\nif(x<=0)return((1-A^s)/1)\n"
    "scale=s+length(x)+8\nf=2\ny=x\nwhile(y>=2){y=sqrt(y)\nf*=2}\nwhile(2*y<=1){y=sqrt(y)\nf*=2}\nscale+=length(f)\n"
    "y=x\nfor(n=f;n>2;n/=2)y=sqrt(y)\n"
    "t=(y-1)/(y+1)\nu=t*t\nr=t\nfor(n=3;1;n+=2){t*=u\ny=t/n\nif(y==0)break\nr+=y}\n"
    "r*=f\nscale=s\nreturn(r/1)}\n"
    "define s(x){auto d,k,n,p,q,r,s\n"
    "s=scale\nscale=s+length(x)+A\np=8*a(1)\nscale=0\nn=x/p\nscale=s+length(x)+A\nx-=n*p\n"
    "q=-x*x\nd=x\nr=x\nfor(k=2;1;k+=2){d=d*q/(k*(k+1))\nif(d==0)break\nr+=d}\nscale=s\nreturn(r/1)}\n"
    "define c(x){auto d,k,n,p,q,r,s\n"
    "s=scale\nscale=s+length(x)+A\np=8*a(1)\nscale=0\nn=x/p\nscale=s+length(x)+A\nx-=n*p\n"
    "q=-x*x\nd=1\nr=1\nfor(k=1;1;k+=2){d=d*q/(k*(k+1))\nif(d==0)break\nr+=d}\nscale=s\nreturn(r/1)}\n"
    "define a(x){auto f,k,n,q,r,s,t\n"
    "s=scale\nif(x<0)return(-a(-x))\nscale=s+A\nf=1\n"
    "while(x*9>1){x=x/(1+sqrt(1+x*x))\nf*=2}\nscale+=length(f)\n"
    "q=-x*x\nt=x\nr=x\nfor(n=3;1;n+=2){t*=q\nk=t/n\nif(k==0)break\nr+=k}\n"
    "r*=f\nscale=s\nreturn(r/1)}\n"
    "define j(n,x){auto d,g,k,q,r,s,t\n"
    "s=scale\nscale=0\nn/=1\nif(n<0){n=-n\ng=n%2}\nt=x\nif(t<0)t=-t\nk=4*t/9\nscale=s+2*k+length(k)+n/3+A\n"
    "d=1\nfor(k=1;k<=n;k++)d=d*x/(2*k)\nq=-x*x/4\nr=d\n"
    "for(k=1;1;k++){d=d*q/(k*(n+k))\nif(d==0)break\nr+=d}\nif(g)r=-r\nscale=s\nreturn(r/1)}\n";

/* ---------- names ---------- */

static void *grow(Bc *b, void *old, size_t *cap, uint32_t want, size_t size)
{
    if (want < *cap)
        return old;
    size_t more = MAX(*cap * 2, (size_t)want + 32);
    char *r = mem_grow(&b->p->keep, old, *cap * size, more * size);
    memset(r + *cap * size, 0, (more - *cap) * size);
    *cap = more;
    return r;
}

static void new_function(Bc *b, uint32_t id, const char *name)
{
    b->functions = grow(b, b->functions, &b->function_cap, id, sizeof *b->functions);
    Function *f = mem_new(&b->p->keep, Function);
    f->name = name;
    buf_init(&f->code, &b->p->keep, BUF_MAX);
    b->functions[id] = f;
}

uint32_t bc_name(Bc *b, char kind, const char *name)
{
    char *key = mem_printf(&b->p->keep, "%c%s", kind, name);
    MapEntry *e = map_put(&b->names, slice_str(key));
    if (e->value)
        return (uint32_t)(uintptr_t)e->value - 1;
    uint32_t *next = kind == 'v' ? &b->next_var : kind == 'f' ? &b->next_function : &b->next_array, id = *next;
    if (id >= MOST_NAMES)
        die(b->p, 1, "too many names");
    if (kind == 'v') {
        b->vars = grow(b, b->vars, &b->var_cap, id, sizeof *b->vars);
    } else if (kind == 'f') {
        new_function(b, id, mem_strdup(&b->p->keep, name));
    } else {
        size_t cap = b->array_cap;
        b->array_names = grow(b, b->array_names, &cap, id, sizeof *b->array_names);
        b->arrays = grow(b, b->arrays, &b->array_cap, id, sizeof *b->arrays);
        b->array_names[id] = mem_strdup(&b->p->keep, name);
    }
    ++*next;
    e->value = (void *)(uintptr_t)(id + 1);
    return id;
}

/* ---------- texts ---------- */

void bc_limits(Bc *b)
{
    out_printf(b->p->out, "BC_BASE_MAX     = %d\nBC_DIM_MAX      = %d\nBC_SCALE_MAX    = %d\nBC_STRING_MAX   = %d\n", BASE_MOST, ARRAY_MOST, BASE_MOST, BASE_MOST);
    out_printf(b->p->out, "MAX Exponent    = %lld\nNumber of vars  = %d\n", (long long)INT64_MAX, MOST_NAMES);
}

void bc_warranty(Bc *b) { out_str(b->p->out, "\nbc (libshell) 0.1.0\nThere is NO WARRANTY, to the extent permitted by law.\n\n"); }

static void usage(Proc *p, const Args *args, Output *out)
{
    out_printf(out, "usage: %s [options] [file ...]\n"
                    "  -h  --help         print this usage and exit\n"
                    "  -i  --interactive  force interactive mode\n"
                    "  -l  --mathlib      use the predefined math routines\n"
                    "  -q  --quiet        don't print initial banner\n"
                    "  -s  --standard     non-standard bc constructs are errors\n"
                    "  -w  --warn         warn about non-standard bc constructs\n"
                    "  -v  --version      print version information and exit\n", p->name ? p->name : args->command->name);
    output_flush(out);
}

/* ---------- options ---------- */

static size_t line_length(Proc *p)
{
    const char *text = proc_getenv(p, "BC_LINE_LENGTH");
    int64_t v;
    if (!text || parse_int(text, &v) || v < 0 || (v > 0 && v < 3))
        return 70;
    return (size_t)v;
}

static void set_letter(Bc *b, const Args *args, char letter, bool *library)
{
    switch (letter) {
    case 'l': *library = true; break;
    case 's': b->standard = true; break;
    case 'w': b->warnings = true; break;
    case 'i': b->interactive = true; break;
    case 'q': case 'c': break;
    case 'h': usage(b->p, args, b->p->out); proc_fail(b->p, 0);
    case 'v': out_str(b->p->out, "bc (libshell) 0.1.0\n"); proc_fail(b->p, 0);
    default:
        warn(b->p, "invalid option -- '%c'", letter);
        usage(b->p, args, b->p->out);
        proc_fail(b->p, 1);
    }
}

static void set_long(Bc *b, const Args *args, const char *name, bool *library)
{
    static const struct { const char *name; char letter; } names[] = {
        {"compile", 'c'}, {"help", 'h'}, {"interactive", 'i'}, {"mathlib", 'l'}, {"quiet", 'q'}, {"standard", 's'}, {"warn", 'w'}, {"version", 'v'},
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strlen(name) && strncmp(names[i].name, name, strlen(name)) == 0) {
            set_letter(b, args, names[i].letter, library);
            return;
        }
    warn(b->p, "unrecognized option '--%s'", name);
    usage(b->p, args, b->p->out);
    proc_fail(b->p, 1);
}

/* The files, options being taken out from among them. */
static int read_options(Bc *b, Args *args, char **files, bool *library)
{
    int count = 0;
    bool over = false;
    for (int i = 1; i < args->argc; i++) {
        char *a = args->argv[i];
        if (over || a[0] != '-' || !a[1])
            files[count++] = a;
        else if (strcmp(a, "--") == 0)
            over = true;
        else if (a[1] == '-')
            set_long(b, args, a + 2, library);
        else
            for (const char *s = a + 1; *s; s++)
                set_letter(b, args, *s, library);
    }
    return count;
}

static void load_library(Bc *b)
{
    b->text = slice(bc_library, sizeof bc_library - 1);
    b->text_over = true;
    bc_parse(b);
    b->text_over = b->peeked = false;
    b->text = (Slice){"", 0};
}

static int bc_main(Proc *p, Args *args)
{
    static char dash[] = "-";
    Bc b = {.p = p, .ibase = 10, .obase = 10, .line_length = line_length(p), .next_var = VAR_FIRST, .next_array = 1, .next_function = 1, .file = "(standard_in)", .line = 1};
    char **files = mem_array(&p->keep, (size_t)args->argc + 1, char *);
    bool library = false;
    int count = read_options(&b, args, files, &library);
    b.heap = proc_mem_new(p);
    b.num = (NumEnv){p, b.heap};
    map_init(&b.names, &p->keep);
    buf_init(&b.word, &p->keep, BUF_MAX);
    buf_init(&b.pending, &p->keep, BUF_MAX);
    b.vars = grow(&b, NULL, &b.var_cap, VAR_FIRST, sizeof *b.vars);
    size_t cap = 0;
    b.array_names = grow(&b, NULL, &cap, 1, sizeof *b.array_names);
    b.arrays = grow(&b, NULL, &b.array_cap, 1, sizeof *b.arrays);
    new_function(&b, 0, "(main)");
    if (b.interactive)
        out_str(p->out, "bc (libshell) 0.1.0\nThis is free software with ABSOLUTELY NO WARRANTY.\nFor details type `warranty'. \n");
    if (library)
        load_library(&b);
    b.line = 1;
    for (int i = 0; i < count; i++) {
        VStat st;
        if (proc_stat(p, files[i], 0, &st) != 0) {
            out_printf(p->err, "File %s is unavailable.\n", files[i]);
            output_flush(p->err);
            return 1;
        }
    }
    files[count] = dash;
    b.in = input_files(p, files, count + 1);
    bc_parse(&b);
    return 0;
}

COMMAND(bc, "bc [options] [file ...]", "Evaluate expressions of arbitrary precision.", options, COMMAND_PURE | COMMAND_RAW, .package = "GNU bc 1.07.1");
