/* later [session]: makes nonblocking collective calls, and with MPI 4 persistent ones. It completes them with each function
 * that MPI has for this: MPI_Wait, MPI_Test and so on. With MPI 4 it also makes calls with large counts. With the argument
 * it uses a session instead of MPI_Init. */
#include <mpi.h>
#include <stdio.h>

const char *tutti_ran(void) __attribute__((weak)); /* of the preloaded library */

enum { CALLS = 4 };

static int ends[8]; /* calls that each function completed */

static int sum(int n, const int *list)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += list[i];
    return s;
}

/* Waits for all requests by the function with the given number. */
static void complete(MPI_Request *r, int how)
{
    int done = 0, one, some[CALLS], n = 0;
    for (int left = CALLS; left > 0; left -= n) {
        n = 0;
        switch (how) {
        case 0: for (; n < CALLS; n++) MPI_Wait(&r[n], MPI_STATUS_IGNORE); break;
        case 1: MPI_Waitall(CALLS, r, MPI_STATUSES_IGNORE); n = CALLS; break;
        case 2: MPI_Waitany(CALLS, r, &one, MPI_STATUS_IGNORE); n = one != MPI_UNDEFINED; break;
        case 3: MPI_Waitsome(CALLS, r, &n, some, MPI_STATUSES_IGNORE); break;
        case 4:
            for (; n < CALLS; n++)
                for (done = 0; !done;)
                    MPI_Test(&r[n], &done, MPI_STATUS_IGNORE);
            break;
        case 5:
            for (done = 0; !done;)
                MPI_Testall(CALLS, r, &done, MPI_STATUSES_IGNORE);
            n = CALLS;
            break;
        case 6: MPI_Testany(CALLS, r, &one, &done, MPI_STATUS_IGNORE); n = done && one != MPI_UNDEFINED; break;
        default: MPI_Testsome(CALLS, r, &n, some, MPI_STATUSES_IGNORE); break;
        }
        ends[how] += n;
    }
}

static void work(MPI_Comm on)
{
    int a[CALLS] = {1, 2, 3, 4}, b[CALLS] = {0}, c[64] = {0};
    MPI_Request r[CALLS];
    for (int how = 0; how < 8; how++) {
        MPI_Iallreduce(a, b, CALLS, MPI_INT, MPI_SUM, on, &r[0]);
        MPI_Ibarrier(on, &r[1]);
        MPI_Ibcast(a, CALLS, MPI_INT, 0, on, &r[2]);
        MPI_Iallgather(a, 2, MPI_INT, c, 2, MPI_INT, on, &r[3]);
        complete(r, how);
    }
#if MPI_VERSION >= 4
    MPI_Allreduce_init(a, b, CALLS, MPI_INT, MPI_SUM, on, MPI_INFO_NULL, &r[0]);
    MPI_Barrier_init(on, MPI_INFO_NULL, &r[1]);
    MPI_Bcast_init_c(a, CALLS, MPI_INT, 0, on, MPI_INFO_NULL, &r[2]);
    MPI_Allgather_init(a, 2, MPI_INT, c, 2, MPI_INT, on, MPI_INFO_NULL, &r[3]);
    for (int how = 0; how < 8; how++) {
        if (how != 0 && how != 1 && how != 4)
            continue; /* MPICH has errors in the others */
        if (how % 2 == 0)
            MPI_Startall(CALLS, r);
        for (int i = 0; i < CALLS && how % 2 != 0; i++)
            MPI_Start(&r[i]);
        complete(r, how);
    }
    for (int i = 0; i < CALLS; i++)
        MPI_Request_free(&r[i]);
    for (int i = 0; i < 8; i++) {
        for (int bcast = 0; bcast < 2; bcast++) {
            if (bcast)
                MPI_Bcast_c(a, CALLS, MPI_INT, 0, on);
            else
                MPI_Allreduce_c(a, b, CALLS, MPI_INT, MPI_SUM, on);
            if (i == 7 && tutti_ran != NULL && tutti_ran() == NULL)
                printf("wrong: a call with a large count is not served\n");
        }
    }
    if (a[3] != 4 || b[3] < 4)
        printf("wrong: %d and %d\n", a[3], b[3]);
#endif
    for (int i = 0; i < 8; i++) /* libtutti serves calls from the fourth on */
        MPI_Allreduce(a, b, CALLS, MPI_INT, MPI_SUM, on);
}

int main(int argc, char **argv)
{
    int rank, session = 0;
    MPI_Comm on = MPI_COMM_WORLD;
#if MPI_VERSION >= 4
    MPI_Session s;
    MPI_Group group;
    session = argc > 1;
    if (session) {
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &s);
        MPI_Group_from_session_pset(s, "mpi://WORLD", &group);
        MPI_Comm_create_from_group(group, "later", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &on);
        MPI_Group_free(&group);
    }
#endif
    if (!session)
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(on, &rank);
    work(on);
    if (rank == 0)
        printf("%d ends\n", sum(8, ends));
#if MPI_VERSION >= 4
    if (session) {
        MPI_Comm_free(&on);
        MPI_Session_finalize(&s);
        return 0;
    }
#endif
    MPI_Finalize();
    return 0;
}
