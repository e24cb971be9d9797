/* tutti-conformance [split] [-ALGORITHM] COUNT...: compares the result of every algorithm of libtutti with the result that MPI requires.
 * If TUTTI_ALGORITHMS names objects with algorithms of users, these are tested instead. Rank 0 prints the errors and the number of cases.
 *
 *   split       tests communicators of all sizes
 *   -ALGORITHM  leaves one algorithm out
 *   COUNT       elements of a block or vector; + means one more than the number of ranks
 *
 * Calls have the forms below, on synthetic layouts. The flag that messages can carry (repository.h) is tested, too: where every rank
 * receives data from all others, all ranks must receive a flag that one rank raised. */
#include "bytes.h"
#include "serve.h"
#include "users.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Forms of a call.
 *   MIXED    ranks describe the same ints by different types; in a reduction the type has a hole
 *   ORDERED  the operation does not commute
 *   BOTTOM   every second rank passes MPI_BOTTOM with types of absolute addresses; the others pass NULL where they send or
 *            receive nothing; reductions, and calls whose root has an odd number, are in place */
enum { PLAIN, IN_PLACE, MIXED, ORDERED, BOTTOM, FORMS };
static const char *const forms[FORMS] = {"plain", "in place", "mixed types", "ordered", "MPI_BOTTOM"};

enum { LAYOUTS = 3 };

static int rank, size, root, where, count, capacity; /* where: layout; capacity: ints of a buffer */
static MPI_Comm tested;
static MPI_Datatype spread, pair, holed; /* every second int; two ints; two ints and a hole */
static MPI_Op compose, add;
static layout *layouts[LAYOUTS];
static const char *without = "";
static int only_users;
static int *sent, *want, *got, *counts, *displs, *scounts, *sdispls;

/* Composes maps x -> a x + b modulo 2^32, which do not commute: (a, b) after (c, d). */
static void compose_maps(void *in, void *inout, int *n, MPI_Datatype *type)
{
    MPI_Aint lower, extent;
    PMPI_Type_get_extent(*type, &lower, &extent);
    for (int i = 0; i < *n; i++) {
        unsigned *a = (unsigned *)(void *)((char *)in + i * extent), *b = (unsigned *)(void *)((char *)inout + i * extent);
        b[1] += a[1] * b[0];
        b[0] *= a[0];
    }
}

/* Adds ints. The type may have absolute addresses. */
static void add_ints(void *in, void *inout, int *n, MPI_Datatype *type)
{
    MPI_Aint begin, length;
    PMPI_Type_get_true_extent(*type, &begin, &length);
    for (int i = 0; i < *n; i++)
        ((int *)(void *)moved(inout, begin))[i] += ((int *)(void *)moved(in, begin))[i];
}

static int in_place(collective what, int form) { return form == IN_PLACE || (form == BOTTOM && (root % 2 != 0 || collective_has(what, REDUCES))); }

static int possible(collective what, int form)
{
    if (form == ORDERED)
        return collective_has(what, REDUCES);
    return form != IN_PLACE || (what != BARRIER && what != BCAST);
}

/* Returns the number of elements that a rank sends to another rank in an alltoallv. */
static int block_to(int from, int to) { return count + (3 * from + to) % 3 - (count > 0); }

static int block_in_place(int one, int other) { return block_to(one < other ? one : other, one < other ? other : one); }

/* Returns the MPI type of rank r's send buffer or, if `received` is 1, of its receive buffer. In a reduction both
 * types are the same on all ranks. */
static MPI_Datatype type_of(collective what, int form, int r, int received)
{
    if (collective_has(what, REDUCES))
        return form == ORDERED ? pair : form == MIXED ? holed : MPI_INT;
    if (form != MIXED || r % 2 != 0)
        return MPI_INT;
    return !received || r % 4 == 0 ? spread : MPI_INT;
}

