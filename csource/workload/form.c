#include "workload.h"

#include <stdio.h>
#include <string.h>

int form_named(const char *name, collective *what, form *f)
{
    memset(f, 0, sizeof *f);
    f->nonblocking = name[0] == 'i';
    name += f->nonblocking;
    return collective_named(name, strlen(name), what) && form_exists(*f, *what);
}

/* Returns the number of elements in a message. A message that is not empty has at least one. */
int collective_count(collective what, long bytes)
{
    long size = (long)element_bytes(what);
    return bytes == 0 ? 0 : bytes < size ? 1 : (int)(bytes / size);
}

/* Returns whether a collective has calls of the given form (see `form` in workload.h). Predefined operations do
 * not accept derived types. Arguments can be null only if MPI ignores them on some rank. */
int form_exists(form f, collective what)
{
    int reduces = collective_has(what, REDUCES), counts = collective_has(what, VECTOR);
    int ignored = (collective_has(what, ROOTED) && what != BCAST) || (f.in_place && !reduces);
    if ((f.nulls && !ignored) || (f.counts && (!f.gaps || reduces)) || (f.nonblocking && !collective_has(what, OVERLAPS)))
        return 0;
    return (f.root == 0 || collective_has(what, ROOTED)) && (!f.in_place || (what != BARRIER && what != BCAST)) &&
           (!f.gaps || (what != BARRIER && (!reduces || f.op != BUILTIN))) && (f.op == BUILTIN || reduces) && (!f.uneven || counts);
}

int forms(int size) { return 32 * OPERATIONS * size; }

form form_at(int n, int size)
{
    int bits = n / size / OPERATIONS;
    form f = {n % size, bits & 1, bits >> 1 & 1, bits >> 4 & 1, bits >> 2 & 1, (operation)(n / size % OPERATIONS), bits >> 3 & 1, 0};
    return f;
}

void form_name(form f, char *text)
{
    static const char *const ops[OPERATIONS] = {"", "own operation", "ordered operation"};
    const struct {
        int holds;
        const char *name;
    } parts[] = {{f.in_place, "in place"}, {f.gaps, "derived type"}, {f.counts, "different counts"}, {f.uneven, "uneven counts"}, {f.nulls, "null arguments"}, {f.op != BUILTIN, ops[f.op]}, {f.nonblocking, "nonblocking"}};
    int used = snprintf(text, WHY, "root %d", f.root);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].holds)
            used += snprintf(text + used, (size_t)(WHY - used), ", %s", parts[i].name);
}
