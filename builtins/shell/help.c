/* help: what each builtin and reserved word does, in a few lines of our own; synopsis and summary are those of bash.
 *
 * A topic is found by its whole name or a pattern; where that finds nothing, by the beginning of its name.
 */
#include "shell.h"

typedef struct Topic {
    const char *name, *usage, *summary, *text; /* usage NULL: the command table has it and the summary */
} Topic;

static const Topic topics[] = {
    {"%", "job_spec [&]", "Resume job in foreground.", "The same as `fg JOB_SPEC', or with an & as `bg JOB_SPEC'."},
    {"(( ... ))", "(( expression ))", "Evaluate arithmetic expression.",
     "The expression is evaluated by the rules of `let' and may hold any character.\n\nStatus: 0 unless the value is 0; then 1."},
    {".", NULL, NULL,
     "Reads commands from FILENAME and runs them in this shell. A name without a slash is looked for along PATH, then in the current directory.\n"
     "ARGUMENTS, when given, are the positional parameters meanwhile.\n\nStatus: that of the last command; 1 when the file cannot be read."},
    {":", NULL, NULL, "Does nothing; its words are expanded and its redirections made all the same.\n\nStatus: 0."},
    {"[", NULL, NULL, "The same as `test', with a `]' as its last word."},
    {"[[ ... ]]", "[[ expression ]]", "Execute conditional command.",
     "Takes what `test' takes, and ( E ), ! E, E && E, E || E. Words are neither split nor expanded to file names.\n"
     "With == and != the right side is a pattern, with =~ an extended regular expression; quoted, it is plain text.\n\n"
     "Status: 0 when it is true, 1 when it is false, 2 for a regular expression that is wrong."},
    {"alias", NULL, NULL,
     "Prints all aliases, those named, or sets NAME to stand for VALUE where a command's name stands.\n\n  -p  print them so that they can be read back\n\n"
     "Status: 1 when a NAME has no alias."},
    {"bg", NULL, NULL, "Lets the jobs, or the current one, go on in the background.\n\nStatus: 1 without job control."},
    {"bind", NULL, NULL, "Key bindings of a terminal's line editor. There is no terminal here.\n\nStatus: 0, with a warning."},
    {"break", NULL, NULL, "Leaves the innermost loop, or the N innermost ones.\n\nStatus: 0 unless N is less than 1."},
    {"builtin", NULL, NULL, "Runs the builtin of that name even where a function hides it.\n\nStatus: the builtin's; 1 when there is none."},
    {"caller", NULL, NULL, "Prints line and file of the call that runs; with EXPR of the one so many calls further out, and its function.\n\nStatus: 1 when there is none."},
    {"case", "case WORD in [PATTERN [| PATTERN]...) COMMANDS ;;]... esac", "Execute commands based on pattern matching.",
     "Runs the COMMANDS of the first PATTERN that WORD matches. After ;& the next ones run too, after ;;& further patterns are tried.\n\nStatus: that of the last command; 0 when none ran."},
    {"cd", NULL, NULL,
     "Makes DIR, by default HOME, the current directory; `-' is the one before. DIR is looked for along CDPATH when it does not begin with a dot or slash.\n\n"
     "  -L  take symbolic links as they are named; the default\n  -P  follow them to where they lead\n  -e  with -P: fail when that cannot be found out\n  -@  accepted\n\n"
     "Status: 0 when the directory was changed."},
    {"command", NULL, NULL,
     "Runs COMMAND past any function of that name.\n\n  -p  look along a standard PATH\n  -v  print how the name is understood\n  -V  the same in a sentence\n\nStatus: the command's; 1 when it was not found."},
    {"compgen", NULL, NULL,
     "Prints what would complete WORD: by -W from a list, by -A from the names of an action, by -G from files. -X leaves out, -P and -S put text around.\n\nStatus: 1 when there is nothing."},
    {"complete", NULL, NULL, "How arguments are completed at a prompt. Accepted; there is no prompt.\n\nStatus: 0."},
    {"compopt", NULL, NULL, "Options of a completion while it runs. None ever does here.\n\nStatus: 1."},
    {"continue", NULL, NULL, "Goes on with the next round of the innermost loop, or of the Nth around it.\n\nStatus: 0 unless N is less than 1."},
    {"coproc", "coproc [NAME] command [redirections]", "Create a coprocess named NAME.",
     "Runs COMMAND beside the shell, its output to be read from ${NAME[0]}, its input to be written to ${NAME[1]}, its process in NAME_PID. NAME is COPROC by default.\n\nStatus: 0."},
    {"declare", NULL, NULL,
     "Gives variables attributes and values; in a function they are local. Without names prints them all.\n\n"
     "  -a  indexed array\n  -A  associative array\n  -f  functions only\n  -F  their names only\n  -g  global, also in a function\n  -i  values are arithmetic\n"
     "  -I  take attributes and value of the variable outside\n  -l  values become lower case\n  -n  a name for another variable\n  -p  print what is declared\n"
     "  -r  readonly\n  -t  functions: traced\n  -u  values become upper case\n  -x  exported\n\n+ instead of - takes an attribute away, but not a, A, f or r.\n\n"
     "Status: 1 when a name is wrong or an assignment fails."},
    {"dirs", NULL, NULL,
     "Prints the stack of directories that pushd and popd keep.\n\n  -c  empty it\n  -l  without ~\n  -p  one a line\n  -v  one a line with its number\n  +N  the Nth from the left, from 0\n"
     "  -N  the Nth from the right\n\nStatus: 1 when there is no such entry."},
    {"disown", NULL, NULL, "Forgets jobs, by default the current one; they run on.\n\n  -a  all\n  -r  those that run\n  -h  only keep them from a hangup\n\nStatus: 1 for a job that is none."},
    {"echo", NULL, NULL,
     "Prints its words with blanks between, and a newline.\n\n  -n  no newline\n  -e  \\a \\b \\c \\e \\f \\n \\r \\t \\v \\\\ \\0NNN \\xHH \\uHHHH \\UHHHHHHHH mean what they mean\n  -E  they do not; the default\n\n"
     "Status: 0 unless it could not write."},
    {"enable", NULL, NULL, "Switches builtins on, with -n off; prints those that are on, with -a all, with -s only the special ones.\n\nStatus: 1 for a name that is no builtin."},
    {"eval", NULL, NULL, "Joins its words with blanks and runs the result as commands.\n\nStatus: that of the commands; 0 for nothing."},
    {"exec", NULL, NULL,
     "Replaces this shell by the command; without one its redirections stay.\n\n  -a  name it NAME\n  -c  with an empty environment\n  -l  with a dash in front of its name\n\nStatus: 126 or 127 when it cannot be run."},
    {"exit", NULL, NULL, "Ends the shell with status N, by default that of the last command."},
    {"export", NULL, NULL, "Passes variables on to programs, with -f functions; -n takes that back, -p prints.\n\nStatus: 1 for a wrong name."},
    {"false", NULL, NULL, "Does nothing.\n\nStatus: 1."},
    {"fc", NULL, NULL, "Commands of the history. There is none here."},
    {"fg", NULL, NULL, "Waits for the job, by default the current one, as if it had been started in the foreground.\n\nStatus: the job's; 1 without job control."},
    {"for", "for NAME [in WORDS ... ] ; do COMMANDS; done", "Execute commands for each member in a list.",
     "Sets NAME to each of WORDS, by default the positional parameters, and runs COMMANDS.\n\nStatus: that of the last command; 0 when none ran."},
    {"for ((", "for (( exp1; exp2; exp3 )); do COMMANDS; done", "Arithmetic for loop.",
     "Evaluates EXP1; as long as EXP2 is not 0, runs COMMANDS and evaluates EXP3. What is left out is 1.\n\nStatus: that of the last command."},
    {"function", "function name { COMMANDS ; } or name () { COMMANDS ; }", "Define shell function.",
     "Calling NAME runs COMMANDS in this shell with the arguments as $1..., and the name in FUNCNAME.\n\nStatus: 0 unless NAME is readonly."},
    {"getopts", NULL, NULL,
     "Puts the next option of the arguments, by default the positional parameters, into NAME, its value into OPTARG, the number of the next word into OPTIND.\n"
     "OPTSTRING has the letters, with a colon after those that take a value; one in front keeps it silent.\n\nStatus: 1 at the end of the options."},
    {"hash", NULL, NULL,
     "Remembers where commands are; without names prints what is remembered.\n\n  -d  forget NAME\n  -l  print so that it can be read back\n  -p  remember PATHNAME\n  -r  forget all\n  -t  print where NAME is\n\nStatus: 1 when it is not found."},
    {"help", NULL, NULL,
     "Explains the topics that match PATTERN.\n\n  -d  a line on each\n  -m  in the layout of a manual page\n  -s  only the synopsis\n\nStatus: 1 when nothing matches."},
    {"history", NULL, NULL, "Prints the history, which is empty here.\n\nStatus: 0."},
    {"if", "if COMMANDS; then COMMANDS; [ elif COMMANDS; then COMMANDS; ]... [ else COMMANDS; ] fi", "Execute commands based on conditional.",
     "Runs the COMMANDS after the first `then' whose condition ended with 0, or those after `else'.\n\nStatus: that of the last command; 0 when no condition held."},
    {"jobs", NULL, NULL,
     "Prints the jobs.\n\n  -l  with their processes\n  -n  only what has changed\n  -p  only the processes\n  -r  those that run\n  -s  those that are stopped\n  -x  run a command in whose words a job stands for its process\n\nStatus: 1 for a job that is none."},
    {"kill", NULL, NULL,
     "Sends a signal, by default TERM, to processes and jobs.\n\n  -s  by name\n  -n  by number\n  -l  list signals, or turn numbers into names and back\n  -L  the same\n\nStatus: 1 when it could not be sent."},
    {"let", NULL, NULL,
     "Evaluates each argument as arithmetic on 64-bit integers: ++ -- ! ~ ** * / % + - << >> <= >= < > == != & ^ | && || ?: = += and the like, and the comma.\n\nStatus: 1 when the last value is 0."},
    {"local", NULL, NULL, "Makes variables of the function that runs, with the options of `declare'; `local -' keeps its options its own.\n\nStatus: 1 outside a function."},
    {"logout", NULL, NULL, "Ends a login shell. This is none.\n\nStatus: 1."},
    {"mapfile", NULL, NULL,
     "Reads lines into the elements of ARRAY, by default MAPFILE.\n\n  -d  lines end in DELIM\n  -n  at most COUNT\n  -O  from index ORIGIN on\n  -s  leave out the first COUNT\n  -t  without their ends\n"
     "  -u  from descriptor FD\n  -C  call CALLBACK with index and line\n  -c  after so many lines\n\nStatus: 1 for a wrong option or array."},
    {"popd", NULL, NULL, "Takes the top, or entry +N or -N, off the stack of directories and goes to the new top; with -n it stays where it is.\n\nStatus: 1 when there is no such entry."},
    {"printf", NULL, "Formats and prints ARGUMENTS under control of the FORMAT.",
     "FORMAT is used again as long as there are arguments. Besides those of printf(3): %b takes escapes as echo -e, %q quotes for the shell, %Q after cutting, %(FMT)T is a time.\n\n"
     "  -v  put the result into VAR\n\nStatus: 1 for a wrong format or number."},
    {"pushd", NULL, NULL, "Goes to DIR and puts it on the stack of directories, or turns the stack so that entry +N or -N is on top; -n only changes the stack. Without a word swaps the two on top.\n\nStatus: 1 when that cannot be."},
    {"pwd", NULL, NULL, "Prints the current directory: with -L as PWD names it, with -P without symbolic links.\n\nStatus: 0 unless it cannot be read."},
    {"read", NULL, NULL,
     "Reads a line and gives its fields to the NAMEs, the last getting the rest; by default to REPLY.\n\n  -a  fields into an array\n  -d  the line ends in DELIM\n  -e, -i  for terminals\n  -n  at most NCHARS characters\n"
     "  -N  exactly so many\n  -p  print a prompt at a terminal\n  -r  backslashes are characters\n  -s  no echo\n  -t  give up after TIMEOUT seconds\n  -u  from descriptor FD\n\nStatus: 1 at the end of the input, more than 128 at a time-out."},
    {"readarray", NULL, NULL, "The same as `mapfile'."},
    {"readonly", NULL, NULL, "Keeps variables, with -f functions, from being changed; -a and -A make arrays, -p prints.\n\nStatus: 1 for a wrong name."},
    {"return", NULL, NULL, "Ends the function or sourced file with status N, by default that of the last command."},
    {"select", "select NAME [in WORDS ... ;] do COMMANDS; done", "Select words from a list and execute commands.",
     "Prints WORDS with numbers on standard error, reads a line, puts the word of that number into NAME and the line into REPLY, and runs COMMANDS, until the input ends or a `break'.\n\nStatus: that of the last command."},
    {"set", NULL, NULL,
     "Sets options and positional parameters; without words prints all variables.\n\n"
     "  -a  export what is assigned\n  -b  tell of jobs at once\n  -e  end when a command fails\n  -f  no file names from patterns\n  -h  remember commands\n  -k  assignments anywhere in a command\n  -m  job control\n"
     "  -n  read only\n  -o  an option by name; without one prints them\n  -p  privileged\n  -t  end after one command\n  -u  what is not set is an error\n  -v  print what is read\n  -x  print what is run\n"
     "  -B  brace expansion\n  -C  > does not overwrite\n  -E  functions inherit the ERR trap\n  -H  history expansion\n  -P  no symbolic links in the current directory\n  -T  functions inherit DEBUG and RETURN traps\n"
     "  --  what follows are the parameters, also none\n  -   the same, and -x and -v off\n\n+ instead of - switches off.\n\nStatus: 2 for a wrong option."},
    {"shift", NULL, NULL, "Drops the first N positional parameters, by default one.\n\nStatus: 1 when there are not so many."},
    {"shopt", NULL, NULL,
     "Prints and sets options that `set' does not have.\n\n  -o  those of set -o\n  -p  print as commands\n  -q  only the status\n  -s  on\n  -u  off\n\nStatus: 1 when one named is off or wrong."},
    {"source", NULL, NULL, "The same as `.'."},
    {"suspend", NULL, NULL, "Stops the shell until it is told to go on. There is no job control for that here.\n\nStatus: 1."},
    {"test", NULL, NULL,
     "Files: -a -e exists; -b -c -d -f -h -L -p -S of a type; -r -w -x may be used; -s not empty; -g -k -u -O -G -N -t; F -nt F, -ot, -ef.\n"
     "Texts: -z empty, -n not, = == != < >. Others: -o option, -v variable, -R nameref. Numbers: -eq -ne -lt -le -gt -ge.\n"
     "! E, E -a E, E -o E, ( E ).\n\nStatus: 0 when it is true, 1 when it is false or missing, 2 when it is wrong."},
    {"time", "time [-p] pipeline", "Report time consumed by pipeline's execution.", "Prints the time the pipeline took, and of it in programs and in the system, by TIMEFORMAT; -p in the form of POSIX.\n\nStatus: the pipeline's."},
    {"times", NULL, NULL, "Prints the time the shell took, in itself and in the system, and then that of its children.\n\nStatus: 0."},
    {"trap", NULL, NULL,
     "Runs ARG when a signal comes; - puts the default back, an empty ARG ignores it. EXIT is the shell's end, DEBUG before each command, RETURN after a function, ERR after a failure.\n\n  -l  list signals\n  -p  print the traps\n\nStatus: 1 for a wrong signal."},
    {"true", NULL, NULL, "Does nothing.\n\nStatus: 0."},
    {"type", NULL, NULL,
     "Says how NAME would be understood as a command.\n\n  -a  all there are\n  -f  no functions\n  -P  look along PATH, whatever else there is\n  -p  only the file\n  -t  only the kind: alias, keyword, function, builtin, file\n\nStatus: 1 when one is not found."},
    {"typeset", NULL, NULL, "The same as `declare'."},
    {"ulimit", NULL, NULL, "Prints limits of the shell; -a all, -H hard, -S soft, and a letter for each. They are set by who embeds the shell.\n\nStatus: 1 for a limit that cannot be set."},
    {"umask", NULL, NULL, "Prints or sets the permissions that new files do not get, in octal or as for chmod; -p prints a command, -S letters.\n\nStatus: 1 for a wrong mode."},
    {"unalias", NULL, NULL, "Forgets aliases; -a all.\n\nStatus: 1 when a NAME has none."},
    {"unset", NULL, NULL, "Forgets variables or else functions; -v only variables, -f only functions, -n the nameref itself.\n\nStatus: 1 for what is readonly."},
    {"until", "until COMMANDS; do COMMANDS-2; done", "Execute commands as long as a test does not succeed.", "Runs COMMANDS-2 as long as COMMANDS end with another status than 0.\n\nStatus: that of the last command of the body."},
    {"variables", "variables - Names and meanings of some shell variables", "Common shell variable names and usage.",
     "BASH_VERSION  the version\nCDPATH  where cd looks\nGLOBIGNORE  what patterns never match\nHOME  where cd goes\nHOSTNAME  the machine\nIFS  what splits words\nLINENO  the line\nOLDPWD  the directory before\n"
     "PATH  where commands are\nPIPESTATUS  the statuses of a pipeline\nPS4  in front of what set -x prints\nPWD  the directory\nRANDOM  a number\nREPLY  what read read\nSECONDS  since the start\nSHELLOPTS  the options"},
    {"wait", NULL, NULL,
     "Waits for processes and jobs, by default for all.\n\n  -f  until they have ended\n  -n  for the next one\n  -p  put which it was into VAR\n\nStatus: that of the last; 127 when there is none."},
    {"while", "while COMMANDS; do COMMANDS-2; done", "Execute commands as long as a test succeeds.", "Runs COMMANDS-2 as long as COMMANDS end with status 0.\n\nStatus: that of the last command of the body."},
    {"{ ... }", "{ COMMANDS ; }", "Group commands as a unit.", "Runs COMMANDS in this shell, with redirections in common.\n\nStatus: that of the last command."},
};