static void take_counts(const arguments *a, int form)
{
    int at = 0, to = 0;
    for (int r = 0; r < size; r++) {
        counts[r] = a->what == ALLTOALLV && in_place(ALLTOALLV, form) ? block_in_place(r, rank) : a->what == ALLTOALLV ? block_to(r, rank) : count + r % 3 - (count > 0);
        scounts[r] = block_to(rank, r);
        displs[r] = at;
        sdispls[r] = to + 1;
        at += counts[r] + r % 2;
        to += scounts[r] + 1;
    }
}

static arguments arguments_of(collective what, int form)
{
    arguments a = {.what = what, .send = sent, .scount = count, .stype = type_of(what, form, rank, 0), .recv = got, .rcount = count,
                   .rtype = type_of(what, form, rank, 1), .rcounts = counts, .rdispls = displs, .scounts = scounts, .sdispls = sdispls,
                   .op = form == MIXED || form == ORDERED ? compose : MPI_SUM, .root = root};
    int is_root = rank == root;
    take_counts(&a, form);
    if (collective_has(what, VECTOR))
        a.scount = counts[rank];
    if (in_place(what, form) && what == SCATTER)
        a.recv = is_root ? MPI_IN_PLACE : got;
    else if (in_place(what, form) && (is_root || !collective_has(what, TO_ROOT)))
        a.send = MPI_IN_PLACE;
    return a;
}

/* Returns the initial value of int i in rank r's send buffer. In its receive buffer the initial value is larger by 1. */
static int raw(int r, long i) { return r * 1000 + (int)i * 7 + 3; }

/* Returns whether rank r passes its contribution in its receive buffer, at the place of the result. */
static int contributes_in_place(const arguments *a, int form, int r)
{
    return in_place(a->what, form) && collective_has(a->what, BLOCKS_OUT) && (!collective_has(a->what, TO_ROOT) || r == root);
}

/* Returns the i-th int that rank r contributes, counted from element `from` of its buffer. */
static int item(const arguments *a, int form, int r, long from, long i)
{
    long step = type_of(a->what, form, r, a->what == BCAST) == spread ? 2 : 1;
    return raw(r, (from + i) * step) + (contributes_in_place(a, form, r) || (a->what == BCAST && r == root));
}

/* Writes n ints that rank r contributes into this rank's expected result. It copies them from element `from`
 * of rank r's buffer to element `to` of the result. */
static void place_ints(const arguments *a, int form, int r, long from, long to, int n)
{
    long step = a->rtype == spread ? 2 : 1;
    for (int i = 0; i < n; i++)
        want[(to + i) * step] = item(a, form, r, from, i);
}

/* Returns the number of elements before the block for this rank in rank r's send buffer of an alltoallv. In place, they are
 * those of its receive buffer. */
static long before_this_rank(int placed, int r)
{
    long n = !placed;
    for (int k = 0; k < rank; k++)
        n += placed ? block_in_place(k, r) + k % 2 : block_to(r, k) + 1;
    return n;
}

/* Writes the part of this rank's expected result that comes from rank r, if the collective does not reduce. */
static void expect_block(const arguments *a, int form, int r)
{
    int vector = collective_has(a->what, VECTOR), blocks_in = collective_has(a->what, BLOCKS_IN);
    long from = 0, to = !collective_has(a->what, BLOCKS_OUT) ? 0 : vector ? displs[r] : (long)r * count;
    if ((collective_has(a->what, FROM_ROOT) && r != root) || (collective_has(a->what, TO_ROOT) && rank != root) || a->recv == MPI_IN_PLACE)
        return;
    if (blocks_in)
        from = vector ? before_this_rank(in_place(a->what, form), r) : (long)rank * count;
    else if (contributes_in_place(a, form, r))
        from = to;
    place_ints(a, form, r, from, to, vector ? counts[r] : count);
}

