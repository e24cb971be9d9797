/* Replaces MPI, the clock and the communicators for the files of the runtime library in a simulated job. */
#include "world.h"
#include "channel.h"
#include "clock.h"
#include "library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LAYOUTS = 256 };

int counts_cycles; /* always 0, because the clock is simulated */

static double now; /* seconds since the job began */
static comm *world[MAX_LAYOUTS];
static int flag;

void world_wait(double seconds) { now += seconds; }

int simulated_clock(clockid_t id, struct timespec *t)
{
    (void)id;
    t->tv_sec = (time_t)now;
    t->tv_nsec = (long)((now - (double)t->tv_sec) * 1e9);
    return 0;
}

/* Returns the length of a tick: a picosecond. */
double clock_period(void) { return 1e-12; }

comm *world_with(int nodes, int ppn)
{
    for (int i = 0; i < MAX_LAYOUTS; i++) {
        if (world[i] == NULL) {
            shape *s = allocate(1, sizeof *s);
            *s = (shape){.ranks = nodes * ppn, .nodes = nodes, .ppn = ppn};
            world[i] = allocate(1, sizeof *world[i]);
            *world[i] = (comm){.handle = i, .shape = s};
        }
        if (world[i]->shape->nodes == nodes && world[i]->shape->ppn == ppn)
            return world[i];
    }
    fprintf(stderr, "policy: more than %d layouts\n", MAX_LAYOUTS);
    exit(1);
}

static comm outside = {.handle = MPI_COMM_NULL};
PER_THREAD comm *last_comm = &outside;
MPI_Comm first_comm = MPI_COMM_WORLD;
int many_threads;

comm *comm_find(MPI_Comm handle) { return handle < 0 || world[handle] == NULL ? &outside : world[handle]; }

/* Returns the members of a communicator: the first *n ranks of the world. */
int *comm_members(MPI_Comm handle, int *n)
{
    *n = world[handle]->shape->ranks;
    int *members = allocate((size_t)*n, sizeof *members);
    for (int i = 0; i < *n; i++)
        members[i] = i;
    return members;
}

void *allocate(size_t n, size_t bytes)
{
    void *p = calloc(n, bytes);
    if (p == NULL)
        abort();
    return p;
}

/* Returns the maximum over the ranks. All ranks pass the same number, so the maximum is this process's number. */
int PMPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm on)
{
    (void)op, (void)on;
    if (send != MPI_IN_PLACE)
        memcpy(recv, send, (size_t)count * (size_t)type);
    return MPI_SUCCESS;
}

int PMPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm on)
{
    (void)data, (void)count, (void)type, (void)root, (void)on;
    return MPI_SUCCESS;
}

int PMPI_Comm_rank(MPI_Comm on, int *rank)
{
    (void)on;
    *rank = 0;
    return MPI_SUCCESS;
}

int PMPI_Abort(MPI_Comm on, int code)
{
    (void)on;
    exit(code);
}

int PMPI_Get_processor_name(char *name, int *length)
{
    *length = snprintf(name, MPI_MAX_PROCESSOR_NAME, "simulated");
    return MPI_SUCCESS;
}

void library_version(char *says) { snprintf(says, MPI_MAX_LIBRARY_VERSION_STRING, "simulated"); }

void flag_carry(int raised) { flag = raised; }

int flag_received(void) { return flag; }

/* A simulated job opens no channel (channel.h). Where messages carry no flag, ranks announce changes by allreduces. */
void channels_start(MPI_Comm on) { (void)on; }

void channels_end(void) {}

int channel_open(channel *c, MPI_Comm on)
{
    (void)c, (void)on;
    return 0;
}

void channel_close(channel *c) { (void)c; }

int channel_step(channel *c, int detected)
{
    (void)c, (void)detected;
    return 0;
}
