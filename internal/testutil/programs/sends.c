/* sends COLL BYTES...   each rank makes one call of the collective, such as iallreduce, with each number of bytes, and prints
 *                       how many messages the MPI library sent for it. Only for MPICH over UCX, whose function
 *                       ucp_tag_send_nbx this program replaces */
#define _GNU_SOURCE
#include "workload.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long messages;

void *ucp_tag_send_nbx(void *to, const void *data, size_t count, unsigned long tag, const void *parameters);

void *ucp_tag_send_nbx(void *to, const void *data, size_t count, unsigned long tag, const void *parameters)
{
    static void *(*real)(void *, const void *, size_t, unsigned long, const void *);
    if (real == NULL) {
        void *found = dlsym(RTLD_NEXT, "ucp_tag_send_nbx");
        memcpy(&real, &found, sizeof real);
    }
    messages++;
    return real(to, data, count, tag, parameters);
}

int main(int argc, char **argv)
{
    int rank;
    collective what;
    form f;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 3 || !form_named(argv[1], &what, &f))
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 2; i < argc; i++) {
        workload w;
        char why[WHY];
        if (workload_make(&w, what, f, collective_count(what, atol(argv[i])), MPI_COMM_WORLD, why) != 0)
            MPI_Abort(MPI_COMM_WORLD, 2);
        workload_fill(&w, 1);
        long before = messages;
        int error = workload_call(&w);
        long sent = messages - before;
        printf("%s bytes rank %d: %ld messages%s\n", argv[i], rank, sent, error == MPI_SUCCESS && workload_right(&w, 1, why) ? "" : ", wrong");
        fflush(stdout);
        workload_free(&w);
    }
    MPI_Finalize();
    return 0;
}
