#include "native.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The plan is text with one statement in each line. Empty lines and lines that begin with # are skipped. The first statement is
 *     tutti-native-plan 1
 * the last one is
 *     end
 * and between them, each once and before the cases:
 *     nodes N          nodes that the world must have
 *     ppn N            ranks of each node
 *     warmup N         calls before the timed ones
 *     min N            fewest timed calls
 *     max N            most timed calls
 *     precision X      a case ends when half the width of its median's interval is at most X times the median
 *     slice S          seconds for a case, including its check and warm-up; with fewer than 6 calls, for its timed calls
 *     hang S           seconds after which a case ends the program
 *     abort_factor X   a case ends if it is this many times slower than the best known median; 0: never
 *     check yes|no     whether the data are checked
 * and the cases, numbers ascending:
 *     case NUMBER COLLECTIVE BYTES same|new [run=ALGORITHM] [VARIABLE=INTEGER ...]
 * COLLECTIVE is a name such as allreduce, or iallreduce for the nonblocking call. BYTES is the part of one process for
 * allgather, allgatherv, alltoall, alltoallv, gather and scatter, and the whole message otherwise. With "new", a communicator is created after the variables are written. "run" selects an algorithm of libtutti. */

#define SPACE " \t\r"
#define SETTINGS 0x3ff /* a bit for each setting */

typedef struct {
    plan *p;
    const char *path;
    int number; /* of the line */
    char *why;
    unsigned seen;
    int begun, ended;
} reader;

static int refuse(reader *r, const char *what, const char *word, const char *want)
{
    snprintf(r->why, WHY, "%s:%d: %s \"%.100s\": want %s", r->path, r->number, what, word ? word : "", want);
    return -1;
}

static int whole(const char *word, long low, long high, long *value)
{
    char *end;
    if (word == NULL || *word == 0)
        return -1;
    errno = 0;
    *value = strtol(word, &end, 10);
    return errno || *end || *value < low || *value > high ? -1 : 0;
}

static int positive(const char *word, double low, double *value)
{
    char *end;
    if (word == NULL || *word == 0)
        return -1;
    *value = strtod(word, &end);
    return *end || !(*value >= low) || !(*value < 1e9) ? -1 : 0;
}

static int read_switch(reader *r, char *word, setting *s)
{
    long value;
    char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : 0;
    if (length == 0 || length >= MAX_NAME || whole(equals + 1, INT_MIN, INT_MAX, &value))
        return refuse(r, "variable", word, "NAME=INTEGER");
    memcpy(s->name, word, length);
    s->name[length] = 0;
    s->value = (int)value;
    return 0;
}

/* Returns a copy of a text, or NULL if there is no memory. */
static char *copy_of(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = malloc(n);
    return copy == NULL ? NULL : memcpy(copy, text, n);
}

static int read_case(reader *r, char **rest)
{
    plan *p = r->p;
    plan_case c = {0};
    setting list[MAX_SWITCHES];
    long number;
    char *word = strtok_r(NULL, SPACE, rest);
    if (whole(word, 0, INT_MAX, &number) || (p->ncases && number <= p->cases[p->ncases - 1].number))
        return refuse(r, "case", word, "a number larger than that of the case before");
    c.number = (int)number;
    word = strtok_r(NULL, SPACE, rest);
    if (word == NULL || !form_named(word, &c.what, &c.form))
        return refuse(r, "collective", word, "one of MPI's collectives in lower case");
    word = strtok_r(NULL, SPACE, rest);
    if (whole(word, 0, INT_MAX, &c.bytes) || (c.what == BARRIER && c.bytes != 0))
        return refuse(r, "bytes", word, "a number from 0 to 2147483647, 0 for barrier");
    word = strtok_r(NULL, SPACE, rest);
    if (word == NULL || (strcmp(word, "same") != 0 && strcmp(word, "new") != 0))
        return refuse(r, "communicator", word, "same or new");
    c.new_comm = strcmp(word, "new") == 0;
    while ((word = strtok_r(NULL, SPACE, rest)) != NULL) {
        if (c.nswitches == 0 && c.own == NULL && strncmp(word, "run=", 4) == 0) {
            if ((c.own = copy_of(word + 4)) == NULL)
                return refuse(r, "case", "", "memory");
            continue;
        }
        if (c.nswitches == MAX_SWITCHES)
            return refuse(r, "variable", word, "at most 64 of them");
        if (read_switch(r, word, &list[c.nswitches++]))
            return -1;
    }
    plan_case *more = realloc(p->cases, ((size_t)p->ncases + 1) * sizeof *more);
    if (more == NULL)
        return refuse(r, "case", "", "memory");
    p->cases = more;
    size_t bytes = (size_t)c.nswitches * sizeof *list;
    c.switches = malloc(bytes + 1);
    if (c.switches == NULL)
        return refuse(r, "case", "", "memory");
    memcpy(c.switches, list, bytes);
    p->cases[p->ncases++] = c;
    return 0;
}

