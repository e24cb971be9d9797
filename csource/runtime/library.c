#include "comm.h"
#include "library.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAME = 127, MOST_CONTROLS = 64 };

static library_algorithm *all;

static const struct {
    const char *name;
    unsigned bit;
} needs[] = {
    {"pow2", POWER_OF_TWO}, {"even", EVEN}, {"commutative", COMMUTATIVE}, {"count_ge_size", COUNT_SIZE},
    {"count_ge_pof2", COUNT_POWER_OF_TWO}, {"size2", TWO_RANKS}, {"parent", PARENT}, {"one_node", ONE_NODE}, {"builtin_op", BUILTIN_OP},
};

static char *copied(const char *from, size_t n)
{
    char *to = allocate(n + 1, 1);
    memcpy(to, from, n);
    return to;
}

/* Returns the length of the word at p. A word ends at a blank or at the end of the text. */
static size_t word(const char *p) { return strcspn(p, " "); }

static size_t letters(const char *p)
{
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || (p[n] != 0 && strchr("._-", p[n]) != NULL))
        n++;
    return n;
}

/* Returns whether the text from p to end is a list NAME=VALUE,NAME=VALUE... with the names in ascending order. */
static int parameters(const char *p, const char *end)
{
    const char *before = "";
    size_t length = 0;
    for (;;) {
        size_t n = letters(p), m = n > 0 && p[n] == '=' ? letters(p + n + 1) : 0;
        size_t shorter = n < length ? n : length;
        int order = memcmp(before, p, shorter);
        if (m == 0 || (length > 0 && (order > 0 || (order == 0 && length >= n))))
            return 0;
        before = p;
        length = n;
        p += n + 1 + m;
        if (p == end)
            return 1;
        if (*p++ != ',')
            return 0;
    }
}

/* Returns whether a word has the form of an MPI library's algorithm: LIBRARY.NAME, optionally with parameters in
 * the notation of tutti. */
static int right_name(const char *p, size_t n)
{
    size_t name = letters(p);
    const char *dot = memchr(p, '.', name);
    if (n > MOST_NAME || dot == NULL || dot == p || dot + 1 == p + name)
        return 0;
    if (name == n)
        return 1;
    return n > name + 2 && p[name] == '(' && p[n - 1] == ')' && parameters(p + name + 1, p + n - 1);
}

static int read_needs(const char *p, size_t n, unsigned *bits)
{
    const char *end = p + n;
    if (n == 1 && *p == '-')
        return 1;
    for (;;) {
        size_t i = 0, m = strcspn(p, ", "), count = sizeof needs / sizeof *needs;
        while (i < count && (strlen(needs[i].name) != m || memcmp(needs[i].name, p, m) != 0))
            i++;
        if (i == count)
            return 0;
        *bits |= needs[i].bit;
        p += m;
        if (p == end)
            return 1;
        p++;
    }
}

/* Reads NAME=INTEGER, where the integer has at most nine digits. */
static int read_control(const char *p, size_t n, control *c)
{
    size_t name = 0, digits = 0, minus;
    while (isalnum((unsigned char)p[name]) || p[name] == '_')
        name++;
    if (name == 0 || name > MOST_NAME || p[name] != '=')
        return 0;
    minus = p[name + 1] == '-';
    const char *value = p + name + 1 + minus;
    while (isdigit((unsigned char)value[digits]))
        digits++;
    if (digits == 0 || digits > 9 || value + digits != p + n)
        return 0;
    c->name = copied(p, name);
    c->value = strtol(p + name + 1, NULL, 10);
    return 1;
}

static int refuse(library_algorithm *t, char *why, const char *want)
{
    for (int i = 0; i < t->controls; i++)
        free(t->control[i].name);
    free(t->control);
    free(t->name);
    free(t);
    snprintf(why, WHY, "%s", want);
    return -1;
}

/* Reads the table's line for an algorithm of the MPI library: COLLECTIVE NAME NEEDS same|new
   VARIABLE=INTEGER ... */
int library_read(const char *p, char *why)
{
    library_algorithm *t = allocate(1, sizeof *t);
    t->control = allocate(MOST_CONTROLS, sizeof *t->control);
    if (!collective_named(p, word(p), &t->algorithm.what))
        return refuse(t, why, "a collective behind algorithm");
    p += word(p);
    if (*p++ != ' ' || !right_name(p, word(p)))
        return refuse(t, why, "LIBRARY.NAME behind the collective");
    t->algorithm.name = t->name = copied(p, word(p));
    p += word(p);
    if (*p++ != ' ' || !read_needs(p, word(p), &t->algorithm.needs))
        return refuse(t, why, "what the algorithm needs, or -");
    p += word(p);
    t->fresh = strncmp(p, " new ", 5) == 0;
    if (!t->fresh && strncmp(p, " same ", 6) != 0)
        return refuse(t, why, "same or new, and variables");
    for (p += t->fresh ? 4 : 5; *p == ' '; p += word(p)) {
        p++;
        if (t->controls == MOST_CONTROLS || !read_control(p, word(p), &t->control[t->controls]))
            return refuse(t, why, "VARIABLE=INTEGER, at most 64 of them");
        t->controls++;
    }
    if (library_find(t->algorithm.what, t->name) != NULL)
        return refuse(t, why, "an algorithm once");
    t->next = all;
    all = t;
    return 0;
}

