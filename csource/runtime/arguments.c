#include "bytes.h"
#include "comm.h"
#include "serve.h"

#include <limits.h>

/* Returns whether the MPI library accepts a buffer. To find out, it sends a message to MPI_PROC_NULL, which is
 * checked but not sent. */
static int accepts(const void *buf, MPI_Count count, MPI_Datatype type)
{
    if (buf == MPI_IN_PLACE || count < 0 || type == MPI_DATATYPE_NULL)
        return 0;
    return PMPI_Send(buf, bytes_of(count, type) > 0 && count <= INT_MAX ? (int)count : 0, type, MPI_PROC_NULL, TAG, comm_alone) == MPI_SUCCESS;
}

/* Returns whether the MPI library applies an operation to a type. To find out, it makes a reduction without elements,
 * which is only checked. */
static int applies(MPI_Op op, MPI_Datatype type)
{
    int none;
    return op != MPI_OP_NULL && PMPI_Allreduce(MPI_IN_PLACE, &none, 0, type, op, comm_alone) == MPI_SUCCESS;
}

/* Returns the largest count, or -1 if a count is negative. */
static MPI_Count largest(const arguments *a, const void *counts, int size)
{
    MPI_Count most = 0;
    for (int r = 0; r < size; r++) {
        MPI_Count n = count_at(a, counts, r);
        most = n < 0 || most < 0 ? -1 : n > most ? n : most;
    }
    return most;
}

/* Returns whether the MPI library refuses the call because its send and receive buffers are the same memory. Not every
 * library refuses it. In a gather, the root's block is compared instead of its whole receive buffer. */
static int aliased(const arguments *a, MPI_Count scount, MPI_Count rcount, int rank)
{
    MPI_Aint lower, extent;
    void *to = a->recv;
    if (collective_has(a->what, REDUCES))
        return a->send == to && rcount > 0;
    if (a->scounts != NULL && (a->stype != a->rtype || a->scounts != a->rcounts))
        return 0; /* no library refuses it, and a gather would write to the buffer */
    PMPI_Type_get_extent(a->rtype, &lower, &extent);
    if (collective_has(a->what, BLOCKS_OUT) && !collective_has(a->what, BLOCKS_IN))
        to = moved(to, (a->rdispls != NULL ? displ_at(a, a->rdispls, rank) : rank * rcount) * extent);
    return a->send == to && scount > 0 && PMPI_Gather(a->send, (int)scount, a->stype, to, (int)rcount, a->rtype, 0, comm_alone) != MPI_SUCCESS;
}

/* Returns the largest number of elements that a rank sends to another rank. */
static MPI_Count sent_count(const arguments *a, int size)
{
    if (a->scounts != NULL || a->what == REDUCE_SCATTER)
        return largest(a, a->scounts != NULL ? a->scounts : a->rcounts, size);
    return collective_has(a->what, REDUCES) ? a->rcount : a->scount;
}

/* Returns the largest number of elements that a rank receives from another rank. */
static MPI_Count received_count(const arguments *a, int rank, int size)
{
    MPI_Count most = a->rcounts != NULL ? largest(a, a->rcounts, size) : a->rcount;
    return a->what == REDUCE_SCATTER && a->send != MPI_IN_PLACE && most > 0 ? count_at(a, a->rcounts, rank) : most;
}

int arguments_valid(const arguments *a, int rank, int size)
{
    int to_root = collective_has(a->what, TO_ROOT), from_root = collective_has(a->what, FROM_ROOT);
    int is_root = !(to_root || from_root) || rank == a->root;
    int in_place = is_root && a->send == MPI_IN_PLACE && a->what != SCATTER, placed = is_root && a->recv == MPI_IN_PLACE && a->what == SCATTER;
    int sends = a->what != BARRIER && a->what != BCAST && !in_place && (is_root || !from_root);
    int gets = a->what != BARRIER && !placed && (is_root || !to_root) && (a->what != EXSCAN || rank > 0 || in_place);
    MPI_Count scount = sends ? sent_count(a, size) : 0, rcount = gets ? received_count(a, rank, size) : 0;
    if ((to_root || from_root) && (a->root < 0 || a->root >= size))
        return 0;
    if (sends && !accepts(a->send, scount, collective_has(a->what, REDUCES) ? a->rtype : a->stype))
        return 0;
    if (gets && !accepts(a->recv, rcount, a->rtype))
        return 0;
    if (collective_has(a->what, REDUCES) && !applies(a->op, a->rtype))
        return 0;
    if (scount > INT_MAX || rcount > INT_MAX)
        return collective_has(a->what, SIZES_DIFFER); /* in other calls the ranks disagree: calls with so many elements are not served */
    return !sends || !gets || !aliased(a, scount, rcount, rank);
}
