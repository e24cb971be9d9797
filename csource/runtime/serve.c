#include "bytes.h"
#include "serve.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A stage holds what libtutti needs while it serves a call: the buffers, and the address at which the result goes. */
typedef struct {
    call c;
    size_t bytes;          /* of a block, or of the message */
    char *packed[2];       /* bytes received, and sent */
    int unpacks;           /* the result is unpacked from packed[0] */
    void *unpack_to;
    int unpack_count;
    size_t unpack_bytes;
    char *vector;          /* elements of a reduction */
    int *starts, *counts;  /* of each rank, for allgatherv and reduce_scatter */
    tutti_block *places; /* of each rank, for alltoallv */
} stage;

/* Returns whether the elements of a type are contiguous bytes. Messages are sent as bytes, because ranks may describe
 * the same bytes by different types. MPICH and Open MPI pack a type into exactly its bytes. */
static int is_plain(MPI_Datatype type)
{
    MPI_Aint lower, extent;
    int size;
    if (!type_named(type))
        return 0;
    PMPI_Type_get_extent(type, &lower, &extent);
    PMPI_Type_size(type, &size);
    return lower == 0 && extent == size;
}

/* Allocates one of the stage's buffers, which are freed after the call. */
static char *buffer_of(stage *s, int which, size_t bytes)
{
    return s->packed[which] = memory(bytes);
}

/* Copies elements into elements of another type: the rank sends a message to itself. This is slower than
 * MPI_Pack and MPI_Unpack, but MPICH's versions of these do not accept MPI_BOTTOM. */
static void convert(const stage *s, const void *from, int n, MPI_Datatype type, void *to, int m, MPI_Datatype as)
{
    const call *c = &s->c;
    note(PMPI_Sendrecv(from, n, type, c->rank, TAG, to, m, as, c->rank, TAG, c->comm, MPI_STATUS_IGNORE));
}

/* Packs elements into contiguous bytes. */
static void pack(stage *s, char *to, size_t bytes, const void *from, int count, MPI_Datatype type)
{
    int at = 0;
    if (bytes == 0)
        return;
    if (is_plain(type))
        memmove(to, from, bytes);
    else if (from == MPI_BOTTOM)
        convert(s, from, count, type, to, (int)bytes, MPI_BYTE);
    else
        note(PMPI_Pack(from, count, type, to, (int)bytes, &at, s->c.comm));
}

static void unpack(stage *s, const char *from, int bytes, void *to, int count, MPI_Datatype type)
{
    int at = 0;
    if (to == MPI_BOTTOM)
        convert(s, from, bytes, MPI_BYTE, to, count, type);
    else
        note(PMPI_Unpack(from, bytes, &at, to, count, type, s->c.comm));
}

/* Returns the content of a buffer as contiguous bytes: the buffer itself, or a packed copy. */
static const char *as_bytes(stage *s, const void *buf, int count, MPI_Datatype type, size_t bytes)
{
    if (is_plain(type))
        return buf;
    char *to = buffer_of(s, 1, bytes);
    pack(s, to, bytes, buf, count, type);
    return to;
}

/* Returns the address for received bytes. It is the buffer itself, or other memory from which the bytes are
 * unpacked into the buffer after the call. */
static char *receives(stage *s, void *buf, int count, MPI_Datatype type, size_t bytes)
{
    if (is_plain(type))
        return buf;
    s->unpacks = 1;
    s->unpack_to = buf;
    s->unpack_count = count;
    s->unpack_bytes = bytes;
    return buffer_of(s, 0, bytes);
}

static char *element(void *buf, MPI_Aint i, MPI_Datatype type)
{
    MPI_Aint lower, extent;
    PMPI_Type_get_extent(type, &lower, &extent);
    return moved(buf, i * extent);
}

/* Copies the rank's own block to the place that it has among the gathered blocks. */
static void own_block(stage *s, const arguments *a)
{
    size_t n = s->bytes;
    int rank = s->c.rank;
    if (a->send != MPI_IN_PLACE)
        pack(s, s->c.data + (size_t)rank * n, n, a->send, (int)a->scount, a->stype);
    else if (s->unpacks)
        pack(s, s->c.data + (size_t)rank * n, n, element(a->recv, rank * a->rcount, a->rtype), (int)a->rcount, a->rtype);
}

static void prepare_allgather(stage *s, const arguments *a)
{
    s->c.data = receives(s, a->recv, s->c.size * (int)a->rcount, a->rtype, s->bytes * (size_t)s->c.size);
    own_block(s, a);
}

/* Allocates two arrays with one number for each rank, `starts` and `counts`. */
static void number_ranks(stage *s)
{
    s->starts = memory((size_t)s->c.size * 2 * sizeof *s->starts);
    s->counts = s->starts + s->c.size;
    s->c.starts = s->starts;
    s->c.counts = s->counts;
}