/* Returns how many elements of a reduced vector precede rank r's block. */
static int before_block(const arguments *a, int r)
{
    int n = 0;
    for (int i = 0; i < r; i++)
        n += a->what == REDUCE_SCATTER ? counts[i] : count;
    return n;
}

/* Computes this rank's expected result of a reduction. In a scan, ranks above this rank do not contribute. */
static void expect_reduction(const arguments *a, int form)
{
    MPI_Aint lower, extent;
    int scattered = a->what == REDUCE_SCATTER || a->what == REDUCE_SCATTER_BLOCK, none = 1;
    int n = a->what == REDUCE_SCATTER ? counts[rank] : count, end = size;
    PMPI_Type_get_extent(a->rtype, &lower, &extent);
    long ints = extent / (long)sizeof(int), first = scattered ? before_block(a, rank) * ints : 0;
    if (a->what == REDUCE && rank != root)
        return;
    if (a->what == SCAN || a->what == EXSCAN)
        end = rank + (a->what == SCAN);
    int *sum = allocate((size_t)(n * ints) + 1, sizeof *sum), *next = allocate((size_t)(n * ints) + 1, sizeof *next);
    for (int r = end; r-- > 0; none = 0) {
        int placed = in_place(a->what, form) && (a->what != REDUCE || r == root);
        for (long i = 0; i < n * ints; i++)
            next[i] = raw(r, first + i) + placed;
        if (none)
            memcpy(sum, next, (size_t)(n * ints) * sizeof *sum);
        else if (n > 0)
            PMPI_Reduce_local(next, sum, n, a->rtype, a->op);
    }
    for (int i = 0; !none && i < n; i++)
        memcpy(want + i * ints, sum + i * ints, (a->rtype == MPI_INT ? 1 : 2) * sizeof *sum);
    free(sum);
    free(next);
}

/* Returns how many ints of the receive buffer are compared: none on a rank without a result, otherwise all. A call must not
 * change the ints beyond the result. */
static int promised(const arguments *a)
{
    int none = a->what == BARRIER || (a->what == EXSCAN && rank == 0) || (collective_has(a->what, TO_ROOT) && rank != root);
    return none ? 0 : capacity;
}

/* Returns the size of a call in bytes, as the wrappers (wrap.c) count it. */
static uint64_t bytes_as_traced(const arguments *a)
{
    uint64_t bytes = bytes_of(a->rcount, a->rtype);
    if (collective_has(a->what, VECTOR))
        return counts_bytes(a->rcounts, a->wide, size, a->rtype) / (collective_has(a->what, REDUCES) ? 1 : (uint64_t)size);
    return a->what == REDUCE_SCATTER_BLOCK ? bytes * (uint64_t)size : bytes;
}

/* Replaces a buffer by MPI_BOTTOM, and its type by one with absolute addresses. */
static void *to_bottom(const void *buf, MPI_Datatype *type)
{
    MPI_Aint address, lower, extent;
    int one = 1;
    MPI_Datatype placed;
    PMPI_Get_address(buf, &address);
    PMPI_Type_get_extent(*type, &lower, &extent);
    PMPI_Type_create_hindexed(1, &one, &address, *type, &placed);
    PMPI_Type_create_resized(placed, 0, extent, type);
    PMPI_Type_free(&placed);
    PMPI_Type_commit(type);
    return MPI_BOTTOM;
}

/* Returns the arguments of a call for the form BOTTOM, with MPI_BOTTOM in place of buffers. */
static arguments with_bottom(arguments a)
{
    int sends = a.what == ALLTOALLV ? 0 : a.scount, receives = a.what == ALLTOALLV ? 0 : 1, reduces = collective_has(a.what, REDUCES);
    for (int r = 0; a.what == ALLTOALLV && r < size; r++) {
        sends += scounts[r];
        receives += counts[r];
    }
    if (reduces)
        a.op = add;
    if (a.send != MPI_IN_PLACE)
        a.send = (rank + root) % 2 == 0 ? to_bottom(a.send, reduces ? &a.rtype : &a.stype) : sends == 0 ? NULL : a.send;
    if (a.recv != MPI_IN_PLACE && !(reduces && a.send != MPI_IN_PLACE))
        a.recv = (rank + root) % 2 == 0 ? to_bottom(a.recv, &a.rtype) : receives == 0 ? NULL : a.recv;
    return a;
}

