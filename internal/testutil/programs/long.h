/* A program that includes this file at its beginning calls the collectives with long counts. */
#include <mpi.h>
#include <stdlib.h>

typedef struct {
    MPI_Count *counts;
    MPI_Aint *displs;
} long_arrays;

static inline long_arrays long_of(const int *counts, const int *displs, MPI_Comm on)
{
    int n;
    MPI_Comm_size(on, &n);
    long_arrays a = {malloc((size_t)n * sizeof *a.counts), malloc((size_t)n * sizeof *a.displs)};
    for (int i = 0; i < n; i++) {
        a.counts[i] = counts == NULL ? 0 : counts[i];
        a.displs[i] = displs == NULL ? 0 : displs[i];
    }
    return a;
}

static inline int long_end(int error, long_arrays a)
{
    free(a.counts);
    free(a.displs);
    return error;
}

static inline int long_allgatherv(const void *from, int n, MPI_Datatype t, void *to, const int *counts, const int *displs, MPI_Datatype u, MPI_Comm on)
{
    long_arrays a = long_of(counts, displs, on);
    return long_end(MPI_Allgatherv_c(from, n, t, to, a.counts, a.displs, u, on), a);
}

static inline int long_alltoallv(const void *from, const int *n, const int *at, MPI_Datatype t, void *to, const int *counts, const int *displs,
                                 MPI_Datatype u, MPI_Comm on)
{
    long_arrays a = long_of(n, at, on), b = long_of(counts, displs, on);
    return long_end(long_end(MPI_Alltoallv_c(from, a.counts, a.displs, t, to, b.counts, b.displs, u, on), a), b);
}

static inline int long_reduce_scatter(const void *from, void *to, const int *counts, MPI_Datatype t, MPI_Op op, MPI_Comm on)
{
    long_arrays a = long_of(counts, NULL, on);
    return long_end(MPI_Reduce_scatter_c(from, to, a.counts, t, op, on), a);
}

#define MPI_Allgather MPI_Allgather_c
#define MPI_Allgatherv long_allgatherv
#define MPI_Allreduce MPI_Allreduce_c
#define MPI_Alltoall MPI_Alltoall_c
#define MPI_Alltoallv long_alltoallv
#define MPI_Bcast MPI_Bcast_c
#define MPI_Exscan MPI_Exscan_c
#define MPI_Gather MPI_Gather_c
#define MPI_Reduce MPI_Reduce_c
#define MPI_Reduce_scatter long_reduce_scatter
#define MPI_Reduce_scatter_block MPI_Reduce_scatter_block_c
#define MPI_Scan MPI_Scan_c
#define MPI_Scatter MPI_Scatter_c