static int read_whole(reader *r, const char *name, char *word, long low, int *into)
{
    long value;
    if (whole(word, low, INT_MAX, &value))
        return refuse(r, name, word, low ? "a whole number, 1 or more" : "a whole number, 0 or more");
    *into = (int)value;
    return 0;
}

static int read_real(reader *r, const char *name, char *word, double low, double *into)
{
    return positive(word, low, into) ? refuse(r, name, word, low == 1 ? "a number, 1 or more" : low > 0 ? "a number above 0" : "a number, 0 or more") : 0;
}

static int read_setting(reader *r, const char *name, char *word)
{
    static const char *const names[] = {"nodes", "ppn", "warmup", "min", "max", "precision", "slice", "hang", "abort_factor", "check"};
    plan *p = r->p;
    unsigned i = 0, n = sizeof names / sizeof *names;
    while (i < n && strcmp(names[i], name) != 0)
        i++;
    if (i == n)
        return refuse(r, "unknown word", name, "a setting, case or end");
    if (r->seen & 1u << i)
        return refuse(r, "setting", name, "it once");
    if (p->ncases)
        return refuse(r, "setting", name, "settings before the cases");
    r->seen |= 1u << i;
    switch (i) {
    case 0: return read_whole(r, name, word, 1, &p->nodes);
    case 1: return read_whole(r, name, word, 1, &p->ppn);
    case 2: return read_whole(r, name, word, 0, &p->warmup);
    case 3: return read_whole(r, name, word, 1, &p->min);
    case 4: return read_whole(r, name, word, 1, &p->max);
    case 5: return read_real(r, name, word, 1e-9, &p->precision);
    case 6: return read_real(r, name, word, 1e-9, &p->slice);
    case 7: return read_real(r, name, word, 1, &p->hang);
    case 8: return read_real(r, name, word, 0, &p->abort_factor);
    }
    if (word == NULL || (strcmp(word, "yes") != 0 && strcmp(word, "no") != 0))
        return refuse(r, name, word, "yes or no");
    p->check = strcmp(word, "yes") == 0;
    return 0;
}

static int read_line(reader *r, char *text)
{
    char *rest, *word = strtok_r(text, SPACE, &rest);
    if (word == NULL || *word == '#')
        return 0;
    if (r->ended)
        return refuse(r, "unexpected", word, "nothing after end");
    if (!r->begun) {
        char *format = strtok_r(NULL, SPACE, &rest);
        if (strcmp(word, "tutti-native-plan") != 0 || format == NULL || strcmp(format, "1") != 0)
            return refuse(r, "first statement", word, "tutti-native-plan 1");
        r->begun = 1;
    } else if (strcmp(word, "case") == 0) {
        if (r->seen != SETTINGS)
            return refuse(r, "unexpected", word, "all ten settings before the first case");
        if (read_case(r, &rest))
            return -1;
    } else if (strcmp(word, "end") == 0) {
        r->ended = 1;
    } else {
        char *value = strtok_r(NULL, SPACE, &rest);
        if (read_setting(r, word, value))
            return -1;
    }
    word = strtok_r(NULL, SPACE, &rest);
    return word ? refuse(r, "unexpected", word, "the end of the line") : 0;
}

/* Parses the text of a plan and overwrites the text. All ranks get the same result. */
int plan_parse(plan *p, const char *path, char *text, char *why)
{
    reader r = {p, path, 0, why, 0, 0, 0};
    memset(p, 0, sizeof *p);
    while (text != NULL) {
        char *next = strchr(text, '\n');
        if (next != NULL)
            *next++ = 0;
        r.number++;
        if (read_line(&r, text))
            return -1;
        text = next;
    }
    if (!r.ended)
        return refuse(&r, "last line", "", "end: the plan is cut off");
    if (p->min > p->max) {
        snprintf(why, WHY, "%s: min %d: want at most max %d", path, p->min, p->max);
        return -1;
    }
    return 0;
}

/* Reads the file of a plan. On an error it returns NULL, and `why` holds the reason. */
char *plan_load(const char *path, int *bytes, char *why)
{
    FILE *f = fopen(path, "rb");
    size_t used = 0, capacity = 4096;
    char *text = malloc(capacity);
    while (f != NULL && text != NULL && !feof(f) && !ferror(f) && used < INT_MAX / 2) {
        if (used + 1 >= capacity) {
            char *more = realloc(text, capacity *= 2);
            if (more == NULL)
                break;
            text = more;
        }
        used += fread(text + used, 1, capacity - used - 1, f);
    }
    if (f == NULL || text == NULL || !feof(f) || memchr(text, 0, used) != NULL) {
        snprintf(why, WHY, "%s: %s", path, f == NULL ? strerror(errno) : "not a readable text");
        if (f != NULL)
            fclose(f);
        free(text);
        return NULL;
    }
    fclose(f);
    text[used] = 0;
    *bytes = (int)used + 1;
    return text;
}
