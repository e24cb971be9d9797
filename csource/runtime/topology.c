#include "layout.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Reads a topology. Its first line is "tutti-topology 1". Each further line describes a node: the node's name,
 * then the switches above it, from the outermost to the innermost. Single blanks separate them. All nodes have the
 * same number of switches. */

enum { MOST_LEVELS = 16 };

typedef struct {
    char *name;
    int path[MOST_LEVELS]; /* numbers of switches, then the number of the line */
} spot;

static spot *spots; /* in depth-first order; the names point into `kept` */
static char *kept;
static int nspots, nlevels;
static int *paths;

static int refuse(char *why, int line, const char *want)
{
    snprintf(why, WHY, "line %d: want %s", line, want);
    return -1;
}

/* Returns the number of a switch: the number of the first node below it. The search starts at the previous node,
 * because files list neighboring nodes together. */
static int number_of(char **names, const spot *at, int level)
{
    for (int i = nspots; i-- > 0;)
        if (strcmp(names[(long)i * MOST_LEVELS + level], names[(long)nspots * MOST_LEVELS + level]) == 0)
            return spots[i].path[level];
    return (int)(at - spots);
}

static int read_node(char *p, int line, char **names, char *why)
{
    spot *s = &spots[nspots];
    int n = 0;
    s->name = p;
    while ((p = strchr(p, ' ')) != NULL && n < MOST_LEVELS - 1) {
        *p++ = 0;
        names[(long)nspots * MOST_LEVELS + n++] = p;
    }
    if (p != NULL || *s->name == 0 || (nspots > 0 && n + 1 != nlevels))
        return refuse(why, line, "NODE SWITCH..., with as many switches as the line before, 15 at most");
    for (int i = 0; i < n; i++)
        if (*names[(long)nspots * MOST_LEVELS + i] == 0)
            return refuse(why, line, "single blanks between words");
    nlevels = n + 1;
    for (int i = 0; i < n; i++)
        s->path[i] = number_of(names, s, i);
    s->path[n] = nspots++;
    return 0;
}

static int by_path(const void *a, const void *b)
{
    const spot *x = a, *y = b;
    for (int i = 0; i < nlevels; i++)
        if (x->path[i] != y->path[i])
            return x->path[i] < y->path[i] ? -1 : 1;
    return 0;
}

static int by_name(const void *a, const void *b) { return strcasecmp(*(char *const *)a, *(char *const *)b); }

/* Returns whether every node is listed only once. */
static int unique(void)
{
    char **names = allocate((size_t)nspots + 1, sizeof *names);
    int same = 0;
    for (int i = 0; i < nspots; i++)
        names[i] = spots[i].name;
    qsort(names, (size_t)nspots, sizeof *names, by_name);
    for (int i = 1; i < nspots; i++)
        same += strcasecmp(names[i - 1], names[i]) == 0;
    free(names);
    return same == 0;
}

static int read_lines(char *why)
{
    int lines = 1, line = 1, failed = 0;
    for (const char *c = kept; *c; c++)
        lines += *c == '\n';
    spots = allocate((size_t)lines, sizeof *spots);
    char **names = allocate((size_t)lines * MOST_LEVELS, sizeof *names);
    for (char *p = kept, *end; !failed && *p; p = end + 1, line++) {
        end = strchr(p, '\n');
        if (end == NULL) {
            failed = refuse(why, line, "a line that ends");
            break;
        }
        *end = 0;
        if (line == 1)
            failed = strcmp(p, "tutti-topology 1") != 0 ? refuse(why, line, "tutti-topology 1") : 0;
        else if (*p != '#')
            failed = read_node(p, line, names, why);
    }
    free(names);
    if (!failed && nspots == 0)
        failed = refuse(why, line, "a node");
    if (!failed && !unique())
        failed = refuse(why, line - 1, "each node once");
    return failed;
}

/* Returns the number of outermost levels that have one switch for all nodes. These levels distinguish no nodes. */
static int common_levels(void)
{
    for (int top = 0; top < nlevels - 1; top++)
        for (int i = 1; i < nspots; i++)
            if (spots[i].path[top] != spots[0].path[top])
                return top;
    return nlevels - 1;
}

int topology_read(char *text, size_t length, char *why)
{
    kept = allocate(length + 1, 1);
    memcpy(kept, text, length);
    if (read_lines(why)) {
        nspots = nlevels = 0;
        return -1;
    }
    qsort(spots, (size_t)nspots, sizeof *spots, by_path);
    int top = common_levels();
    nlevels -= top;
    paths = allocate((size_t)nspots * (size_t)nlevels, sizeof *paths);
    for (int i = 0; i < nspots; i++)
        memcpy(paths + (long)i * nlevels, spots[i].path + top, (size_t)nlevels * sizeof *paths);
    return 0;
}

/* Returns whether two names are equal up to the first dot. */
static int same_short(const char *a, const char *b)
{
    size_t n = strcspn(a, "."), m = strcspn(b, ".");
    return n == m && strncasecmp(a, b, n) == 0;
}

/* The rule is that of topology.Names: the full name counts. A name without a domain stands for one with a domain only
 * if no other node has the same short name. Upper and lower case are equal. */
int topology_place(const char *host)
{
    int found = -1, n = 0;
    for (int i = 0; i < nspots; i++)
        if (strcasecmp(spots[i].name, host) == 0)
            return i;
    for (int i = 0; i < nspots; i++)
        if (same_short(spots[i].name, host)) {
            found = i;
            n++;
        }
    return n == 1 && (strchr(spots[found].name, '.') == NULL || strchr(host, '.') == NULL) ? found : -1;
}

int topology_levels(void) { return nlevels; }

const int *topology_path(void) { return paths; }
