/* Finds out whether the program uses the MPI library for which libtutti is built. Another library has other handles and
 * constants, so libtutti could not pass on any call. */
#define _GNU_SOURCE /* dladdr */
#include "library.h"
#include "origin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TEXT(x) #x
#define NUMBER(x) TEXT(x)

/* The MPI library that libtutti is built for, as the library itself reports it. A program may run with another release
 * of this library if the numbers before the first dot are equal. */
#if defined(MPI_ABI_VERSION)
#define BUILT_FOR "the MPI ABI"
#elif defined(OPEN_MPI)
#define BUILT_FOR "Open MPI v" NUMBER(OMPI_MAJOR_VERSION) "." NUMBER(OMPI_MINOR_VERSION) "." NUMBER(OMPI_RELEASE_VERSION)
#elif defined(MPICH_VERSION)
#define BUILT_FOR "MPICH Version: " MPICH_VERSION
#else
#define BUILT_FOR "another MPI library"
#endif

typedef int version_function(char *, int *);

static version_function *version_in(void *handle)
{
    version_function *f;
    void *found = dlsym(handle, "PMPI_Get_library_version");
    memcpy(&f, &found, sizeof f);
    return f;
}

/* Returns the function that reports the version of an MPI library. It is the library with which the file that contains
 * the address is linked or, if there is none, the program's library. */
static version_function *version_for(const void *address)
{
    Dl_info in;
    void *opened = dladdr(address, &in) ? dlopen(in.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    version_function *f = version_in(opened == NULL ? RTLD_DEFAULT : opened);
    if (opened != NULL)
        dlclose(opened);
    return f == NULL ? version_in(RTLD_DEFAULT) : f;
}

/* Returns whether a version is another major release of the library that libtutti is built for. A vendor's library
 * that is derived from MPICH reports another name. It is not a release of MPICH, so the result is 0. */
static int other_release(const char *version)
{
    return strncmp(version, BUILT_FOR, strcspn(BUILT_FOR, "0123456789")) == 0 &&
           strncmp(version, BUILT_FOR, strcspn(BUILT_FOR, ".") + 1) != 0;
}

/* Returns the path of the file from which libtutti was loaded. */
static const char *own_file(void)
{
    Dl_info in;
    return dladdr(&active, &in) ? in.dli_fname : "libtutti";
}

/* Removes libtutti from the list of preloaded libraries. Returns whether the list had it. */
static int leave_preload(void)
{
    const char *file = own_file();
    char *list = getenv("LD_PRELOAD"), *in = list == NULL ? NULL : strstr(list, file);
    if (in == NULL || strchr(": ", in[strlen(file)]) == NULL)
        return 0;
    memset(in, ':', strlen(file));
    return 1;
}

/* Returns whether this process has the number 0, or no number because it was started without a known launcher. */
static int is_first(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]) != NULL)
            return strcmp(getenv(names[i]), "0") == 0;
    return 1;
}

/* Compares the MPI library of libtutti with that of the program. If they differ, starts the program again without
 * libtutti, or ends it. If `argv` is NULL, it is too late to start the program again. */
static void check(version_function *program, char **argv)
{
    enum { LONGEST = 8192 }; /* in MPICH; in other libraries versions are shorter */
    char version[LONGEST + 1];
    int length;
    if (program == NULL)
        return;
    program(version, &length);
    version[strcspn(version, ",\n")] = 0;
    one_line(version);
    if (program == version_for(&active) && !other_release(version))
        return;
    int again = argv != NULL && leave_preload();
    if (!again || is_first())
        fprintf(stderr, "tutti: %s is built for %s; the program uses %s: %s\n", own_file(), BUILT_FOR, version,
                again ? "the program runs without libtutti" : "the program ends");
    if (again)
        execv("/proc/self/exe", argv);
    _exit(EXIT_FAILURE);
}

int same_origin(const void *address) { return version_for(address) == version_for(&active); }

void check_origin(void *address) { check(version_for(address), NULL); }

/* Checks the program's MPI library before main() starts. The GNU C library passes the program's arguments to constructors. */
__attribute__((constructor)) static void check_program(int argc, char **argv)
{
    (void)argc;
    check(version_in(RTLD_DEFAULT), argv);
}
