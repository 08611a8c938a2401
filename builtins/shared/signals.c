/* signals: numbers and names as Linux has them. */
#include "shared.h"

static const char *const names[65] = {
    [1] = "HUP", [2] = "INT", [3] = "QUIT", [4] = "ILL", [5] = "TRAP", [6] = "ABRT", [7] = "BUS", [8] = "FPE", [9] = "KILL", [10] = "USR1",
    [11] = "SEGV", [12] = "USR2", [13] = "PIPE", [14] = "ALRM", [15] = "TERM", [16] = "STKFLT", [17] = "CHLD", [18] = "CONT", [19] = "STOP",
    [20] = "TSTP", [21] = "TTIN", [22] = "TTOU", [23] = "URG", [24] = "XCPU", [25] = "XFSZ", [26] = "VTALRM", [27] = "PROF", [28] = "WINCH",
    [29] = "POLL", [30] = "PWR", [31] = "SYS", [34] = "RTMIN", [64] = "RTMAX",
};

const char *signal_short_name(int number) { return number > 0 && number < 65 && names[number] ? names[number] : "0"; }

static bool same_word(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a & ~32) != (*b & ~32))
            return false;
    return *a == *b;
}

int signal_from_name(const char *text)
{
    int64_t v;
    if (*text >= '0' && *text <= '9')
        return parse_int(text, &v) == 0 && v >= 0 && v <= 64 ? (int)v : -1;
    if ((text[0] & ~32) == 'S' && (text[1] & ~32) == 'I' && (text[2] & ~32) == 'G')
        text += 3;
    for (int i = 1; i < 65; i++)
        if (names[i] && same_word(names[i], text))
            return i;
    return same_word(text, "IO") ? 29 : same_word(text, "IOT") ? 6 : same_word(text, "CLD") ? 17 : -1;
}
