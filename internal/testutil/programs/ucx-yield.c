// This library is preloaded into programs of Debian 12's MPICH 4.0.2 (over UCX) on virtual nodes.
//
// MPI_Finalize of this MPICH waits until every connection is closed. Over TCP this wait can last forever, because
// other ranks already wait in the barrier of the process manager. The library skips the wait: no rank sends after
// the barrier.
//
// It also lets an idle rank yield the processor, because there may be more ranks than cores.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>

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
    unsigned events = progress(worker);
    if (events == 0)
        sched_yield();
    return events;
}
