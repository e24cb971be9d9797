#include "comm.h"
#include "layout.h"
#include "library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 256 };  /* of the hash table of communicators, by handle */

#ifndef LASTING
#define LASTING 4 /* the call in which a communicator gets another one for libtutti; creating it takes as long as a few calls */
#endif

/* A duplicate of a communicator, on which one algorithm of the MPI library serves all calls. */
typedef struct switched {
    const library_algorithm *algorithm;
    int served; /* calls, up to LASTING */
    MPI_Comm comm;
    struct switched *next;
} switched;

/* The largest number of private communicators (for libtutti's messages) at a time. It is a sixteenth of the 2046 that
 * an application of MPICH can create. */
enum { MOST_PRIVATE = 128 };

static comm no_comm = {.handle = MPI_COMM_NULL, .private = MPI_COMM_NULL};
PER_THREAD comm *last_comm = &no_comm;
MPI_Comm comm_alone = MPI_COMM_NULL;

static char guard;              /* lock of the following variables that are not atomic */
static comm *slots[SLOTS];
static comm *spare;             /* of freed communicators; they are used again and never freed, because a thread's last_comm may point to them */
static int privates;            /* number of private communicators; atomic */
static comm *oldest, *newest;   /* in the order of their first private communicators */
static shape *shapes;
static int keyval;

static MPI_Group world_group; /* of the world */
static int *node_of;        /* of each rank of the world: the lowest rank of its node */
static int *place_of;       /* of each rank of the world: its place in depth-first order, by the topology if it is known, else node_of */
static int levels;
static const int *paths;      /* of each place: its group at each level */
static int *ranks_on;       /* counts the ranks on each node; zero between uses */

static unsigned slot_of(MPI_Comm handle)
{
    uint64_t bits = 0;
    memcpy(&bits, &handle, sizeof handle < sizeof bits ? sizeof handle : sizeof bits);
    return (unsigned)(bits * 0x9e3779b97f4a7c15u >> 56) % SLOTS;
}

/* Frees the communicators that libtutti created for a communicator of the application. All ranks of the
   application's communicator must call this function. */
static void free_own(comm *c)
{
    if (c->private != MPI_COMM_NULL) {
        PMPI_Comm_free(&c->private);
        __atomic_fetch_sub(&privates, 1, __ATOMIC_RELAXED);
    }
    while (c->switched != NULL) {
        switched *s = c->switched;
        c->switched = s->next;
        if (s->comm != MPI_COMM_NULL)
            PMPI_Comm_free(&s->comm);
        free(s);
    }
}

static void link_own(comm *c)
{
    lock(&guard);
    if (oldest != c && c->older == NULL) {
        c->older = newest;
        *(newest == NULL ? &oldest : &newest->newer) = c;
        newest = c;
    }
    unlock(&guard);
}

static void unlink_own(comm *c)
{
    if (oldest != c && c->older == NULL)
        return;
    *(c->older == NULL ? &oldest : &c->older->newer) = c->newer;
    *(c->newer == NULL ? &newest : &c->newer->older) = c->older;
}

static void retire(comm *c)
{
    free_own(c);
    layout_free(c->layout);
    explorer_free(c->explorer);
    __atomic_store_n(&c->handle, MPI_COMM_NULL, __ATOMIC_RELAXED);
    memset(&c->shape, 0, sizeof *c - offsetof(comm, shape));
    lock(&guard);
    c->next = spare;
    spare = c;
    unlock(&guard);
}

/* MPI calls this function before it frees a communicator. libtutti then forgets the communicator, because a later
 * one may get the same handle. */
static int on_free(MPI_Comm handle, int key, void *value, void *extra)
{
    comm *gone = value, **at = &slots[slot_of(handle)];
    (void)key, (void)extra;
    lock(&guard);
    while (*at != NULL && *at != gone)
        at = &(*at)->next;
    int known = *at != NULL;
    if (known) {
        *at = gone->next;
        unlink_own(gone);
    }
    unlock(&guard);
    if (known)
        retire(gone);
    return MPI_SUCCESS;
}

