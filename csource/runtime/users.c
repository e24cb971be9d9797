#include "library.h"
#include "origin.h"
#include "users.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

user_algorithm *user_algorithms;
const algorithm user_missing = {COLLECTIVES, "", NULL, USERS, NULL};
const char *const user_parameters[] = {"segsize", "radix", "window", "barriers", NULL};

enum { ALL_NEEDS = POWER_OF_TWO | EVEN | COMMUTATIVE | COUNT_SIZE | COUNT_POWER_OF_TWO };

const algorithm *users_find(collective what, const char *name, size_t n, const char *parameter)
{
    for (const user_algorithm *u = user_algorithms; u != NULL; u = u->next)
        if (u->algorithm.what == what && strlen(u->own->name) == n && memcmp(u->own->name, name, n) == 0)
            return parameter == NULL || (u->algorithm.parameter != NULL && strcmp(parameter, u->algorithm.parameter) == 0) ? &u->algorithm : &user_missing;
    return &user_missing;
}

static int right_name(const char *name)
{
    size_t n = 0;
    while (n < sizeof ((tutti_algorithm *)0)->name && (isalnum((unsigned char)name[n]) || name[n] == '_'))
        n++;
    return n > 0 && n < sizeof ((tutti_algorithm *)0)->name && name[n] == 0;
}

/* Returns the entry of user_parameters that has the name of this algorithm's parameter, or NULL. */
static const char *parameter_of(const tutti_algorithm *own)
{
    for (const char *const *p = user_parameters; *p != NULL; p++)
        if (strncmp(own->parameter, *p, sizeof own->parameter) == 0)
            return *p;
    return NULL;
}

/* Converts a user's algorithm, as a shared object defines it, to libtutti's form. Returns what is wrong with it, or
 * NULL. */
static const char *convert(user_algorithm *u)
{
    const tutti_algorithm *own = u->own;
    algorithm *a = &u->algorithm;
    if (own->interface != TUTTI_INTERFACE)
        return "an object built with the tutti_algorithm.h of this libtutti, and {0} at the end of tutti_algorithms";
    if (!right_name(own->name))
        return "a name of letters, digits and _";
    if (!collective_named(own->collective, strnlen(own->collective, sizeof own->collective), &a->what))
        return "a collective like reduce_scatter";
    if (users_find(a->what, own->name, strlen(own->name), NULL) != &user_missing)
        return "each name once";
    if (own->needs & ~(unsigned)ALL_NEEDS || own->min_ranks < 0 || own->max_ranks < 0)
        return "known requirements";
    a->parameter = parameter_of(own);
    if (own->parameter[0] != 0 && a->parameter == NULL)
        return "the parameter segsize, radix, window, barriers or none";
    if (own->run == NULL)
        return "a function";
    snprintf(u->name, sizeof u->name, "user.%s", own->name);
    a->name = u->name;
    a->needs = own->needs | USERS | SIGNALS;
    return NULL;
}

/* Adds the algorithms of a shared object. Returns 0, or -1 with the reason. */
static int load(const char *path, char *why)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const tutti_algorithm *own = object == NULL ? NULL : dlsym(object, "tutti_algorithms");
    if (own == NULL) {
        snprintf(why, WHY, "%s", dlerror());
        return -1;
    }
    if (!same_origin(own)) {
        snprintf(why, WHY, "%s: it is built for another MPI library", path);
        return -1;
    }
    for (int i = 1; own->interface != 0; own++, i++) {
        user_algorithm *u = allocate(1, sizeof *u);
        u->own = own;
        const char *want = convert(u);
        if (want != NULL) {
            free(u);
            snprintf(why, WHY, "%s: algorithm %d: want %s", path, i, want);
            return -1;
        }
        u->next = user_algorithms;
        user_algorithms = u;
    }
    return 0;
}

/* Returns a checksum of all users' algorithms that come before the given one in the list. */
static uint64_t sum_before(const user_algorithm *old)
{
    uint64_t sum = 0;
    for (const user_algorithm *u = user_algorithms; u != old; u = u->next)
        sum = sum * 31 + checksum((const char *)u->own, offsetof(tutti_algorithm, run));
    return sum;
}

static void load_everywhere(MPI_Comm world, int rank, const char *path)
{
    user_algorithm *old = user_algorithms;
    char why[WHY] = "";
    uint64_t all[3];
    all[0] = load(path, why) == 0;
    all[1] = sum_before(old);
    all[2] = ~all[1];
    PMPI_Allreduce(MPI_IN_PLACE, all, 3, MPI_UINT64_T, MPI_MIN, world);
    if (all[0] && all[1] == ~all[2])
        return;
    if (why[0] == 0)
        snprintf(why, WHY, "%s: other nodes have another file, or none", path);
    if (rank == 0)
        fprintf(stderr, "tutti: TUTTI_ALGORITHMS: %s: its algorithms are not used\n", why);
    while (user_algorithms != old) {
        user_algorithm *u = user_algorithms;
        user_algorithms = u->next;
        free(u);
    }
}

void users_load(MPI_Comm world, const char *paths)
{
    int rank, length = paths == NULL ? 0 : (int)strlen(paths);
    PMPI_Comm_rank(world, &rank);
    PMPI_Bcast(&length, 1, MPI_INT, 0, world);
    char *text = allocate((size_t)length + 1, 1), *next;
    if (length > 0 && rank == 0)
        memcpy(text, paths, (size_t)length);
    if (length > 0)
        PMPI_Bcast(text, length, MPI_CHAR, 0, world);
    for (char *path = strtok_r(text, ":", &next); path != NULL; path = strtok_r(NULL, ":", &next))
        load_everywhere(world, rank, path);
    free(text);
}
