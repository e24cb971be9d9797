/* Replaces functions of MPI and of the system that are needed to measure pairs. The simulated MPI library (SMPI) does
 * not have them. A waiting rank polls rarely, since every poll is an event of the simulation. Each socket of a node is
 * simulated as a host; -DSOCKETS=N sets their number. */
#ifndef TUTTI_SYSTEM_H
#define TUTTI_SYSTEM_H

#define _GNU_SOURCE
#include <mpi.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline int simulated_node(void)
{
    char host[MPI_MAX_PROCESSOR_NAME];
    int length;
    PMPI_Get_processor_name(host, &length);
    return atoi(host + 1) / SOCKETS;
}

static inline int simulated_name(char *name, int *length)
{
    *length = sprintf(name, "n%d", simulated_node());
    return MPI_SUCCESS;
}

static inline int simulated_split(MPI_Comm comm, int key, MPI_Comm *out) { return PMPI_Comm_split(comm, simulated_node(), key, out); }

static inline int simulated_test(MPI_Request *r, int *done, MPI_Status *status)
{
    *done = 1;
    return PMPI_Wait(r, status);
}

#undef MPI_Get_processor_name
#undef MPI_Comm_split_type
#undef MPI_Test
#define MPI_Get_processor_name simulated_name
#define MPI_Comm_split_type(comm, type, key, info, out) simulated_split(comm, key, out)
#define MPI_Test simulated_test
#define sched_getaffinity(process, bytes, set) 0 /* ranks are bound to no processors */
#define alarm(seconds) ((void)(seconds))

#endif