/* Returns a rule that selects one of a collective's algorithms, which are numbered from 0. Numbers beyond the last algorithm
 * select the MPI library's own choice. */
static struct row *rule_of(collective what, int number)
{
    struct row *r = allocate(1, sizeof *r + sizeof *r->bands);
    r->bands[0].up_to = UINT64_MAX;
    for (const algorithm *a = repository; a->name != NULL; a++)
        if (a->what == what && number-- == 0)
            r->bands[0].pick.algorithm = a;
    return r;
}

static void check(const algorithm *what, int form, int parameter, int cases[2])
{
    arguments a = arguments_of(what->what, form);
    struct row *parts[] = {rule_of(ALLGATHER, cases[0] % 20), rule_of(ALLTOALL, cases[0] % 17)};
    const struct row *rows[COLLECTIVES] = {[ALLGATHER] = parts[0], [ALLTOALL] = parts[1]};
    place on = {tested, rank, size, layouts[where], rows};
    pick p = {what, parameter, what->name};
    int bad, any;
    for (int i = 0; i < capacity; i++) {
        sent[i] = raw(rank, i);
        want[i] = got[i] = what->what == BCAST && rank != root ? -1 : sent[i] + 1;
    }
    int hears = what->what == ALLGATHER || what->what == ALLREDUCE || what->what == ALLTOALL || what->what == BARRIER;
    hears = hears && !(what->needs & SIGNALS);
    if (hears)
        flag_carry(cases[0] % (size + 1) == rank); /* one rank raises the flag, in turn, or none */
    arguments passed = form == BOTTOM ? with_bottom(a) : a;
    int served = serve(&passed, &p, &on, bytes_as_traced(&a));
    if (passed.stype != a.stype) /* MPICH 4.0.2 packs too few bytes once some 800 types exist */
        PMPI_Type_free(&passed.stype);
    if (passed.rtype != a.rtype)
        PMPI_Type_free(&passed.rtype);
    int heard = hears ? flag_received() : 0;
    free(parts[0]);
    free(parts[1]);
    if (!served)
        return;
    if (collective_has(what->what, REDUCES))
        expect_reduction(&a, form);
    else
        for (int r = 0; r < size; r++)
            expect_block(&a, form, r);
    bad = passed.error != MPI_SUCCESS || (hears && heard != (cases[0] % (size + 1) < size)) || memcmp(want, got, (size_t)promised(&a) * sizeof *want) != 0;
    PMPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_SUM, tested);
    cases[0]++;
    cases[1] += any > 0;
    if (any > 0 && rank == 0)
        printf("wrong on %d of %d ranks: %s %s, %s, count %d, root %d, parameter %d, places %d\n", any, size, collective_name(what->what),
               what->name, forms[form], count, root, parameter, where);
}

static void check_forms(const algorithm *a, int cases[2])
{
    int all_forms = MPI_BOTTOM == NULL ? FORMS : BOTTOM; /* SMPI's MPI_BOTTOM is not the address 0 */
    for (int form = 0; form < all_forms && repository_fits(a, size) && strcmp(a->name, without) != 0; form++) {
        root = (root + 1) % size;
        where = (where + 1) % LAYOUTS;
        if (possible(a->what, form))
            check(a, form, a->parameter == NULL || form == PLAIN ? 0 : strcmp(a->parameter, "segsize") == 0 ? 8 : 3, cases);
    }
}

