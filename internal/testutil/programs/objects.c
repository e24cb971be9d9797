/* A library that is preloaded after the runtime library. At its end each rank prints how many MPI objects, such as
 * communicators, groups and requests, the runtime library created. It also prints how many of them were not freed.
 * MPI libraries create their own objects without calling the functions below. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static long made, freed;

/* Calls the next definition of the function with that name: the MPI library's own. */
#define NEXT(name, types, arguments) \
    int(*real) types;                \
    void *found = dlsym(RTLD_NEXT, #name); \
    memcpy(&real, &found, sizeof real); \
    int error = real arguments;

#define MAKES(name, types, arguments, with, what, none) \
    int name types                                \
    {                                             \
        NEXT(name, with, arguments)               \
        made += error == MPI_SUCCESS && *what != none; \
        return error;                             \
    }

#define FREES(name, type) \
    int name(type *what)  \
    {                     \
        freed++;          \
        NEXT(name, (type *), (what)) \
        return error;     \
    }

MAKES(PMPI_Comm_create, (MPI_Comm of, MPI_Group group, MPI_Comm *to), (of, group, to), (MPI_Comm, MPI_Group, MPI_Comm *), to, MPI_COMM_NULL)
MAKES(PMPI_Comm_dup, (MPI_Comm of, MPI_Comm *to), (of, to), (MPI_Comm, MPI_Comm *), to, MPI_COMM_NULL)
MAKES(PMPI_Comm_split, (MPI_Comm of, int color, int key, MPI_Comm *to), (of, color, key, to), (MPI_Comm, int, int, MPI_Comm *), to, MPI_COMM_NULL)
MAKES(PMPI_Comm_split_type, (MPI_Comm of, int kind, int key, MPI_Info info, MPI_Comm *to), (of, kind, key, info, to),
      (MPI_Comm, int, int, MPI_Info, MPI_Comm *), to, MPI_COMM_NULL)
MAKES(PMPI_Comm_group, (MPI_Comm of, MPI_Group *to), (of, to), (MPI_Comm, MPI_Group *), to, MPI_GROUP_NULL)
MAKES(PMPI_Comm_get_errhandler, (MPI_Comm of, MPI_Errhandler *to), (of, to), (MPI_Comm, MPI_Errhandler *), to, MPI_ERRHANDLER_NULL)
MAKES(PMPI_Comm_create_keyval, (MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *gone, int *to, void *extra),
      (copy, gone, to, extra), (MPI_Comm_copy_attr_function *, MPI_Comm_delete_attr_function *, int *, void *), to, MPI_KEYVAL_INVALID)
MAKES(PMPI_Isend, (const void *from, int n, MPI_Datatype type, int rank, int tag, MPI_Comm on, MPI_Request *to),
      (from, n, type, rank, tag, on, to), (const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *), to, MPI_REQUEST_NULL)
MAKES(PMPI_Irecv, (void *into, int n, MPI_Datatype type, int rank, int tag, MPI_Comm on, MPI_Request *to),
      (into, n, type, rank, tag, on, to), (void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *), to, MPI_REQUEST_NULL)

FREES(PMPI_Comm_free, MPI_Comm)
FREES(PMPI_Group_free, MPI_Group)
FREES(PMPI_Errhandler_free, MPI_Errhandler)
FREES(PMPI_Comm_free_keyval, int)

int PMPI_Wait(MPI_Request *what, MPI_Status *status)
{
    freed += *what != MPI_REQUEST_NULL;
    NEXT(PMPI_Wait, (MPI_Request *, MPI_Status *), (what, status))
    return error;
}

int MPI_Finalize(void)
{
    NEXT(MPI_Finalize, (void), ())
    printf("objects left %ld of %ld\n", made - freed, made);
    return error;
}