const algorithm *library_find(collective what, const char *name)
{
    for (library_algorithm *t = all; t != NULL; t = t->next)
        if (t->algorithm.what == what && strcmp(t->name, name) == 0)
            return &t->algorithm;
    return NULL;
}

void library_forget(void)
{
    while (all != NULL) {
        library_algorithm *t = all;
        char why[WHY];
        all = t->next;
        refuse(t, why, "");
    }
}

/* Opens the control variables of an algorithm. Drops variables that always have the required value. */
static int open_controls(library_algorithm *t, char *why)
{
    int kept = 0;
    for (int i = 0; i < t->controls; i++) {
        control c = t->control[i];
        int error = cvar_open(&c.cvar, c.name);
        if (error == MPI_SUCCESS)
            error = cvar_fetch(&c.cvar, &c.first);
        if (error == MPI_SUCCESS && c.first != c.value)
            error = cvar_store(&c.cvar, c.value);
        if (error == MPI_SUCCESS && c.first != c.value)
            error = cvar_store(&c.cvar, c.first);
        if (error != MPI_SUCCESS) {
            snprintf(why, WHY, "%.40s: %.80s=%lld: %s", t->name, c.name, c.value, cvar_words(error));
            return -1;
        }
        if (c.first == c.value)
            free(c.name);
        else
            t->control[kept++] = c;
    }
    t->controls = kept;
    return 0;
}

int library_open(char *why)
{
    if (all != NULL && cvar_start() != MPI_SUCCESS) {
        snprintf(why, WHY, "the MPI library has no control variables");
        return -1;
    }
    for (library_algorithm *t = all; t != NULL; t = t->next)
        if (open_controls(t, why))
            return -1;
    return 0;
}

void one_line(char *text)
{
    size_t n = 0;
    for (const char *c = text; *c; c++)
        if (!isspace((unsigned char)*c))
            text[n++] = *c;
        else if (n > 0 && text[n - 1] != ' ')
            text[n++] = ' ';
    text[n] = 0;
}

void library_version(char *says)
{
    int length;
    PMPI_Get_library_version(says, &length);
    says[length] = 0;
    one_line(says);
}

int library_is(const char *name)
{
    char says[MPI_MAX_LIBRARY_VERSION_STRING + 1];
    library_version(says);
    return strstr(says, name) != NULL;
}

int library_matches(const char *banner, char *why)
{
    char says[MPI_MAX_LIBRARY_VERSION_STRING + 1];
    library_version(says);
    const char *at = strstr(says, banner), *behind = at == NULL ? "." : at + strlen(banner);
    if (!isalnum((unsigned char)*behind) && *behind != '.')
        return 0;
    snprintf(why, WHY, "tuned for %.80s, this is %.100s", banner, says);
    return -1;
}

void library_set(const library_algorithm *t, int on)
{
    for (int i = 0; i < t->controls; i++)
        cvar_store(&t->control[i].cvar, on ? t->control[i].value : t->control[i].first);
}

/* Returns whether an operation is predefined and applies only to types without gaps. MPI_MAXLOC and MPI_MINLOC are
 * predefined, but they apply to pairs, which can have gaps. */
static int builtin(MPI_Op op)
{
    const MPI_Op known[] = {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (op == known[i])
            return 1;
    return 0;
}

/* Returns whether a call meets the requirements of an algorithm. Each requirement is one of the `bits`. The function looks
 * only at arguments that are the same on all ranks. Only algorithms of reductions have requirements on operations. */
static int can(unsigned bits, const arguments *a, const shape *s)
{
    int commutes = 1;
    if ((bits & TWO_RANKS) && s->ranks != 2)
        return 0;
    if ((bits & PARENT) && s->ppn < 2)
        return 0;
    if ((bits & ONE_NODE) && s->nodes != 1)
        return 0;
    if ((bits & BUILTIN_OP) && !builtin(a->op))
        return 0;
    if (bits & COMMUTATIVE)
        PMPI_Op_commutative(a->op, &commutes);
    if (!commutes || ((bits & COUNT_SIZE) && a->rcount < s->ranks))
        return 0;
    return !(bits & COUNT_POWER_OF_TWO) || a->rcount >= floor_power_of_two(s->ranks);
}

/* See library.h. A table states requirements on the number of elements only for reductions. In other collectives the
 * root may pass a different number with MPI_IN_PLACE, and ranks would decide differently. */
const library_algorithm *library_enter(const arguments *a, const algorithm *of, comm *c, uint64_t bytes, MPI_Comm *on)
{
    const library_algorithm *t = (const library_algorithm *)of; /* `of` is its first member */
    if ((bytes == 0 && a->what != BARRIER) || !can(of->needs, a, c->shape))
        return NULL;
    MPI_Comm at = t->fresh ? comm_switched(c, t) : c->handle;
    if (at == MPI_COMM_NULL)
        return NULL;
    *on = at;
    if (!t->fresh)
        library_set(t, 1);
    return t;
}

void library_leave(const library_algorithm *t, const comm *c, int error)
{
    if (!t->fresh)
        library_set(t, 0);
    else if (error != MPI_SUCCESS)
        PMPI_Comm_call_errhandler(c->handle, error);
}
