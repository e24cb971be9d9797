#include "cvar.h"

#include <string.h>

typedef union {
    int i;
    unsigned u;
    unsigned long ul;
    unsigned long long ull;
    unsigned char b;
    char room[64];
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
    case MPI_ERR_TYPE: return "is no whole number";
    }
    return "refused by the library";
}
