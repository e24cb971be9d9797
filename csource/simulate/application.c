/* application TRACE TIMES COMPUTE SEED: an application that makes TIMES times as many calls as the file TRACE counts,
 * evenly distributed over its classes (collective, layout and size). Before each call it computes for COMPUTE
 * microseconds, varied by up to 5 %. If the layout of a class is smaller than the world, its calls run on several
 * communicators at once, as many as fit. Rank 0 prints for each class the number of calls, and the mean microseconds
 * of a call over the ranks in the whole run and in its second half. At the end it prints the time of all calls. */
#include "draw.h"
#include "explore.h"

#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

typedef struct {
    char what[32];
    int nodes, ppn, bytes;
    int calls, made;
    double took, late; /* late: in the second half */
    MPI_Comm on;
} class;

static class classes[MOST];
static int nclasses, rank, size;
static char *sent, *got;

static void read_trace(const char *path, double times)
{
    char line[256];
    FILE *f = fopen(path, "r");
    while (f != NULL && nclasses < MOST && fgets(line, sizeof line, f) != NULL) {
        class *c = &classes[nclasses];
        double calls;
        if (sscanf(line, "%31[^,],%d,%d,%d,%lf", c->what, &c->nodes, &c->ppn, &c->bytes, &calls) != 5)
            continue;
        c->calls = (int)(calls * times + .5);
        nclasses += c->calls > 0;
    }
    if (f != NULL)
        fclose(f);
}

static void split(class *c)
{
    const shape *world = comm_of(MPI_COMM_WORLD)->shape;
    int node = rank / world->ppn, local = rank % world->ppn; /* nodes are filled in order */
    int ppn = c->ppn < world->ppn ? c->ppn : world->ppn, parts = (world->ppn + ppn - 1) / ppn;
    MPI_Comm_split(MPI_COMM_WORLD, node / c->nodes * parts + local / ppn, rank, &c->on);
    c->ppn = ppn;
}

static void make_call(const class *c)
{
    if (strcmp(c->what, "allgather") == 0)
        MPI_Allgather(sent, c->bytes, MPI_BYTE, got, c->bytes, MPI_BYTE, c->on);
    else if (strcmp(c->what, "allreduce") == 0)
        MPI_Allreduce(sent, got, c->bytes / (int)sizeof(float), MPI_FLOAT, MPI_SUM, c->on);
    else if (strcmp(c->what, "alltoall") == 0)
        MPI_Alltoall(sent, c->bytes, MPI_BYTE, got, c->bytes, MPI_BYTE, c->on);
    else
        MPI_Bcast(got, c->bytes, MPI_BYTE, 0, c->on);
}

/* Returns the class that has made the smallest fraction of its calls, or NULL when all calls are done. */
static class *next(void)
{
    class *least = NULL;
    for (class *c = classes; c < classes + nclasses; c++)
        if (c->made < c->calls && (least == NULL || (c->made + .5) / c->calls < (least->made + .5) / least->calls))
            least = c;
    return least;
}

static double on_the_mean(double microseconds)
{
    PMPI_Allreduce(MPI_IN_PLACE, &microseconds, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return microseconds / size;
}

static void say(void)
{
    double all = 0;
    for (const class *c = classes; c < classes + nclasses; c++) {
        double took = on_the_mean(c->took * 1e6), late = on_the_mean(c->late * 1e6 / (c->made - c->made / 2));
        all += took;
        if (rank == 0)
            printf("%s,%d,%d,%d,%d,%.1f,%.3f\n", c->what, c->nodes, c->ppn, c->bytes, c->made, took, late);
    }
    if (rank == 0)
        printf("all,,,,,%.1f,\n", all);
}

int main(int argc, char **argv)
{
    int most = 0, calls = 0;
    MPI_Init(&argc, &argv);
    if (argc != 5)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    read_trace(argv[1], atof(argv[2]));
    double compute = atof(argv[3]) * 1e-6;
    for (int i = 0; i < nclasses; i++) {
        split(&classes[i]);
        most = classes[i].bytes > most ? classes[i].bytes : most;
    }
    sent = SMPI_SHARED_MALLOC((size_t)most * (size_t)size);
    got = SMPI_SHARED_MALLOC((size_t)most * (size_t)size);
    for (class *c; (c = next()) != NULL; calls++) {
        uint64_t at[] = {(uint64_t)atoi(argv[4]), (uint64_t)rank, (uint64_t)calls};
        smpi_execute_benched(compute * (0.95 + 0.1 * uniform(at, 3)));
        double from = MPI_Wtime();
        make_call(c);
        double took = MPI_Wtime() - from;
        c->took += took;
        if (c->made++ >= c->calls / 2)
            c->late += took;
    }
    say();
    MPI_Finalize();
    return 0;
}
