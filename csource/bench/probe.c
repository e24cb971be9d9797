#include "native.h"

#include <stdio.h>
#include <string.h>

/* Returns whether a probe can detect the algorithm of a collective. A probe reads an error message of MPICH. One
 * process makes the call with another length than the others. If a message is longer than its receiver expects,
 * MPICH's error names the functions that were running. A process with an error may keep data that others wait for,
 * as in the scatter of a broadcast. The process that gets the error must therefore forward no data. In collectives
 * that send data to a root this process is the root. In the others it is the last process, which is a leaf of every
 * tree.
 *
 * The probe is safe only if an algorithm continues after such an error, so that no process waits for a message that is
 * never sent. MPICH 4.0 is known to return errors inside a collective at its end; later releases return early.
 * Unreceived messages remain on the communicator, which is therefore used for only one probe. */
int probe_possible(collective what, const char *library)
{
    const char *format = "MPICH Version:";
    const char *at = strstr(library, format);
    if (at == NULL || what == BARRIER)
        return 0;
    at += strlen(format);
    at += strspn(at, " \t");
    return strncmp(at, "4.0", 3) == 0 && (at[3] == '.' || at[3] == '\n' || at[3] == 0);
}

/* Collects the names of algorithms in an error stack, outermost first, each name once. */
static void algorithms(const char *stack, char *seen)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    for (const char *p = stack; (p = strstr(p, "MPI")) != NULL;) {
        char name[128];
        size_t n = strspn(p, letters), left = WHY - strlen(seen) - 2;
        snprintf(name, sizeof name, "%.*s", (int)n, p);
        p += n;
        int one = strstr(name, "_intra_") != NULL || strstr(name, "_allcomm_") != NULL;
        if (!one || strstr(name, "_auto") != NULL || strstr(seen, name) != NULL || n >= left)
            continue;
        if (*seen)
            strcat(seen, " ");
        strcat(seen, name);
    }
}

/* Makes the call of a probe: one process passes a different length than the others, so that an error names the
 * algorithm. Writes the names of the algorithms to `seen` (WHY bytes), on all ranks. The text is empty if none
 * was detected. */
void probe_run(const control *c, MPI_Comm comm, collective what, char *seen)
{
    const form plain = {0, 0, 0, 0, 0, BUILTIN, 0, 0};
    workload w;
    fault f;
    char text[MPI_MAX_ERROR_STRING + 1], why[WHY];
    int length = 0;
    int to_root = collective_has(what, TO_ROOT), few = collective_has(what, REDUCES) || what == BCAST ? 4 * c->size : 4;
    int factor = what == ALLGATHER || what == ALLGATHERV ? c->size + 1 : 2; /* a process receives as much as fits into its buffer */
    int brief = to_root ? 0 : c->size - 1; /* the rank that receives more than it passes */
    int count = c->rank == brief ? few : factor * few;
    fault_none(&f);
    if (workload_make(&w, what, plain, count, comm, why) == 0) {
        workload_fill(&w, 0);
        int error = workload_call(&w);
        if (error != MPI_SUCCESS && MPI_Error_string(error, text, &length) == MPI_SUCCESS)
            algorithms(text, f.why);
        workload_free(&w);
    }
    if (f.why[0])
        f.rank = c->rank;
    control_agree(c, &f);
    strcpy(seen, f.why);
}
