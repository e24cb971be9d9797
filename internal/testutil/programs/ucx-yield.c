// This library is preloaded into programs of Debian 12's MPICH 4.0.2 (over UCX) on virtual nodes.
//
// MPI_Finalize of this MPICH waits until every connection is closed. Over TCP this wait can last forever, because
// other ranks already wait in the barrier of the process manager. The library skips the wait: no rank sends after
// the barrier.
//
// It also lets an idle rank yield the processor, because there may be more ranks than cores. A rank that has been idle
// for long sleeps between its polls.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>
#include <unistd.h>

#define LONG_IDLE 1000 /* polls without an event, about a millisecond */
#define SLEEP 50       /* microseconds */

void *ucp_disconnect_nb(void *endpoint)
{
    (void)endpoint;
    return NULL;
}

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*progress)(void *);
    if (progress == NULL)
        *(void **)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
    static int idle; /* polls without an event */
    unsigned events = progress(worker);
    idle = events == 0 ? idle + 1 : 0;
    if (idle > LONG_IDLE)
        usleep(SLEEP);
    else if (idle > 0)
        sched_yield();
    return events;
}