enum { HELP_SUMMARY = 1, HELP_MANUAL = 2, HELP_SYNOPSIS = 4 };

static void put_indented(Proc *p, const char *text)
{
    for (const char *s = text; *s;) {
        size_t n = strcspn(s, "\n");
        out_printf(p->out, "    %.*s\n", (int)n, s);
        s += n + (s[n] != 0);
    }
}

static void put_manual(Proc *p, const Topic *t, const char *usage, const char *summary)
{
    out_printf(p->out, "NAME\n    %s - %s\n\nSYNOPSIS\n    %s\n\nDESCRIPTION\n    %s\n    \n", t->name, summary, usage, summary);
    put_indented(p, t->text);
    out_str(p->out, "\nSEE ALSO\n    bash(1)\n\n");
}

static void put_topic(Proc *p, const Topic *t, int how)
{
    const Command *c = command_find(t->name);
    const char *usage = t->usage ? t->usage : c ? c->usage : "", *summary = t->summary ? t->summary : c ? c->summary : "";
    if (how & HELP_SUMMARY) {
        out_printf(p->out, "%s - %s\n", t->name, summary);
    } else if (how & HELP_MANUAL) {
        put_manual(p, t, usage, summary);
    } else {
        out_printf(p->out, "%s: %s\n", t->name, usage);
        if (!(how & HELP_SYNOPSIS)) {
            out_printf(p->out, "    %s\n    \n", summary);
            put_indented(p, t->text);
        }
    }
}

