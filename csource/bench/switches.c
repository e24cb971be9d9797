#include "native.h"

#include "cvar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A control variable that tutti has written, with the value that it had before. */
typedef struct {
    char name[MAX_NAME];
    cvar cvar;
    long long first;
} variable;

static variable *touched;
static int ntouched;

int switches_start(char *why)
{
    int error = cvar_start();
    if (error != MPI_SUCCESS)
        snprintf(why, WHY, "MPI_T_init_thread: error %d", error);
    return error != MPI_SUCCESS;
}

/* Returns the index of a variable, and opens the variable at its first use. On an error it returns -1, and `why` holds
 * the reason. */
static int find(const char *name, char *why)
{
    for (int i = 0; i < ntouched; i++)
        if (strcmp(touched[i].name, name) == 0)
            return i;
    variable v;
    memset(&v, 0, sizeof v);
    snprintf(v.name, sizeof v.name, "%s", name);
    int error = cvar_open(&v.cvar, v.name);
    if (error == MPI_SUCCESS)
        error = cvar_fetch(&v.cvar, &v.first);
    variable *more = realloc(touched, ((size_t)ntouched + 1) * sizeof *more);
    if (error != MPI_SUCCESS || more == NULL) {
        snprintf(why, WHY, "%s: %s (error %d)", name, cvar_words(error), error);
        if (more != NULL)
            touched = more;
        return -1;
    }
    touched = more;
    touched[ntouched] = v;
    return ntouched++;
}

/* Writes a variable unless it already has the value. Some variables can only be set by the environment, so writing
 * them would fail. */
static int set(const variable *v, long long value, char *why)
{
    long long back = value - 1;
    if (cvar_fetch(&v->cvar, &back) == MPI_SUCCESS && back == value)
        return 0;
    int error = cvar_store(&v->cvar, value);
    if (error == MPI_SUCCESS)
        error = cvar_fetch(&v->cvar, &back);
    if (error != MPI_SUCCESS)
        snprintf(why, WHY, "%s=%lld: %s (error %d)", v->name, value, cvar_words(error), error);
    else if (back != value)
        snprintf(why, WHY, "%s=%lld: reads back as %lld", v->name, value, back);
    return error != MPI_SUCCESS || back != value;
}

static int item_name(const variable *v, int value, char *name)
{
    int n = 0, length = 0;
    if (MPI_T_enum_get_info(v->cvar.items, &n, NULL, &length) != MPI_SUCCESS)
        return -1;
    for (int i = 0; i < n; i++) {
        int number;
        length = MAX_NAME;
        if (MPI_T_enum_get_item(v->cvar.items, i, &number, name, &length) == MPI_SUCCESS && number == value)
            return 0;
    }
    name[0] = 0;
    return -1;
}

/* Writes the control variables of a case. Other variables that earlier cases changed get their original values
   back. */
int switches_apply(const setting *s, int n, char *why)
{
    char name[MAX_NAME];
    for (int i = 0; i < ntouched; i++) {
        int mine = 0;
        for (int k = 0; k < n; k++)
            mine |= strcmp(touched[i].name, s[k].name) == 0;
        if (!mine && set(&touched[i], touched[i].first, why))
            return -1;
    }
    for (int k = 0; k < n; k++) {
        int i = find(s[k].name, why);
        if (i < 0)
            return -1;
        if (touched[i].cvar.items != MPI_T_ENUM_NULL && item_name(&touched[i], s[k].value, name)) {
            snprintf(why, WHY, "%s=%d: not in the variable's enumeration", s[k].name, s[k].value);
            return -1;
        }
        if (set(&touched[i], s[k].value, why))
            return -1;
    }
    return 0;
}

/* Returns 0 if the library obeys the control variables of coll/tuned. Otherwise returns -1, and `why` holds the
 * reason. */
static int dynamic_rules(char *why)
{
    long long on = 0;
    int i = find("coll_tuned_use_dynamic_rules", why);
    if (i < 0 || cvar_fetch(&touched[i].cvar, &on) != MPI_SUCCESS)
        return -1;
    if (!on)
        snprintf(why, WHY, "coll_tuned_use_dynamic_rules is off: the library would ignore the algorithm");
    return on ? 0 : -1;
}

/* Returns whether coll/tuned is the first component that serves calls. Priorities do not change after the start,
 * so they are read only once. */
static int tuned_is_first(char *why)
{
    static char rival[MAX_NAME];
    static int priority = -1;
    if (priority < 0)
        priority = cvar_rival(rival, sizeof rival);
    if (priority > 0)
        snprintf(why, WHY, "coll/%s has priority %d, above coll/tuned: the library may ignore the algorithm", rival, priority);
    return priority == 0;
}

/* Writes the library's name of the algorithm that the settings select to `name`. It is empty if the settings select no
 * algorithm, or if the library does not list the names of its algorithms. */
int switches_enum(const setting *s, int n, collective what, char *name, char *why)
{
    char wanted[MAX_NAME];
    snprintf(wanted, sizeof wanted, "coll_tuned_%s_algorithm", collective_name(what));
    name[0] = 0;
    for (int k = 0; k < n; k++) {
        if (strncmp(s[k].name, "coll_tuned_", 11) != 0 || s[k].value == 0)
            continue;
        if (dynamic_rules(why) || !tuned_is_first(why))
            return -1;
        int i = find(s[k].name, why);
        if (i < 0)
            return -1;
        if (strcmp(s[k].name, wanted) == 0 && touched[i].cvar.items != MPI_T_ENUM_NULL)
            item_name(&touched[i], s[k].value, name);
    }
    return 0;
}