static uint64_t hash_of(const char *text)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 1099511628211u;
    return h;
}

/* Returns the lowest rank on this rank's node. Ranks are on one node if they have the same shared-memory domain and
 * the same processor name. If each domain has one rank, only names count: MPICH from 5.0 on reports such domains if
 * it is built without shared memory. */
static int find_leader(MPI_Comm world, const char *host, int rank, int size)
{
    MPI_Comm shared;
    int domain = rank, domains = 0, leader = 0;
    PMPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
    PMPI_Bcast(&domain, 1, MPI_INT, 0, shared);
    PMPI_Comm_free(&shared);
    uint64_t mine[2] = {hash_of(host), (uint64_t)domain}, (*all)[2] = allocate((size_t)size, sizeof mine);
    PMPI_Allgather(mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, world);
    for (int r = 0; r < size; r++)
        domains += all[r][1] == (uint64_t)r;
    while (all[leader][0] != mine[0] || (domains < size && all[leader][1] != mine[1]))
        leader++;
    free(all);
    return leader;
}

/* Returns the lowest rank whose place is unknown, or is also the place of a rank on another host. Returns -1 if there is
 * none. */
static int misplaced(MPI_Comm world, const char *host, int size)
{
    uint64_t mine = hash_of(host), *hosts = allocate((size_t)size, sizeof *hosts);
    int found = -1, most = 0;
    PMPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, hosts, (int)sizeof mine, MPI_BYTE, world);
    for (int r = 0; r < size; r++)
        most = place_of[r] > most ? place_of[r] : most;
    int *first = allocate((size_t)most + 1, sizeof *first); /* rank at each place, counted from 1 */
    for (int r = 0; found < 0 && r < size; r++) {
        if (place_of[r] < 0 || (first[place_of[r]] > 0 && hosts[first[place_of[r]] - 1] != hosts[r]))
            found = r;
        else if (first[place_of[r]] == 0)
            first[place_of[r]] = r + 1;
    }
    free(first);
    free(hosts);
    return found;
}

/* Determines the place of each rank in the topology. If the topology does not tell the places of all ranks, rank 0
 * prints the first host without a place. The topology is then not used, and each node counts as one place. */
static void take_places(MPI_Comm world, const char *host, int rank, int size)
{
    int at = topology_place(host);
    char lost[MPI_MAX_PROCESSOR_NAME];
    place_of = allocate((size_t)size, sizeof *place_of);
    PMPI_Allgather(&at, 1, MPI_INT, place_of, 1, MPI_INT, world);
    levels = topology_levels();
    paths = topology_path();
    int bad = misplaced(world, host, size);
    if (bad < 0)
        return;
    if (levels > 0) {
        snprintf(lost, sizeof lost, "%s", host);
        PMPI_Bcast(lost, (int)sizeof lost, MPI_CHAR, bad, world);
        if (rank == 0)
            fprintf(stderr, "tutti: the topology does not name the node %s, or not only it: the switches are not known\n", lost);
    }
    int *nodes = allocate((size_t)size, sizeof *nodes);
    for (int r = 0; r < size; r++)
        nodes[r] = r;
    memcpy(place_of, node_of, (size_t)size * sizeof *place_of);
    levels = 1;
    paths = nodes;
}

void comms_start(MPI_Comm world)
{
    char host[MPI_MAX_PROCESSOR_NAME];
    int rank, size, length;
    PMPI_Comm_rank(world, &rank);
    PMPI_Comm_size(world, &size);
    PMPI_Get_processor_name(host, &length);
    int leader = find_leader(world, host, rank, size);
    node_of = allocate((size_t)size, sizeof *node_of);
    ranks_on = allocate((size_t)size, sizeof *ranks_on);
    PMPI_Allgather(&leader, 1, MPI_INT, node_of, 1, MPI_INT, world);
    take_places(world, host, rank, size);
    PMPI_Comm_split(world, rank, 0, &comm_alone);
    PMPI_Comm_set_errhandler(comm_alone, MPI_ERRORS_RETURN);
    PMPI_Comm_group(world, &world_group);
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_free, &keyval, NULL);
}