/* Prepares an allgatherv. If the type is plain and the displacements fit, blocks are received directly into the
 * buffer. Otherwise they are received packed, one after another. */
static void prepare_allgatherv(stage *s, const arguments *a)
{
    int size = (int)type_size(a->rtype), plain = is_plain(a->rtype), rank = s->c.rank;
    size_t all = 0;
    number_ranks(s);
    for (int r = 0; plain && r < s->c.size; r++)
        plain = displ_at(a, a->rdispls, r) >= 0 && displ_at(a, a->rdispls, r) <= INT_MAX / size - count_at(a, a->rcounts, r);
    for (int r = 0; r < s->c.size; r++) {
        s->counts[r] = (int)count_at(a, a->rcounts, r) * size;
        s->starts[r] = plain ? (int)displ_at(a, a->rdispls, r) * size : (int)all;
        all += (size_t)s->counts[r];
    }
    s->c.data = plain ? a->recv : buffer_of(s, 0, all);
    s->unpacks = !plain;
    if (a->send != MPI_IN_PLACE)
        pack(s, s->c.data + s->starts[rank], (size_t)s->counts[rank], a->send, (int)a->scount, a->stype);
    else if (!plain)
        pack(s, s->c.data + s->starts[rank], (size_t)s->counts[rank], element(a->recv, displ_at(a, a->rdispls, rank), a->rtype), (int)count_at(a, a->rcounts, rank), a->rtype);
}

/* Returns the blocks that this rank sends or receives in an alltoallv. The array `to` stores the count and the start of
 * each block. */
static tutti_blocks blocks_of(const arguments *a, const void *counts, const void *displs, MPI_Datatype type, int size, tutti_block *to)
{
    MPI_Aint lower, extent;
    PMPI_Type_get_extent(type, &lower, &extent);
    for (int r = 0; r < size; r++)
        to[r] = (tutti_block){count_at(a, counts, r), displ_at(a, displs, r) * extent};
    return (tutti_blocks){to, type};
}

/* Prepares an alltoallv. Nothing is packed, because its messages use the application's MPI types. */
static void prepare_alltoallv(stage *s, const arguments *a)
{
    call *c = &s->c;
    c->in_place = a->send == MPI_IN_PLACE;
    c->data = a->recv;
    c->send = a->send;
    s->places = memory(2 * (size_t)c->size * sizeof *s->places);
    c->receives = blocks_of(a, a->rcounts, a->rdispls, a->rtype, c->size, s->places);
    if (!c->in_place)
        c->sends = blocks_of(a, a->scounts, a->sdispls, a->stype, c->size, s->places + c->size);
}

static void prepare_alltoall(stage *s, const arguments *a)
{
    size_t all = s->bytes * (size_t)s->c.size;
    s->c.data = receives(s, a->recv, s->c.size * (int)a->rcount, a->rtype, all);
    if (a->send != MPI_IN_PLACE) {
        s->c.send = as_bytes(s, a->send, s->c.size * (int)a->scount, a->stype, all);
        return;
    }
    s->c.send = buffer_of(s, 1, all);
    pack(s, s->packed[1], all, a->recv, s->c.size * (int)a->rcount, a->rtype);
}

static void prepare_bcast(stage *s, const arguments *a)
{
    s->c.data = receives(s, a->recv, (int)a->rcount, a->rtype, s->bytes);
    if (s->c.rank != a->root)
        return;
    if (s->unpacks)
        pack(s, s->c.data, s->bytes, a->recv, (int)a->rcount, a->rtype);
    s->unpacks = 0;
}

static void prepare_gather(stage *s, const arguments *a)
{
    if (s->c.rank != a->root) {
        s->c.data = (char *)as_bytes(s, a->send, (int)a->scount, a->stype, s->bytes);
        return;
    }
    prepare_allgather(s, a);
}

static void prepare_scatter(stage *s, const arguments *a)
{
    if (s->c.rank == a->root)
        s->c.send = as_bytes(s, a->send, s->c.size * (int)a->scount, a->stype, s->bytes * (size_t)s->c.size);
    if (a->recv == MPI_IN_PLACE)
        s->c.data = buffer_of(s, 0, s->bytes);
    else
        s->c.data = receives(s, a->recv, (int)a->rcount, a->rtype, s->bytes);
}

/* Computes for each rank the number of elements before its block, and the sum of all counts. */
static void sum_counts(stage *s, const arguments *a)
{
    number_ranks(s);
    s->c.count = 0;
    for (int r = 0; r < s->c.size; r++) {
        s->counts[r] = (int)(a->what == REDUCE_SCATTER ? count_at(a, a->rcounts, r) : a->rcount);
        s->starts[r] = s->c.count;
        s->c.count += s->counts[r];
    }
}

