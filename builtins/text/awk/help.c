/* What awk says about itself, in gawk's words. */
#include "run.h"

static const char options_text[] =
    "POSIX options:\t\tGNU long options: (standard)\n"
    "\t-f progfile\t\t--file=progfile\n"
    "\t-F fs\t\t\t--field-separator=fs\n"
    "\t-v var=val\t\t--assign=var=val\n"
    "Short options:\t\tGNU long options: (extensions)\n"
    "\t-b\t\t\t--characters-as-bytes\n"
    "\t-c\t\t\t--traditional\n"
    "\t-C\t\t\t--copyright\n"
    "\t-d[file]\t\t--dump-variables[=file]\n"
    "\t-D[file]\t\t--debug[=file]\n"
    "\t-e 'program-text'\t--source='program-text'\n"
    "\t-E file\t\t\t--exec=file\n"
    "\t-g\t\t\t--gen-pot\n"
    "\t-h\t\t\t--help\n"
    "\t-i includefile\t\t--include=includefile\n"
    "\t-I\t\t\t--trace\n"
    "\t-l library\t\t--load=library\n"
    "\t-L[fatal|invalid|no-ext]\t--lint[=fatal|invalid|no-ext]\n"
    "\t-M\t\t\t--bignum\n"
    "\t-N\t\t\t--use-lc-numeric\n"
    "\t-n\t\t\t--non-decimal-data\n"
    "\t-o[file]\t\t--pretty-print[=file]\n"
    "\t-O\t\t\t--optimize\n"
    "\t-p[file]\t\t--profile[=file]\n"
    "\t-P\t\t\t--posix\n"
    "\t-r\t\t\t--re-interval\n"
    "\t-s\t\t\t--no-optimize\n"
    "\t-S\t\t\t--sandbox\n"
    "\t-t\t\t\t--lint-old\n"
    "\t-V\t\t\t--version\n"
    "\n"
    "To report bugs, use the `gawkbug' program.\n"
    "For full instructions, see the node `Bugs' in `gawk.info'\n"
    "which is section `Reporting Problems and Bugs' in the\n"
    "printed version.  This same information may be found at\n"
    "https://www.gnu.org/software/gawk/manual/html_node/Bugs.html.\n"
    "PLEASE do NOT try to report bugs by posting in comp.lang.awk,\n"
    "or by using a web forum such as Stack Overflow.\n"
    "\n"
    "gawk is a pattern scanning and processing language.\n"
    "By default it reads standard input and writes standard output.\n"
    "\n";

static const char version_text[] =
    "GNU Awk 5.2.1, API 3.2, PMA Avon 8-g1, (GNU MPFR 4.2.0, GNU MP 6.2.1)\n"
    "Copyright (C) 1989, 1991-2022 Free Software Foundation.\n"
    "\n"
    "This program is free software; you can redistribute it and/or modify\n"
    "it under the terms of the GNU General Public License as published by\n"
    "the Free Software Foundation; either version 3 of the License, or\n"
    "(at your option) any later version.\n"
    "\n"
    "This program is distributed in the hope that it will be useful,\n"
    "but WITHOUT ANY WARRANTY; without even the implied warranty of\n"
    "MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the\n"
    "GNU General Public License for more details.\n"
    "\n"
    "You should have received a copy of the GNU General Public License\n"
    "along with this program. If not, see http://www.gnu.org/licenses/.\n";

void awk_usage(Awk *w, Output *o)
{
    const char *name = w->p->name;
    out_printf(o, "Usage: %s [POSIX or GNU style options] -f progfile [--] file ...\n", name);
    out_printf(o, "Usage: %s [POSIX or GNU style options] [--] 'program' file ...\n", name);
    out_str(o, options_text);
    out_printf(o, "Examples:\n\t%s '{ sum += $1 }; END { print sum }' file\n\t%s -F: '{ print $1 }' /etc/passwd\n", name, name);
}

void awk_version(Output *o) { out_str(o, version_text); }

/* The text without its first line. */
void awk_copyright(Output *o) { out_str(o, strchr(version_text, '\n') + 1); }
