#include "native.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_PLACE = 20 };

static void *need(size_t n, size_t bytes)
{
    void *p = calloc(n, bytes);
    if (p == NULL) {
        fprintf(stderr, "tutti-native: no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

static place here(const control *c)
{
    place p;
    MPI_Comm domain;
    int length;
    memset(&p, 0, sizeof p);
    MPI_Get_processor_name(p.host, &length);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &domain);
    p.domain = c->rank;
    control members = {domain, 0, 0};
    MPI_Comm_rank(domain, &members.rank);
    MPI_Comm_size(domain, &members.size);
    control_bcast(&members, &p.domain, (int)sizeof p.domain);
    MPI_Comm_free(&domain);
    return p;
}

static int same(const place *a, const place *b) { return a->domain == b->domain && strcmp(a->host, b->host) == 0; }

/* Ranks are on one node if they have the same processor name and the same shared-memory domain. Simulated nodes on
 * one host differ in the domain, nodes that are containers differ in the name, and real nodes differ in both. If
 * each domain has one rank, only names count: MPICH from 5.0 on reports such domains if it is built without shared
 * memory. */
void world_find(world *w, const control *c)
{
    size_t n = (size_t)c->size;
    place mine = here(c);
    w->place = need(n, sizeof *w->place);
    w->node = need(n, sizeof *w->node);
    w->leader = need(n, sizeof *w->leader);
    w->ranks = need(n, sizeof *w->ranks);
    if (c->rank == 0)
        w->place[0] = mine;
    for (int r = 1; r < c->size; r++)
        if (c->rank == 0)
            MPI_Recv(&w->place[r], (int)sizeof mine, MPI_BYTE, r, TAG_PLACE, c->comm, MPI_STATUS_IGNORE);
        else if (c->rank == r)
            MPI_Send(&mine, (int)sizeof mine, MPI_BYTE, 0, TAG_PLACE, c->comm);
    control_bcast(c, w->place, (int)(n * sizeof mine));
    for (int r = 0; r < c->size; r++)
        w->domains += w->place[r].domain == r;
    for (int r = 0; r < c->size && w->domains == c->size; r++)
        w->place[r].domain = 0;
    for (int r = 0; r < c->size; r++) {
        int node = 0, host = 0;
        while (node < w->nodes && !same(&w->place[w->leader[node]], &w->place[r]))
            node++;
        while (host < r && strcmp(w->place[host].host, w->place[r].host) != 0)
            host++;
        if (node == w->nodes)
            w->leader[w->nodes++] = r;
        w->node[r] = node;
        w->ranks[node]++;
        w->hosts += host == r;
    }
}
