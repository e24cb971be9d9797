/* wrong HANDLER WHEN: makes wrong calls on a communicator with MPI_ERRORS_RETURN (HANDLER return) or with its own error handler
 * (HANDLER user). The handler is set before other calls (WHEN early) or after them. For each call every rank prints the class of
 * the error, how often the handler was called, and how often with another communicator. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static MPI_Comm comm;
static int called, elsewhere;

static void handler(MPI_Comm *on, int *code, ...)
{
    (void)code;
    called++;
    elsewhere += *on != comm;
}

static void set_handler(const char *how)
{
    MPI_Errhandler e = MPI_ERRORS_RETURN;
    if (strcmp(how, "user") == 0)
        MPI_Comm_create_errhandler(handler, &e);
    MPI_Comm_set_errhandler(comm, e);
}

enum { CALLS = 21, INTS = 64 };

/* Makes one of the calls. Call 0 is right. The last ones are wrong on some ranks only. */
static int attempt(int which, int rank, int size)
{
    int a[INTS] = {0}, b[INTS], counts[16], displs[16];
    double d[4] = {1, 2, 3, 4}, sum[4];
    MPI_Datatype uncommitted;
    MPI_Type_contiguous(3, MPI_INT, &uncommitted);
    for (int i = 0; i < 16; i++)
        counts[i] = 1, displs[i] = i;
    switch (which) {
    case 0: return MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 1, MPI_INT, comm);
    case 1: return MPI_Bcast(a, INTS, MPI_INT, size + 5, comm);
    case 2: return MPI_Bcast(a, INTS, MPI_INT, -1, comm);
    case 3: return MPI_Gather(a, 2, MPI_INT, b, 2, MPI_INT, size, comm);
    case 4: return MPI_Scatter(b, 2, MPI_INT, a, 2, MPI_INT, -7, comm);
    case 5: return MPI_Reduce(a, b, 4, MPI_INT, MPI_SUM, size + 1000000, comm);
    case 6: return MPI_Allreduce(d, sum, 4, MPI_DOUBLE, MPI_BXOR, comm);
    case 7: return MPI_Allreduce(a, b, 4, MPI_INT, MPI_OP_NULL, comm);
    case 8: return MPI_Scan(d, sum, 4, MPI_DOUBLE, MPI_MAXLOC, comm);
    case 9: return MPI_Allreduce(a, a, 4, MPI_INT, MPI_SUM, comm);
    case 10: return MPI_Reduce_scatter_block(b, b, 1, MPI_INT, MPI_SUM, comm);
    case 11: return MPI_Allgather(b + rank, 1, MPI_INT, b, 1, MPI_INT, comm);
    case 12: return MPI_Bcast(a, -3, MPI_INT, 0, comm);
    case 13: counts[1] = -1; return MPI_Allgatherv(a, counts[rank], MPI_INT, b, counts, displs, MPI_INT, comm);
    case 14: return MPI_Bcast(a, 4, MPI_DATATYPE_NULL, 0, comm);
    case 15: return MPI_Bcast(a, 4, uncommitted, 0, comm);
    case 16: return MPI_Alltoallv(a, counts, displs, MPI_INT, b, counts, displs, uncommitted, comm);
    case 17: return MPI_Bcast(NULL, 4, MPI_INT, 0, comm);
    case 18: return MPI_Allreduce(a, MPI_IN_PLACE, 4, MPI_INT, MPI_SUM, comm);
    case 19:
        a[3] = rank == 0;
        int e = MPI_Bcast(a, rank == 1 ? 2 : 4, MPI_INT, 0, comm);
        return e == MPI_SUCCESS && a[3] != 1 ? MPI_ERR_INTERN : e; /* short data without an error */
    default: return MPI_Reduce(a, rank == 0 ? a : NULL, 4, MPI_INT, MPI_SUM, 0, comm);
    }
}

int main(int argc, char **argv)
{
    int rank, size, a[INTS] = {0}, b[INTS];
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* on which Open MPI raises some errors */
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    if (strcmp(argv[2], "early") == 0)
        set_handler(argv[1]);
    for (int i = 0; i < 6; i++) {
        MPI_Bcast(a, INTS, MPI_INT, 0, comm);
        MPI_Allreduce(a, b, INTS, MPI_INT, MPI_SUM, comm);
    }
    if (strcmp(argv[2], "late") == 0)
        set_handler(argv[1]);
    for (int i = 0; i < CALLS; i++) {
#ifdef OPEN_MPI
        if (i == 13 || i == 17 || i > 18)
            continue; /* Open MPI itself waits forever or crashes */
#endif
        int class = MPI_SUCCESS;
        called = elsewhere = 0;
        MPI_Error_class(attempt(i, rank, size), &class);
        printf("call %d rank %d class %d handler %d %d\n", i, rank, class, called, elsewhere);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
