#include "cvar.h"

#include <stdio.h>
#include <string.h>

typedef union {
    int i;
    unsigned u;
    unsigned long ul;
    unsigned long long ull;
    unsigned char b;
    char space[64];
} any;

int cvar_start(void)
{
    int provided;
    return MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
}

int cvar_open(cvar *v, const char *name)
{
    int index, count, verbosity, bind, scope, length = 0, described = 0;
    int error = MPI_T_cvar_get_index(name, &index);
    if (error == MPI_SUCCESS)
        error = MPI_T_cvar_get_info(index, NULL, &length, &verbosity, &v->type, &v->items, NULL, &described, &bind, &scope);
    if (error == MPI_SUCCESS)
        error = bind == MPI_T_BIND_NO_OBJECT ? MPI_T_cvar_handle_alloc(index, NULL, &v->handle, &count) : MPI_ERR_TYPE;
    return error == MPI_SUCCESS && count != 1 ? MPI_ERR_TYPE : error;
}

int cvar_fetch(const cvar *v, long long *value)
{
    any a;
    memset(&a, 0, sizeof a);
    int error = MPI_T_cvar_read(v->handle, &a);
    if (v->type == MPI_INT)
        *value = a.i;
    else if (v->type == MPI_UNSIGNED)
        *value = a.u;
    else if (v->type == MPI_UNSIGNED_LONG)
        *value = (long long)a.ul;
    else if (v->type == MPI_UNSIGNED_LONG_LONG)
        *value = (long long)a.ull;
    else if (v->type == MPI_C_BOOL)
        *value = a.b;
    else
        return MPI_ERR_TYPE;
    return error;
}

int cvar_store(const cvar *v, long long value)
{
    any a;
    if (v->type == MPI_INT)
        a.i = (int)value;
    else if (v->type == MPI_UNSIGNED)
        a.u = (unsigned)value;
    else if (v->type == MPI_UNSIGNED_LONG)
        a.ul = (unsigned long)value;
    else if (v->type == MPI_UNSIGNED_LONG_LONG)
        a.ull = (unsigned long long)value;
    else if (v->type == MPI_C_BOOL)
        a.b = (unsigned char)value;
    else
        return MPI_ERR_TYPE;
    return MPI_T_cvar_write(v->handle, &a);
}

const char *cvar_words(int error)
{
    switch (error) {
    case MPI_T_ERR_CVAR_SET_NOT_NOW: return "cannot be set now";
    case MPI_T_ERR_CVAR_SET_NEVER: return "can never be set";
    case MPI_T_ERR_INVALID_NAME: return "no such control variable";
    case MPI_T_ERR_INVALID_HANDLE: return "handle is invalid";
    case MPI_ERR_TYPE: return "is not an integer";
    }
    return "refused by the library";
}

/* Returns the value of the variable coll_COMPONENT_WORD, or `otherwise` if the library has no such variable. */
static int coll_value(const char *component, const char *word, int otherwise)
{
    char name[128];
    cvar v;
    long long value = otherwise;
    snprintf(name, sizeof name, "coll_%s_%s", component, word);
    if (cvar_open(&v, name) != MPI_SUCCESS)
        return otherwise;
    if (cvar_fetch(&v, &value) != MPI_SUCCESS)
        value = otherwise;
    MPI_T_cvar_handle_free(&v.handle);
    return (int)value;
}

/* Returns whether a component never serves the blocking collectives that tutti tunes. Some components only serve
 * communicators of one rank, intercommunicators or nonblocking calls. Others pass each call to the next component:
 * after a barrier, after counting it, or if its buffers are in main memory. */
static int harmless(const char *component)
{
    static const char *const names[] = {"tuned", "self", "inter", "libnbc", "sync", "monitoring", "cuda", "accelerator"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], component) == 0)
            return 1;
    return 0;
}

int cvar_rival(char *name, size_t capacity)
{
    int n = 0, own = coll_value("tuned", "priority", -1), most = 0;
    if (own < 0 || MPI_T_cvar_get_num(&n) != MPI_SUCCESS)
        return 0;
    for (int i = 0; i < n; i++) {
        char text[128], component[128];
        int length = sizeof text, verbosity, bind, scope, described = 0, end = 0;
        MPI_Datatype type;
        MPI_T_enum items;
        if (MPI_T_cvar_get_info(i, text, &length, &verbosity, &type, &items, NULL, &described, &bind, &scope) != MPI_SUCCESS)
            continue;
        if (sscanf(text, "coll_%63[a-z0-9]_priority%n", component, &end) != 1 || end == 0 || text[end] != 0 || harmless(component))
            continue;
        if (strcmp(component, "han") == 0 && coll_value(component, "use_dynamic_file_rules", 0) != 0) /* with these rules it passes calls on */
            continue;
        int priority = coll_value(component, "priority", 0);
        if (priority > own && priority > most && coll_value(component, "enable", 1) != 0) {
            most = priority;
            snprintf(name, capacity, "%s", component);
        }
    }
    return most;
}

void cvar_print(const char *prefix)
{
    static char text[4096];
    int n = 0;
    if (MPI_T_cvar_get_num(&n) != MPI_SUCCESS)
        return;
    for (int i = 0; i < n; i++) {
        char name[128];
        int length = sizeof name, described = 0, verbosity, bind, scope, count;
        long long value;
        MPI_T_enum items;
        cvar v;
        if (MPI_T_cvar_get_info(i, name, &length, &verbosity, &v.type, &items, NULL, &described, &bind, &scope) != MPI_SUCCESS ||
            strncmp(name, prefix, strlen(prefix)) != 0 || bind != MPI_T_BIND_NO_OBJECT ||
            MPI_T_cvar_handle_alloc(i, NULL, &v.handle, &count) != MPI_SUCCESS)
            continue;
        if (v.type == MPI_CHAR && count > 0 && count < (int)sizeof text && MPI_T_cvar_read(v.handle, text) == MPI_SUCCESS) {
            text[count] = 0;
            if (strpbrk(text, "\r\n") == NULL)
                printf("cvar %s=%s\n", name, text);
        } else if (v.type != MPI_CHAR && count == 1 && cvar_fetch(&v, &value) == MPI_SUCCESS) {
            printf("cvar %s=%lld\n", name, value);
        }
        MPI_T_cvar_handle_free(&v.handle);
    }
}