/* Frees libtutti's communicators when MPI ends. All ranks free them in the order in which they created them. This
 * order cannot deadlock, because creating them did not deadlock. With several threads, ranks may create
 * communicators in different orders. MPI_Finalize then frees them. */
void comms_end(void)
{
    for (comm *c = oldest; c != NULL; c = c->newer)
        if (many_threads)
            c->private = MPI_COMM_NULL;
        else
            free_own(c);
    PMPI_Comm_free(&comm_alone);
    PMPI_Comm_free_keyval(&keyval);
    PMPI_Group_free(&world_group);
}

/* Returns the shape of a communicator: the numbers of its ranks and nodes, and the orders of its ranks on the
 * nodes (block, cyclic). The array `members` holds the world ranks of the communicator's ranks. */
static shape count_nodes(const int *members, int n)
{
    shape s = {.ranks = n, .orders = ORDER_BLOCK | ORDER_CYCLIC};
    for (int i = 0; i < n; i++) {
        int node = node_of[members[i]], *on = &ranks_on[node];
        if (*on > 0 && node != node_of[members[i - 1]])
            s.orders &= ~(unsigned)ORDER_BLOCK;
        s.nodes += *on == 0;
        s.ppn = ++*on > s.ppn ? *on : s.ppn;
    }
    for (int i = 0; i < n; i++) {
        if (node_of[members[i]] != node_of[members[i % s.nodes]])
            s.orders &= ~(unsigned)ORDER_CYCLIC;
        ranks_on[node_of[members[i]]] = 0;
    }
    return s;
}

/* Returns the table's row for a collective and the shape of a communicator, or NULL. If ranks pass different sizes, the
 * row must be valid for every size. */
static const struct row *row_for(collective what, const shape *s)
{
    const struct row *r = table_row(what, s->ranks, s->ppn, s->orders);
    return collective_has(what, SIZES_DIFFER) && r != NULL && !row_serves_all(r) ? NULL : r;
}

static void select_rows(shape *s)
{
    for (int i = 0; selecting && i < COLLECTIVES; i++)
        s->rows[i] = row_for((collective)i, s);
}

void shapes_select(void)
{
    for (shape *s = shapes; s != NULL; s = s->next) {
        for (int i = 0; i < COLLECTIVES; i++) {
            free((struct row *)s->rows[i]);
            s->rows[i] = NULL;
        }
        select_rows(s);
    }
}

static const shape *find_shape(shape s)
{
    shape *at = shapes;
    while (at != NULL && (at->ranks != s.ranks || at->nodes != s.nodes || at->ppn != s.ppn || at->orders != s.orders))
        at = at->next;
    if (at == NULL) {
        at = allocate(1, sizeof *at);
        *at = s;
        select_rows(at);
        at->next = shapes;
        shapes = at;
    }
    return at;
}

int *comm_members(MPI_Comm handle, int *n)
{
    MPI_Group group;
    PMPI_Comm_size(handle, n);
    PMPI_Comm_group(handle, &group);
    int *members = allocate((size_t)*n, sizeof *members), *all = allocate((size_t)*n, sizeof *all);
    for (int i = 0; i < *n; i++)
        all[i] = i;
    PMPI_Group_translate_ranks(group, *n, all, world_group, members);
    PMPI_Group_free(&group);
    free(all);
    return members;
}

/* Returns the shape (ranks and nodes) of a communicator without sending a message. Returns NULL for an
 * intercommunicator, and for a communicator with members outside the world. All ranks get the same result. */
static const shape *shape_of(MPI_Comm handle)
{
    int inter, n, outsiders = 0;
    PMPI_Comm_test_inter(handle, &inter);
    if (inter)
        return NULL;
    int *members = comm_members(handle, &n);
    for (int i = 0; i < n; i++)
        outsiders += members[i] == MPI_UNDEFINED;
    lock(&guard);
    const shape *s = outsiders ? NULL : find_shape(count_nodes(members, n));
    unlock(&guard);
    free(members);
    return s;
}

