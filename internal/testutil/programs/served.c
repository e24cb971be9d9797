/* served BYTES CALLS [SITE]: makes CALLS broadcasts of BYTES bytes. It prints "ALGORITHM CALLS" for each algorithm
 * that the runtime library ran; the algorithm of the last call comes last. With SITE, every second call is marked
 * as made at the place in the program with this number. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *tutti_ran(void) __attribute__((weak)); /* of the preloaded library */
void tutti_site(int number) __attribute__((weak));

enum { MOST = 16 };

static const char *names[MOST];
static int times[MOST];

/* Counts a call that an algorithm served, and moves the algorithm to the end of the list. */
static void count(const char *name)
{
    int i = 0, n = 1;
    while (names[i] != NULL && strcmp(names[i], name) != 0)
        i++;
    n += times[i];
    for (; names[i] != NULL && names[i + 1] != NULL; i++) {
        names[i] = names[i + 1];
        times[i] = times[i + 1];
    }
    names[i] = name;
    times[i] = n;
}

int main(int argc, char **argv)
{
    int rank, bytes = atoi(argv[1]), calls = atoi(argv[2]), wrong = 0;
    char *data = malloc((size_t)bytes);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < calls; i++) {
        memset(data, rank == 0 ? i : -1, (size_t)bytes);
        if (argc > 3)
            tutti_site(i % 2 == 0 ? atoi(argv[3]) : 0);
        MPI_Bcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        for (int k = 0; k < bytes; k++)
            wrong += data[k] != (char)i;
        count(tutti_ran != NULL && tutti_ran() != NULL ? tutti_ran() : "library_default");
    }
    for (int i = 0; rank == 0 && i < MOST && names[i] != NULL; i++)
        printf("%s %d\n", names[i], times[i]);
    if (wrong > 0)
        printf("wrong %d\n", wrong);
    free(data);
    MPI_Finalize();
    return wrong > 0;
}