static bool has_pattern(const char *s) { return strpbrk(s, "*?[") && !(s[0] == '[' && !strchr(s, ']')); }

/* By the whole name or as a pattern; else by the beginning. */
static bool put_matching(Proc *p, const char *word, int how)
{
    bool found = false;
    Pat *pat = has_pattern(word) ? pat_compile(&p->mem, slice_str(word), 0) : NULL;
    ReEnv env = proc_re_env(p);
    for (int pass = 0; pass < 2 && !found; pass++)
        for (size_t i = 0; i < ARRAY_LEN(topics); i++) {
            const char *name = topics[i].name;
            bool hit = pass ? strncmp(name, word, strlen(word)) == 0 : strcmp(name, word) == 0 || (pat && pat_match(&env, pat, slice_str(name)));
            if (!hit)
                continue;
            put_topic(p, &topics[i], how);
            found = true;
        }
    return found;
}

static int list_topics(Proc *p)
{
    for (size_t i = 0; i < ARRAY_LEN(topics); i++) {
        const Command *c = command_find(topics[i].name);
        out_printf(p->out, " %s\n", topics[i].usage ? topics[i].usage : c ? c->usage : topics[i].name);
    }
    return 0;
}

static int help_main(Proc *p, Args *args)
{
    int how = 0, status = 0;
    for (int c; (c = shell_option(p, args, "dms")) != -1;) {
        if (c == '?')
            return SHELL_USAGE;
        how |= c == 'd' ? HELP_SUMMARY : c == 'm' ? HELP_MANUAL : HELP_SYNOPSIS;
    }
    int count;
    char **words = shell_operands(args, &count);
    if (!count)
        return list_topics(p);
    if (has_pattern(words[0])) {
        out_printf(p->out, "Shell commands matching keyword%s `", count > 1 ? "s" : "");
        for (int i = 0; i < count; i++)
            out_printf(p->out, "%s%s", i ? ", " : "", words[i]);
        out_str(p->out, "'\n\n");
    }
    bool any = false;
    for (int i = 0; i < count; i++)
        any |= put_matching(p, words[i], how);
    if (!any)
        status = shell_fail(p, args, "no help topics match `%s'.  Try `help help' or `man -k %s' or `info %s'.", words[count - 1], words[count - 1], words[count - 1]);
    return status;
}

BUILTIN(help, "help", "help [-dms] [pattern ...]", "Display information about builtin commands.", SHELL_FLAGS);
