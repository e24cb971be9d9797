/* Calls one collective in order to detect the algorithm that the library runs.
 *
 *   probe stack COLLECTIVE BYTES   MPICH: one process passes a little more than the
 *                                  others expect; the error names the functions that
 *                                  the library was in
 *   probe trace COLLECTIVE BYTES   Open MPI: the dynamic loader of the first process
 *                                  logs the functions of the component that are called
 *   probe ask COLLECTIVE BYTES     libtutti: it reports what served a few calls
 *
 * "trace" prints the name of an Open MPI component, such as coll/adapt, if that component may serve the calls before
 * coll/tuned and no function was detected.
 *
 * Prints lines "saw NAME NAME ...", outermost first, or a line "undetected REASON". Each line begins with a line end, since
 * another process may have printed an incomplete line. The program ends after 20 seconds at the latest.
 */
#define _DEFAULT_SOURCE
#include "collectives.h"
#include "cvar.h"

#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void late(int signal)
{
    static const char text[] = "\nundetected the call did not come back\n";
    (void)signal;
    if (write(1, text, sizeof text - 1) < 0)
        _exit(2);
    _exit(1);
}

static void undetected(const char *why)
{
    if (rank == 0)
        printf("\nundetected %s\n", why);
    fflush(stdout);
}

/* Returns a buffer with space for `count` elements for each rank. */
static void *buffer_for(long count)
{
    void *p = calloc((size_t)(count + 2) * (size_t)size + 16, 4);
    if (p == NULL) {
        undetected("no memory");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

static collective known(const char *name)
{
    collective what = BARRIER;
    if (!collective_named(name, strlen(name), &what)) {
        undetected("an unknown collective");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return what;
}

static int reduces(const char *name) { return collective_has(known(name), REDUCES) != 0; }

/* Makes a call with `count` elements. An element has 4 bytes in a reduction and 1 byte otherwise. */
static int call(const char *name, int count)
{
    const MPI_Comm on = MPI_COMM_WORLD;
    const MPI_Datatype rtype = reduces(name) ? MPI_FLOAT : MPI_CHAR, stype = rtype;
    const MPI_Op op = MPI_SUM;
    const int root = 0, scount = count, rcount = count;
    void *send = buffer_for(count), *recv = buffer_for(count);
    int *rcounts = malloc(sizeof(int) * (size_t)size), *rdispls = malloc(sizeof(int) * (size_t)size);
    const int *scounts = rcounts, *sdispls = rdispls;
    for (int i = 0; i < size; i++) {
        rcounts[i] = count;
        rdispls[i] = i * count;
    }
    switch (known(name)) {
#define CASE(number, name, lower, counts, properties, bytes, arguments) \
    case number: return MPI_##name arguments;
        EACH_COLLECTIVE(CASE)
#undef CASE
    case COLLECTIVES: break;
    }
    return MPI_ERR_INTERN;
}

/* Provokes an error, because MPICH's error message names the functions that were running: one process sends
 * more than the others expect. The others call with the requested count and get the error. Prints the names. */
static void stack(const char *what, long bytes)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    char text[MPI_MAX_ERROR_STRING + 1];
    int element = reduces(what) ? 4 : 1, length = 0;
    int count = (int)(bytes / element > 0 ? bytes / element : 1);
    int to_root = collective_has(known(what), TO_ROOT);
    int more = count / 8 > 0 ? count / 8 : 1;
    if (strstr(what, "allgather") != NULL) /* there a process receives as much as fits into its buffer */
        more = count * size;
    if (!strcmp(what, "barrier")) {
        undetected("a barrier has no message that could be too long");
        return;
    }
    if ((rank == 0) != to_root)
        count += more;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int error = call(what, count);
    if (error != MPI_SUCCESS && MPI_Error_string(error, text, &length) == MPI_SUCCESS) {
        text[length] = 0;
        static char line[MPI_MAX_ERROR_STRING + 16] = "\nsaw"; /* written at once; a launcher may still cut off the end */
        size_t used = strlen(line);
        for (const char *p = text; (p = strstr(p, "MPI")) != NULL;) {
            size_t n = strspn(p, letters);
            if (p[n] == 0) /* MPI truncates long texts */
                break;
            if (used + n + 2 < sizeof line)
                used += (size_t)sprintf(line + used, " %.*s", (int)n, p);
            p += n;
        }
        puts(line);
        fflush(stdout);
    } else {
        undetected("no error came of messages that were too long");
    }
    /* Waits so that the other processes can print first, longer if they may still be in the call. */
    usleep(error != MPI_SUCCESS ? 300000 : 2000000);
    if (length == MPI_MAX_ERROR_STRING - 1) { /* MPI cut off the text; MPICH prints all of it when it ends the program */
        dup2(1, 2);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        MPI_Comm_call_errhandler(MPI_COMM_WORLD, error);
    }
    MPI_Abort(MPI_COMM_WORLD, 0);
}

/* Prints the functions that the loader bound during the call. */
static void trace(const char *what, long bytes, const char *log)
{
    char line[4096], name[1024], component[64] = "";
    int element = reduces(what) ? 4 : 1, seen = 0, rival = cvar_start() == MPI_SUCCESS ? cvar_rival(component, sizeof component) : 0;
    long before = 0;
    FILE *f = NULL;
    if (rank == 0) {
        snprintf(name, sizeof name, "%s.%ld", log, (long)getpid());
        if ((f = fopen(name, "r")) != NULL) {
            fseek(f, 0, SEEK_END);
            before = ftell(f);
        }
    }
    int error = call(what, (int)(bytes / element > 0 ? bytes / element : 1));
    if (rank != 0 || error != MPI_SUCCESS)
        return;
    if (f == NULL && rival > 0) {
        printf("\nsaw coll/%s\n", component);
        return;
    }
    if (f == NULL) {
        undetected("the dynamic loader kept no log");
        return;
    }
    fseek(f, before, SEEK_SET);
    while (fgets(line, sizeof line, f) != NULL) {
        static const char form[] = "ompi_coll_base_";
        char *at = strstr(line, form), *end;
        if (at == NULL || strstr(line, "normal symbol") == NULL || strstr(at, "_generic") != NULL)
            continue;
        if (strstr(at, "_intra_") == NULL && strstr(at, "_block_basic_linear") == NULL)
            continue;
        if ((end = strpbrk(at, "'` \n")) != NULL)
            *end = 0;
        printf("%s %s", seen++ ? "" : "\nsaw", at);
    }
    if (seen)
        putchar('\n');
    fclose(f);
    remove(name);
    if (seen == 0 && rival > 0)
        printf("\nsaw coll/%s\n", component);
    else if (seen == 0)
        undetected("the loader bound no algorithm while the library called it");
    fflush(stdout);
}

/* Prints which algorithm served the last of five calls, as libtutti reports it. Five calls are needed, because libtutti
 * creates its own communicator at the fourth one. */
static void ask(const char *what, long bytes)
{
    enum { CALLS = 5 };
    const char *(*ran)(void) = NULL;
    void *all = dlopen(NULL, RTLD_NOW);
    int element = reduces(what) ? 4 : 1, parts = strstr(what, "reduce_scatter") != NULL ? size : 1;
    long count = bytes / element / parts;
    for (int i = 0; i < CALLS; i++)
        call(what, (int)(count > 0 ? count : 1));
    if (all != NULL)
        *(void **)&ran = dlsym(all, "tutti_ran");
    if (ran == NULL)
        undetected("libtutti.so is not loaded");
    else if (rank == 0)
        printf("\nsaw %s\n", ran() != NULL ? ran() : "library_default");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: probe stack|trace|ask COLLECTIVE BYTES\n");
        return 2;
    }
    char log[512];
    const char *dir = getenv("TMPDIR"), *first = getenv("OMPI_COMM_WORLD_RANK");
    int tracing = !strcmp(argv[1], "trace");
    snprintf(log, sizeof log, "%s/tutti-probe", dir && strlen(dir) < 400 ? dir : "/tmp");
    if (tracing && first != NULL && atoi(first) == 0 && getenv("LD_DEBUG") == NULL) {
        setenv("LD_DEBUG", "bindings", 1);
        setenv("LD_DEBUG_OUTPUT", log, 1);
        unsetenv("LD_BIND_NOW");
        execv("/proc/self/exe", argv);
        unsetenv("LD_DEBUG");
    }
    signal(SIGALRM, late);
    alarm(20);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (tracing)
        trace(argv[2], atol(argv[3]), log);
    else if (!strcmp(argv[1], "ask"))
        ask(argv[2], atol(argv[3]));
    else
        stack(argv[2], atol(argv[3]));
    MPI_Finalize();
    return 0;
}
