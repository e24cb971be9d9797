#include "native.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Functions of libtutti.so. The library is preloaded if its algorithms are measured; see csource/runtime/tutti.h. */
static int (*force)(const char *what, const char *algorithm, char *why, size_t capacity);
static const char *(*ran)(void);

static int forced;

static void find(void)
{
    void *all = dlopen(NULL, RTLD_NOW);
    if (all == NULL)
        return;
    *(void **)&force = dlsym(all, "tutti_force");
    *(void **)&ran = dlsym(all, "tutti_ran");
}

/* Lets an algorithm of libtutti serve all further calls. If `algorithm` is NULL, the MPI library serves them. All
 * ranks of the world must call this function. */
int own_force(collective what, const char *algorithm, char *why)
{
    if (algorithm == NULL && !forced)
        return 0;
    if (force == NULL)
        find();
    if (force == NULL || ran == NULL) {
        snprintf(why, WHY, "libtutti.so is not loaded: want its path in LD_PRELOAD");
        return -1;
    }
    forced = algorithm != NULL;
    return force(forced ? collective_name(what) : NULL, algorithm, why, WHY);
}

/* Checks that the given algorithm served this rank's last call. */
int own_obeyed(const char *algorithm, char *why)
{
    const char *name = ran();
    if (name != NULL && strcmp(name, algorithm) == 0)
        return 1;
    snprintf(why, WHY, "libtutti left the call to %.100s", name == NULL ? "the MPI library" : name);
    return 0;
}
