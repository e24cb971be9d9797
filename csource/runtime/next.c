#define _GNU_SOURCE /* RTLD_NEXT */
#include "next.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

#define DO(name) .name = PMPI_##name,
const functions mpi_library = {EACH_FUNCTION};
functions next = {EACH_FUNCTION};
#undef DO

function *next_function(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    function *f;
    memcpy(&f, &found, sizeof f);
    return f;
}

/* Looks up the functions of the libraries that are loaded after libtutti. If none of them has a function, the PMPI
 * function remains. */
__attribute__((constructor)) static void look_up(void)
{
    function *f;
#define DO(name) \
    if ((f = next_function("MPI_" #name)) != NULL) \
        next.name = (__typeof__(next.name))f;
    EACH_FUNCTION
#undef DO
}

/* Returns the file that defines the function at an address, or NULL. An executable that only calls the function may
 * have an undefined symbol for it, which does not count. */
static const char *file_of(const void *found)
{
    Dl_info in;
    const ElfW(Sym) *symbol = NULL;
    if (found == NULL || !dladdr1(found, &in, (void **)&symbol, RTLD_DL_SYMENT))
        return NULL;
    return symbol != NULL && symbol->st_shndx == SHN_UNDEF ? NULL : in.dli_fname;
}

static const char *file_with(const char *name, void *handle) { return file_of(dlsym(handle, name)); }

static int defines_init(const char *file)
{
    void *opened = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
    const char *with = opened == NULL ? NULL : file_with("MPI_Init", opened);
    if (opened != NULL)
        dlclose(opened);
    return with != NULL && strcmp(with, file) == 0;
}

const char *hidden_by(int stacked, char *names, size_t size)
{
    static const char *const called[][2] = {
#define NAMES(number, name, lower, ...) {"MPI_" #name, #lower},
        EACH_COLLECTIVE(NAMES)
    };
    const char *own = file_of(&next), *last = file_with("PMPI_Bcast", RTLD_DEFAULT), *by = NULL;
    size_t n = 0;
    for (int i = 0; i < COLLECTIVES; i++) {
        const char *first = file_with(called[i][0], RTLD_DEFAULT);
        if (first == NULL || strcmp(first, own) == 0 || strcmp(first, last) == 0 || (stacked && defines_init(first)))
            continue;
        by = first;
        n += (size_t)snprintf(names + n, n < size ? size - n : 0, "%s%s", n == 0 ? "" : ", ", called[i][1]);
    }
    return by;
}