/* Prepares a reduction. The result is computed in the receive buffer if MPI uses this buffer on the rank, otherwise
 * in memory that libtutti allocates. */
static void prepare_reduction(stage *s, const arguments *a)
{
    call *c = &s->c;
    MPI_Aint lower;
    c->type = a->rtype;
    c->op = a->op;
    c->plain = is_plain(a->rtype);
    PMPI_Type_get_extent(a->rtype, &lower, &c->extent);
    PMPI_Type_get_true_extent(a->rtype, &c->lower, &c->span);
    PMPI_Op_commutative(a->op, &c->commutative);
    c->count = (int)a->rcount;
    if (c->extent <= 0)
        return; /* overlapping elements: the MPI library serves the call */
    int scattered = a->what == REDUCE_SCATTER || a->what == REDUCE_SCATTER_BLOCK;
    if (scattered)
        sum_counts(s, a);
    int aside = scattered || (a->what == REDUCE && c->rank != a->root) ||
                (a->what == EXSCAN && c->rank == 0 && a->send != MPI_IN_PLACE);
    c->data = aside ? s->vector = scratch(c, c->count) : a->recv;
}

static void prepare(stage *s, const arguments *a)
{
    s->c.type = MPI_BYTE;
    s->c.extent = s->c.span = s->c.plain = s->c.commutative = 1;
    s->c.count = (int)s->bytes;
    switch (a->what) {
    case ALLGATHER: prepare_allgather(s, a); break;
    case ALLGATHERV: prepare_allgatherv(s, a); break;
    case ALLTOALLV: prepare_alltoallv(s, a); break;
    case ALLTOALL: prepare_alltoall(s, a); break;
    case BCAST: prepare_bcast(s, a); break;
    case GATHER: prepare_gather(s, a); break;
    case SCATTER: prepare_scatter(s, a); break;
    case ALLREDUCE: case EXSCAN: case REDUCE: case REDUCE_SCATTER: case REDUCE_SCATTER_BLOCK: case SCAN: prepare_reduction(s, a); break;
    case BARRIER: case COLLECTIVES: break;
    }
}

static void unpack_blocks(stage *s, const arguments *a)
{
    for (int r = 0; r < s->c.size; r++)
        if (s->counts[r] > 0)
            unpack(s, s->c.data + s->starts[r], s->counts[r], element(a->recv, displ_at(a, a->rdispls, r), a->rtype), (int)count_at(a, a->rcounts, r), a->rtype);
}

static void finish(stage *s, const arguments *a)
{
    int scattered = s->starts != NULL && collective_has(a->what, REDUCES);
    if (s->unpacks && s->starts != NULL)
        unpack_blocks(s, a);
    else if (s->unpacks)
        unpack(s, s->packed[0], (int)s->unpack_bytes, s->unpack_to, s->unpack_count, a->rtype);
    if (scattered)
        copy(&s->c, a->recv, at(&s->c, s->c.data, s->starts[s->c.rank]), s->counts[s->c.rank]);
}

static void clear(stage *s)
{
    if (s->vector != NULL)
        scratch_free(&s->c, s->vector);
    free(s->packed[0]);
    free(s->packed[1]);
    free(s->starts);
    free(s->places);
}

/* The largest number of elements that libtutti serves. Numbers of elements are ints, and algorithms add two of them.
 * The MPI library serves longer messages. */
#define MOST (INT_MAX / 2)

static int too_long(collective what, uint64_t bytes, int size)
{
    int of_one_rank = collective_has(what, BLOCKS_IN | BLOCKS_OUT) && !collective_has(what, REDUCES);
    if (collective_has(what, SIZES_DIFFER))
        return 0; /* each rank's own size, an int */
    if (of_one_rank && collective_has(what, VECTOR))
        bytes++; /* the size is a mean, rounded down */
    return bytes > (uint64_t)MOST / (uint64_t)(of_one_rank ? size : 1);
}

int serves_reductions = 1;

int serve(arguments *a, const pick *p, const place *on, uint64_t bytes)
{
    stage s = {.bytes = (size_t)bytes};
    call *c = &s.c;
    c->comm = on->comm;
    c->rank = on->rank;
    c->size = on->size;
    c->root = a->root;
    c->parameter = p->parameter;
    c->layout = on->layout;
    c->rows = on->rows;
    if (too_long(a->what, bytes, c->size) || (collective_has(a->what, REDUCES) && !serves_reductions))
        return 0;
    prepare(&s, a);
    int can = c->extent > 0 && repository_can(p->algorithm, c);
    if (can) {
        if (collective_has(a->what, REDUCES))
            copy(c, c->data, a->send != MPI_IN_PLACE ? a->send : a->recv, c->count);
        repository_run(p->algorithm, c);
        finish(&s, a);
    }
    clear(&s);
    a->error = noted_error();
    return can;
}
