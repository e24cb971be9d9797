/* MPI_Init, MPI_Init_thread, MPI_Finalize, and the functions of MPI's Sessions. Another tool may replace the first
 * three functions, too, and call their PMPI forms. libtutti therefore also replaces the PMPI forms. If such a tool is
 * loaded after libtutti, it calls PMPI_Init while libtutti's own MPI_Init runs. */
#include "next.h"
#include "origin.h"

static int stacked;   /* the program starts MPI by MPI_Init, MPI_Init_thread or a session, not by PMPI_Init */
static int from_init; /* the program calls MPI_Init or MPI_Init_thread */

#define NEXT(name) ((__typeof__(&name))next_function(#name))

static int started(int error)
{
    int level;
    if (error == MPI_SUCCESS && PMPI_Query_thread(&level) == MPI_SUCCESS)
        from_init |= begin(MPI_COMM_WORLD, level == MPI_THREAD_MULTIPLE, stacked);
    return error;
}

int MPI_Init(int *argc, char ***argv)
{
    check_origin(__builtin_return_address(0));
    stacked = 1;
    return started(NEXT(MPI_Init)(argc, argv));
}

int PMPI_Init(int *argc, char ***argv)
{
    check_origin(__builtin_return_address(0));
    return started(NEXT(PMPI_Init)(argc, argv));
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    check_origin(__builtin_return_address(0));
    stacked = 1;
    return started(NEXT(MPI_Init_thread)(argc, argv, required, provided));
}

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    check_origin(__builtin_return_address(0));
    return started(NEXT(PMPI_Init_thread)(argc, argv, required, provided));
}

int MPI_Finalize(void)
{
    end();
    return NEXT(MPI_Finalize)();
}

int PMPI_Finalize(void)
{
    end();
    return NEXT(PMPI_Finalize)();
}

#if MPI_4

/* A program that uses sessions instead of MPI_Init has no MPI_COMM_WORLD. libtutti starts when the program first makes a
 * communicator of all ranks from a group, and ends with the last session. */

static MPI_Session session; /* the last one */
static int sessions;        /* open ones; atomic */

int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session *made)
{
    check_origin(__builtin_return_address(0));
    int e = NEXT(MPI_Session_init)(info, handler, made);
    if (e != MPI_SUCCESS)
        return e;
    stacked = 1;
    session = *made;
    __atomic_fetch_add(&sessions, 1, __ATOMIC_RELAXED);
    return e;
}

static int has_all_ranks(MPI_Comm made)
{
    int n, all = -1;
    MPI_Group group;
    PMPI_Comm_size(made, &n);
    if (PMPI_Group_from_session_pset(session, "mpi://WORLD", &group) == MPI_SUCCESS) {
        PMPI_Group_size(group, &all);
        PMPI_Group_free(&group);
    }
    return n == all;
}

static int permits_threads(void)
{
    char level[32] = "";
    int length = sizeof level, found;
    MPI_Info info;
    PMPI_Session_get_info(session, &info);
    PMPI_Info_get_string(info, "thread_level", &length, level, &found);
    PMPI_Info_free(&info);
    return strcmp(level, "MPI_THREAD_MULTIPLE") == 0;
}

int MPI_Comm_create_from_group(MPI_Group group, const char *tag, MPI_Info info, MPI_Errhandler handler, MPI_Comm *made)
{
    int e = NEXT(MPI_Comm_create_from_group)(group, tag, info, handler, made);
    if (e == MPI_SUCCESS && *made != MPI_COMM_NULL && sessions > 0 && has_all_ranks(*made))
        begin(*made, permits_threads(), stacked);
    return e;
}

int MPI_Session_finalize(MPI_Session *s)
{
    if (__atomic_sub_fetch(&sessions, 1, __ATOMIC_RELAXED) == 0 && !from_init)
        end();
    return NEXT(MPI_Session_finalize)(s);
}

#endif
