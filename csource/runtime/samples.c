#include "comm.h"
#include "explore.h"
#include "library.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_LINE = 512, BUFFER_BYTES = 64 << 10, MOST_PATH = 4096, TRIES = 100 };

static int file = -1;
static char path[MOST_PATH];
static char waiting[BUFFER_BYTES]; /* whole lines */
static char guard; /* lock of the lines */
static size_t used;
static time_t written;

static time_t seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

/* Creates a file for samples. Its name contains the node, the process and the time, so that no two jobs write to the
 * same file. */
static int create(const char *folder)
{
    char host[MPI_MAX_PROCESSOR_NAME + 1];
    struct timespec t;
    int length;
    PMPI_Get_processor_name(host, &length);
    for (char *c = host; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '-')
            *c = '_';
    clock_gettime(CLOCK_REALTIME, &t);
    for (int i = 0; file < 0 && i < TRIES; i++) {
        int n = snprintf(path, sizeof path, "%s/%.64s-%ld-%lld%09ld-%d.samples", folder, host, (long)getpid(), (long long)t.tv_sec, t.tv_nsec, i);
        if (n < 0 || (size_t)n >= sizeof path)
            errno = ENAMETOOLONG;
        else
            file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0666);
        if (file < 0 && errno != EEXIST)
            break;
    }
    return file < 0 ? -1 : 0;
}

int samples_open(const char *folder, char *why)
{
    char says[MPI_MAX_LIBRARY_VERSION_STRING + 1];
    if (create(folder)) {
        snprintf(why, WHY, "%s", strerror(errno));
        return -1;
    }
    library_version(says);
    used = (size_t)snprintf(waiting, BUFFER_BYTES, "# tutti-samples 1 %.127s\ncollective,nodes,ppn,msg_bytes,algorithm,longest,shortest\n", says);
    samples_flush(1);
    if (file < 0)
        snprintf(why, WHY, "%s", strerror(errno));
    return file < 0 ? -1 : 0;
}

/* Writes the collected lines to the file. After an error, such as a full disk, the job continues without samples. */
static void write_out(void)
{
    for (size_t done = 0; file >= 0 && done < used;) {
        ssize_t n = write(file, waiting + done, used - done);
        done += n > 0 ? (size_t)n : 0;
        if (n > 0 || (n < 0 && errno == EINTR))
            continue;
        fprintf(stderr, "tutti: %s: %s: no more samples are kept\n", path, strerror(errno));
        close(file);
        file = -1;
    }
    used = 0;
}

void samples_flush(int now)
{
    time_t at = seconds();
    lock(&guard);
    if (now || at != written)
        write_out();
    written = at;
    unlock(&guard);
}

void samples_add(collective what, const shape *at, uint64_t bytes, const char *name, double longest, double shortest)
{
    const char *quote = strchr(name, ',') != NULL ? "\"" : "";
    lock(&guard);
    if (used > BUFFER_BYTES - MOST_LINE)
        write_out();
    used += file < 0 ? 0 : (size_t)snprintf(waiting + used, MOST_LINE, "%s,%d,%d,%llu,%s%.250s%s,%.9g,%.9g\n", collective_name(what), at->nodes, at->ppn,
                             (unsigned long long)bytes, quote, name, quote, longest, shortest);
    unlock(&guard);
}

void samples_close(void)
{
    samples_flush(1);
    if (file >= 0)
        close(file);
    file = -1;
}
