/* MPI_Init, MPI_Init_thread and MPI_Finalize. A tool that is loaded before or behind libtutti replaces them, too, and
 * calls the same functions of PMPI. Those are therefore in this file as well. A tool behind libtutti calls them while
 * libtutti's own MPI_Init runs. */
#include "next.h"

static int stacked; /* MPI_Init or MPI_Init_thread was called by this name */

#define NEXT(name) ((__typeof__(&name))next_function(#name))

static int started(int error)
{
    if (error == MPI_SUCCESS)
        begin(stacked);
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
