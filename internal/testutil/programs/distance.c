/* A library to be preloaded into MPI programs on virtual nodes n1, n2 and so on. It delays messages between nodes,
 * so that some nodes seem farther away. DISTANCE_LEAF consecutive nodes share a switch, and messages between
 * switches have a longer delay. Messages from and to node DISTANCE_SLOW have ten times the delay. On busy
 * machines, DISTANCE_TIMES multiplies all delays. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NEAR 300000 /* nanoseconds of a message */
#define FAR 900000

static int *node; /* number of each rank's node, from 0 */
static int leaf, slow, times, mine;

static int number(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? atoi(text) : otherwise;
}

int MPI_Init(int *argc, char ***argv)
{
    char host[256] = "";
    int size = 0, result = PMPI_Init(argc, argv);
    leaf = number("DISTANCE_LEAF", 1);
    slow = number("DISTANCE_SLOW", 0) - 1;
    times = number("DISTANCE_TIMES", 1);
    if (gethostname(host, sizeof host - 1) != 0 || sscanf(host, "n%d", &mine) != 1)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    mine--;
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    node = calloc((size_t)size, sizeof *node);
    PMPI_Allgather(&mine, 1, MPI_INT, node, 1, MPI_INT, MPI_COMM_WORLD);
    return result;
}

static void travel(int to, MPI_Comm comm)
{
    MPI_Group group, world;
    int rank = 0;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, 1, &to, world, &rank);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    if (node[rank] == mine)
        return;
    long time = node[rank] / leaf == mine / leaf ? NEAR : FAR;
    if (mine == slow || node[rank] == slow)
        time *= 10;
    struct timespec pause = {0, time * times};
    nanosleep(&pause, NULL);
}

int MPI_Send(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    travel(to, comm);
    return PMPI_Send(buf, count, type, to, tag, comm);
}

int MPI_Isend(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    travel(to, comm);
    return PMPI_Isend(buf, count, type, to, tag, comm, request);
}