static void check_all(int cases[2])
{
    where = count;
    for (const user_algorithm *u = user_algorithms; u != NULL; u = u->next)
        check_forms(&u->algorithm, cases);
    for (const algorithm *a = repository; !only_users && a->name != NULL; a++)
        check_forms(a, cases);
}

/* Creates three layouts: nodes of three ranks without switches; ranks distributed cyclically, with two nodes below each
 * switch; and nodes of different numbers of ranks with two levels of switches. */
static void make_places(void)
{
    int nodes = (size + 2) / 3;
    int *place = allocate((size_t)size, sizeof *place), *path = allocate(3 * (size_t)size, sizeof *path);
    for (int which = 0; which < LAYOUTS; which++) {
        int levels = which + 1;
        for (int r = 0; r < size; r++) {
            place[r] = which == 0 ? r / 3 : which == 1 ? r % nodes : (r * r + 3) % size;
            for (int level = 0; level < levels; level++)
                path[r * levels + level] = r >> (levels - 1 - level);
        }
        layout_free(layouts[which]);
        layouts[which] = layout_new(size, place, levels, path);
    }
    free(place);
    free(path);
}

static int *ints(void) { return allocate((size_t)capacity, sizeof(int)); }

/* Checks all cases on the communicator `tested`. One of the communicator's ranks counts the cases. */
static void check_communicator(int n, char **texts, int all[2])
{
    int cases[2] = {0, 0};
    PMPI_Comm_rank(tested, &rank);
    PMPI_Comm_size(tested, &size);
    root = 0;
    make_places();
    for (int i = 0; i < n; i++) {
        count = strcmp(texts[i], "+") == 0 ? size + 1 : atoi(texts[i]);
        capacity = 3 * (size + 1) * (count + 3);
        int **buffers[] = {&sent, &want, &got};
        for (int k = 0; k < 3; k++)
            *buffers[k] = ints();
        check_all(cases);
        for (int k = 0; k < 3; k++)
            free(*buffers[k]);
    }
    all[0] += rank == 0 ? cases[0] : 0;
    all[1] += rank == 0 ? cases[1] : 0;
}

int main(int argc, char **argv)
{
    int cases[2] = {0, 0}, all[2] = {0, 0}, me, everybody, split, first;
    PMPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &me);
    PMPI_Comm_size(MPI_COMM_WORLD, &everybody);
    only_users = getenv("TUTTI_ALGORITHMS") != NULL;
    PMPI_Bcast(&only_users, 1, MPI_INT, 0, MPI_COMM_WORLD);
    split = argc > 1 && strcmp(argv[1], "split") == 0;
    first = 1 + split;
    if (first < argc && argv[first][0] == '-')
        without = argv[first++] + 1;
    PMPI_Type_vector(1, 1, 2, MPI_INT, &spread);
    PMPI_Type_create_resized(spread, 0, 2 * (MPI_Aint)sizeof(int), &spread);
    PMPI_Type_contiguous(2, MPI_INT, &pair);
    PMPI_Type_create_resized(pair, 0, 3 * (MPI_Aint)sizeof(int), &holed);
    PMPI_Type_commit(&spread);
    PMPI_Type_commit(&pair);
    PMPI_Type_commit(&holed);
    PMPI_Op_create(compose_maps, 0, &compose);
    PMPI_Op_create(add_ints, 1, &add);
    capacity = everybody;
    counts = ints();
    displs = ints();
    scounts = ints();
    sdispls = ints();
    for (int part = 0; part <= (split ? (everybody - 1) / 2 : 0); part++) {
        PMPI_Comm_split(MPI_COMM_WORLD, me < part, me, &tested);
        check_communicator(argc - first, argv + first, cases);
        PMPI_Comm_free(&tested);
    }
    PMPI_Reduce(cases, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0)
        printf("%d cases, %d wrong\n", all[0], all[1]);
    PMPI_Finalize();
    return me == 0 && (all[0] == 0 || all[1] > 0);
}
