#include "native.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(line *l, const char *text, size_t n)
{
    if (l->used + n + 1 > l->capacity) {
        size_t capacity = (l->used + n + 1) * 2;
        char *more = realloc(l->text, capacity);
        if (more == NULL) {
            fprintf(stderr, "tutti-native: no memory\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        l->text = more;
        l->capacity = capacity;
    }
    memcpy(l->text + l->used, text, n);
    l->used += n;
}

void line_raw(line *l, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put(l, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

/* Appends a quoted JSON string. Bytes above 0x7f are written as Latin-1 characters. */
void line_quoted(line *l, const char *value)
{
    put(l, "\"", 1);
    for (const unsigned char *p = (const unsigned char *)value; *p; p++)
        if (*p == '"' || *p == '\\')
            line_raw(l, "\\%c", *p);
        else if (*p < 0x20 || *p > 0x7e)
            line_raw(l, "\\u%04x", *p);
        else
            put(l, (const char *)p, 1);
    put(l, "\"", 1);
}

static void key(line *l, const char *name)
{
    if (l->used > 1)
        put(l, ",", 1);
    line_quoted(l, name);
    put(l, ":", 1);
}

void line_begin(line *l, const char *event)
{
    memset(l, 0, sizeof *l);
    put(l, "{", 1);
    line_string(l, "event", event);
}

void line_string(line *l, const char *name, const char *value)
{
    key(l, name);
    line_quoted(l, value);
}

void line_number(line *l, const char *name, double value)
{
    key(l, name);
    if (!isfinite(value)) {
        l->bad = 1;
        value = 0;
    }
    line_raw(l, "%.9g", value);
}

void line_integer(line *l, const char *name, long value)
{
    key(l, name);
    line_raw(l, "%ld", value);
}

/* Writes the whole line at once. If a number was not finite, the line gets the additional member "error", and readers
 * reject the line. */
void line_end(line *l)
{
    if (l->bad)
        line_raw(l, ",\"error\":\"a number is not finite\"");
    put(l, "}\n", 2);
    fwrite(l->text, 1, l->used, stdout);
    fflush(stdout);
    free(l->text);
}