static comm *comm_new(MPI_Comm handle)
{
    lock(&guard);
    comm *c = spare;
    spare = c == NULL ? NULL : c->next;
    unlock(&guard);
    if (c == NULL)
        c = allocate(1, sizeof *c);
    c->shape = shape_of(handle);
    c->private = MPI_COMM_NULL;
    PMPI_Comm_rank(handle, &c->rank);
    c->traced = c->shape != NULL && trace_every > 0 && c->rank % trace_every == 0;
    __atomic_store_n(&c->handle, handle, __ATOMIC_RELAXED);
    lock(&guard);
    c->next = slots[slot_of(handle)];
    slots[slot_of(handle)] = c;
    unlock(&guard);
    PMPI_Comm_set_attr(handle, keyval, c);
    return c;
}

comm *comm_find(MPI_Comm handle)
{
    if (handle == MPI_COMM_NULL)
        return &no_comm;
    lock(&guard);
    comm *c = slots[slot_of(handle)];
    while (c != NULL && c->handle != handle)
        c = c->next;
    unlock(&guard);
    return last_comm = c != NULL ? c : comm_new(handle);
}

/* Duplicates a communicator. Returns MPI_COMM_NULL on all ranks if this fails, or if `wanted` is 0 on any rank. */
static MPI_Comm private_new(MPI_Comm handle, int wanted)
{
    int all_want = 0;
    MPI_Errhandler handler;
    MPI_Group group;
    MPI_Comm made = MPI_COMM_NULL;
    PMPI_Comm_get_errhandler(handle, &handler);
    PMPI_Comm_set_errhandler(handle, MPI_ERRORS_RETURN);
    PMPI_Comm_group(handle, &group);
    if (PMPI_Allreduce(&wanted, &all_want, 1, MPI_INT, MPI_MIN, handle) != MPI_SUCCESS || !all_want ||
        PMPI_Comm_create(handle, group, &made) != MPI_SUCCESS)
        made = MPI_COMM_NULL;
    PMPI_Group_free(&group);
    PMPI_Comm_set_errhandler(handle, handler);
    if (made != MPI_COMM_NULL)
        PMPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    PMPI_Errhandler_free(&handler);
    return made;
}

/* If the communicator is known to be used often, raises *served, the number of served calls, to LASTING - 1. The
 * call that follows is then call number LASTING, in which libtutti duplicates the communicator. */
static void prepare_duplicate(const comm *c, int *served)
{
    if (c->lasts && *served < LASTING - 1)
        *served = LASTING - 1;
}

MPI_Comm comm_private(comm *c)
{
    prepare_duplicate(c, &c->served);
    if (c->private == MPI_COMM_NULL && (forcing || (c->served < LASTING && ++c->served == LASTING))) {
        c->private = private_new(c->handle, __atomic_load_n(&privates, __ATOMIC_RELAXED) < MOST_PRIVATE);
        __atomic_fetch_add(&privates, c->private != MPI_COMM_NULL, __ATOMIC_RELAXED);
        link_own(c);
    }
    return c->private;
}

MPI_Comm comm_switched(comm *c, const library_algorithm *by)
{
    switched *s = c->switched;
    while (s != NULL && s->algorithm != by)
        s = s->next;
    if (s == NULL) {
        s = allocate(1, sizeof *s);
        s->algorithm = by;
        s->comm = MPI_COMM_NULL;
        s->next = c->switched;
        c->switched = s;
    }
    prepare_duplicate(c, &s->served);
    if (s->served < LASTING && ++s->served == LASTING) {
        library_set(by, 1);
        s->comm = private_new(c->handle, 1);
        library_set(by, 0);
        link_own(c);
    }
    return s->comm;
}

layout *comm_layout(comm *c)
{
    int n;
    if (c->layout != NULL)
        return c->layout;
    int *members = comm_members(c->handle, &n);
    for (int i = 0; i < n; i++)
        members[i] = place_of[members[i]];
    c->layout = layout_new(n, members, levels, paths);
    free(members);
    return c->layout;
}
