/* date_token: the words and numbers of a date as GNU date reads it. date_token.c takes them apart, parse_date.c makes sense of them. */
#ifndef LIBSHELL_DATE_TOKEN_H
#define LIBSHELL_DATE_TOKEN_H

#include "shared.h"

/* The terminal symbols of gnulib's grammar. */
typedef enum {
    D_END,
    D_BAD,       /* an unknown word, or a number out of range */
    D_CHAR,      /* a byte that is none of these, in value: : / , @ */
    D_NUMBER,    /* without a sign */
    D_SIGNED,
    D_DECIMAL,   /* with a fraction: value is the floor, ns the rest */
    D_SIGNED_DECIMAL,
    D_MERIDIAN,  /* 0 am, 1 pm */
    D_MONTH,
    D_DAY,       /* of the week, 0 Sunday */
    D_ZONE,      /* seconds east */
    D_DAYZONE,   /* the same, to which an hour is added */
    D_LOCAL_ZONE, /* the zone's own names; value: is it the summer one */
    D_DST,
    D_T,         /* T: between date and time, or a military zone */
    D_YEARS, D_MONTHS, D_DAYS, D_HOURS, D_MINUTES, D_SECONDS, /* units; value: how many of them the word means */
    D_DAY_SHIFT, /* tomorrow 1, today 0 */
    D_ORDINAL,   /* next 1, third 3, last -1 */
    D_AGO,       /* ago -1, hence 1 */
} DateKind;

typedef struct {
    DateKind kind;
    int64_t value;
    uint32_t ns;
    bool negative;
    size_t digits;
} DateToken;

/* Abbreviations that the zone itself uses, standard and summer time; empty when there is none. */
typedef struct { char standard[16], summer[16]; } LocalZones;

DateToken date_token(Slice *text, const LocalZones *local);

#endif
