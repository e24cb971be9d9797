/* sends CALL BYTES...   each rank makes one call, such as iallreduce or the persistent allreduce_init, with each number of
 *                       bytes, and prints how many messages MPICH over UCX sent for it: this program replaces UCX's
 *                       function ucp_tag_send_nbx. With other libraries it prints 0 */
#define _GNU_SOURCE
#include "workload.h"

#include <dlfcn.h>
#if defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define INIT(name) MPIX_##name##_init
#else
#define INIT(name) MPI_##name##_init
#endif
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

/* Makes one call of the persistent form. */
static int start_once(const workload *w)
{
    const void *from = w->args.from;
    void *to = w->args.to;
    const int count = w->args.to_count, from_count = w->args.from_count, root = w->form.root;
    const MPI_Datatype type = w->args.to_type, from_type = w->args.from_type;
    const MPI_Info info = MPI_INFO_NULL;
    MPI_Request r = MPI_REQUEST_NULL;
    switch (w->what) {
    case ALLGATHER: INIT(Allgather)(from, from_count, from_type, to, count, type, w->comm, info, &r); break;
    case ALLREDUCE: INIT(Allreduce)(from, to, count, type, w->op, w->comm, info, &r); break;
    case ALLTOALL: INIT(Alltoall)(from, from_count, from_type, to, count, type, w->comm, info, &r); break;
    case BCAST: INIT(Bcast)(to, count, type, root, w->comm, info, &r); break;
    case REDUCE: INIT(Reduce)(from, to, count, type, w->op, root, w->comm, info, &r); break;
    default: return MPI_ERR_INTERN;
    }
    MPI_Start(&r);
    int error = MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
    return error;
}

int main(int argc, char **argv)
{
    int rank;
    collective what;
    form f;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *init = argc < 3 ? NULL : strstr(argv[1], "_init");
    if (init != NULL)
        *init = 0;
    if (argc < 3 || !form_named(argv[1], &what, &f))
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 2; i < argc; i++) {
        workload w;
        char why[WHY];
        if (workload_make(&w, what, f, collective_count(what, atol(argv[i])), MPI_COMM_WORLD, why) != 0)
            MPI_Abort(MPI_COMM_WORLD, 2);
        workload_fill(&w, 1);
        long before = messages;
        int error = init != NULL ? start_once(&w) : workload_call(&w);
        long sent = messages - before;
        printf("%s bytes rank %d: %ld messages%s\n", argv[i], rank, sent, error == MPI_SUCCESS && workload_right(&w, 1, why) ? "" : ", wrong");
        fflush(stdout);
        workload_free(&w);
    }
    MPI_Finalize();
    return 0;
}
