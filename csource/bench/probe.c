#include "native.h"

#include <stdio.h>
#include <string.h>

/* MPICH names the functions it was in when a message was longer than the receiver
 * said. So one process calls with another length than the rest, and the error
 * says which algorithm ran. It is a process that hands nothing on: one that is told
 * of an error may keep what others wait for, as in the scatter of a broadcast. The
 * last process is a leaf of every tree, and the root one of those that lead to it.
 *
 * That is safe only where an algorithm goes on after such an error, so that nobody
 * waits for a message that is never sent: known of 4.0, where errors inside a
 * collective are noted and returned at the end; later releases return early. Messages
 * that nobody took stay on the communicator, which therefore serves one probe. */
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

/* Names of algorithms in an error stack, outermost first, each once. */
static void algorithms(const char *stack, char *seen)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    for (const char *p = stack; (p = strstr(p, "MPI")) != NULL;) {
        char name[128];
        size_t n = strspn(p, letters), room = WHY - strlen(seen) - 2;
        snprintf(name, sizeof name, "%.*s", (int)n, p);
        p += n;
        int one = strstr(name, "_intra_") != NULL || strstr(name, "_allcomm_") != NULL;
        if (!one || strstr(name, "_auto") != NULL || strstr(seen, name) != NULL || n >= room)
            continue;
        if (*seen)
            strcat(seen, " ");
        strcat(seen, name);
    }
}

/* Calls with different lengths. seen (WHY bytes) has the names on rank 0, empty
 * when there was nothing to see. */
void probe_run(const control *c, MPI_Comm comm, collective what, char *seen)
{
    const form plain = {0, 0, 0, 0, BUILTIN};
    workload w;
    fault f;
    char text[MPI_MAX_ERROR_STRING + 1], why[WHY];
    int length = 0;
    int to_root = what == GATHER || what == REDUCE, few = collective_reduces(what) || what == BCAST ? 4 * c->size : 4;
    int factor = what == ALLGATHER || what == ALLGATHERV ? c->size + 1 : 2; /* they receive into all the room they have */
    int brief = to_root ? 0 : c->size - 1; /* who gets more than it says */
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
