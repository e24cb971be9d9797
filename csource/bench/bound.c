#define _GNU_SOURCE /* dl_iterate_phdr */
#include "native.h"

#include <string.h>

/* Detects which function of Open MPI's component coll/tuned runs an algorithm. The component is a shared object that calls
 * the algorithms, functions of libmpi, through slots. The dynamic loader fills a slot at the first call of its function
 * (lazy binding). bound_clear() empties the slots; bound_name() names the function whose slot has been filled since. */

#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__)

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_SLOTS = 256 };

typedef struct {
    const char *name;      /* of the function */
    ElfW(Addr) *at, empty; /* the slot, and its value before the first call */
} slot;

typedef struct {
    ElfW(Addr) base;
    const ElfW(Rela) *relocations;
    size_t bytes;          /* of the relocations */
    const ElfW(Sym) *symbols;
    const char *strings;
    ElfW(Addr) *got;
    int lazy;
} object;

static slot slots[MAX_SLOTS];
static int nslots = -1; /* -1: not yet looked for; 0: functions cannot be detected */

static void read_dynamic(object *o, const ElfW(Dyn) *d)
{
    o->lazy = 1;
    for (; d->d_tag != DT_NULL; d++)
        switch (d->d_tag) {
        case DT_JMPREL: o->relocations = (const void *)d->d_un.d_ptr; break;
        case DT_PLTRELSZ: o->bytes = d->d_un.d_val; break;
        case DT_SYMTAB: o->symbols = (const void *)d->d_un.d_ptr; break;
        case DT_STRTAB: o->strings = (const void *)d->d_un.d_ptr; break;
        case DT_PLTGOT: o->got = (ElfW(Addr) *)d->d_un.d_ptr; break;
        case DT_BIND_NOW: o->lazy = 0; break;
        case DT_FLAGS: o->lazy &= !(d->d_un.d_val & DF_BIND_NOW); break;
        case DT_FLAGS_1: o->lazy &= !(d->d_un.d_val & DF_1_NOW); break;
        }
}

/* Returns the value that the file of the object has for a slot. Returns 0 if it has none. */
static ElfW(Addr) in_file(int file, const struct dl_phdr_info *info, ElfW(Addr) offset)
{
    ElfW(Addr) value = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && offset >= p->p_vaddr && offset + sizeof value <= p->p_vaddr + p->p_filesz &&
            pread(file, &value, sizeof value, (off_t)(offset - p->p_vaddr + p->p_offset)) != (ssize_t)sizeof value)
            return 0;
    }
    return value;
}

static void find_slots(const object *o, const struct dl_phdr_info *info)
{
    int file = open(info->dlpi_name, O_RDONLY);
    for (size_t i = 0; file >= 0 && i < o->bytes / sizeof *o->relocations && nslots < MAX_SLOTS; i++) {
        const ElfW(Rela) *r = &o->relocations[i];
        const char *name = o->strings + o->symbols[ELF64_R_SYM(r->r_info)].st_name;
        ElfW(Addr) first = in_file(file, info, r->r_offset);
        if (ELF64_R_TYPE(r->r_info) != R_X86_64_JUMP_SLOT || strncmp(name, "ompi_coll_base_", 15) != 0 || first == 0)
            continue;
        slot s = {name, (ElfW(Addr) *)(o->base + r->r_offset), o->base + first};
        slots[nslots++] = s;
    }
    if (file >= 0)
        close(file);
}

static int visit(struct dl_phdr_info *info, size_t size, void *unused)
{
    static const char component[] = "/mca_coll_tuned.so";
    size_t n = strlen(info->dlpi_name), m = sizeof component - 1;
    object o;
    (void)size, (void)unused;
    if (n < m || strcmp(info->dlpi_name + n - m, component) != 0)
        return 0;
    memset(&o, 0, sizeof o);
    o.base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            read_dynamic(&o, (const void *)(o.base + info->dlpi_phdr[i].p_vaddr));
    /* The third entry of this table is the loader's function that fills slots. */
    if (o.lazy && o.relocations != NULL && o.symbols != NULL && o.strings != NULL && o.got != NULL && o.got[2] != 0)
        find_slots(&o, info);
    return 1;
}

void bound_clear(void)
{
    const char *now = getenv("LD_BIND_NOW");
    if (nslots < 0) {
        nslots = 0;
        if (now == NULL || now[0] == 0)
            dl_iterate_phdr(visit, NULL);
    }
    for (int i = 0; i < nslots; i++)
        *slots[i].at = slots[i].empty;
}

int bound_name(collective what, char *name)
{
    char prefix[MAX_NAME];
    int n = snprintf(prefix, sizeof prefix, "ompi_coll_base_%s_", collective_name(what));
    name[0] = 0;
    for (int i = 0; i < nslots; i++) {
        const char *rest = slots[i].name + n;
        if (*slots[i].at == slots[i].empty || strncmp(slots[i].name, prefix, (size_t)n) != 0)
            continue;
        if ((strncmp(rest, "intra_", 6) == 0 && strstr(rest, "_generic") == NULL) || strcmp(rest, "basic_linear") == 0)
            snprintf(name, MAX_NAME, "%s", slots[i].name);
    }
    return nslots > 0;
}

#else

void bound_clear(void) {}

int bound_name(collective what, char *name)
{
    (void)what;
    name[0] = 0;
    return 0;
}

#endif
