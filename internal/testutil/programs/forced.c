/* forced read NAME...                      prints the values of integer control variables at the start
 * forced call COLL BYTES NAME=VALUE... [-- NAME=VALUE...]...
 *                                          for each group of variables: sets them, then makes the call on a new communicator.
 *                                          If COLL is mismatch, it is a bcast whose buffer on the last rank is too small, so
 *                                          that the error names the algorithm */
#include "collectives.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static MPI_T_cvar_handle handle(const char *want) {
  int n, count, prov;
  MPI_T_cvar_handle h;
  (void)prov;
  MPI_T_cvar_get_num(&n);
  for (int i = 0; i < n; i++) {
    static char name[1024], text[65536];
    int nl = sizeof name, tl = sizeof text, verbosity, bind, scope;
    MPI_Datatype type;
    MPI_T_enum values;
    if (MPI_T_cvar_get_info(i, name, &nl, &verbosity, &type, &values, text, &tl, &bind, &scope) != MPI_SUCCESS) continue;
    if (strcmp(name, want)) continue;
    if (type != MPI_INT) { printf("%s is no int\n", want); exit(1); }
    if (MPI_T_cvar_handle_alloc(i, NULL, &h, &count) != MPI_SUCCESS || count != 1) { printf("%s: no handle\n", want); exit(1); }
    return h;
  }
  printf("%s: no such variable\n", want);
  exit(1);
}

static void put(char *setting) {
  char *eq = strchr(setting, '=');
  *eq = 0;
  int value = atoi(eq + 1), back = -1;
  MPI_T_cvar_handle h = handle(setting);
  *eq = '=';
  if (MPI_T_cvar_write(h, &value) != MPI_SUCCESS || MPI_T_cvar_read(h, &back) != MPI_SUCCESS || back != value) {
    printf("%s was not written\n", setting);
    exit(1);
  }
  MPI_T_cvar_handle_free(&h);
}

static void call(const char *coll, int bytes, MPI_Comm on) {
  char *send = calloc((size_t)bytes * size, 1), *recv = calloc((size_t)bytes * size, 1), text[MPI_MAX_ERROR_STRING];
  const MPI_Datatype stype = MPI_FLOAT, rtype = MPI_FLOAT;
  const MPI_Op op = MPI_SUM;
  MPI_Request request = MPI_REQUEST_NULL;
  int scount = bytes / 4, rcount = scount, root = 0, length, *counts = malloc(size * sizeof *counts), *at = malloc(size * sizeof *at), rc = MPI_SUCCESS;
  int *scounts = counts, *rcounts = counts, *sdispls = at, *rdispls = at;
  for (int i = 0; i < size; i++) { counts[i] = scount; at[i] = i * scount; }
  MPI_Comm_set_errhandler(on, MPI_ERRORS_RETURN);
  if (!strcmp(coll, "mismatch")) rc = MPI_Bcast(recv, rank == size - 1 ? bytes / 4 * 3 : bytes, MPI_CHAR, root, on);
#define OPEN(...) __VA_ARGS__
#define CALL(number, name, lower, counted, properties, size_of_call, arguments) \
  if (!strcmp(coll, #lower)) rc = MPI_##name arguments; \
  if (!strcmp(coll, "i" #lower)) rc = MPI_I##lower(OPEN arguments, &request);
  EACH_COLLECTIVE(CALL)
  if (rc == MPI_SUCCESS) rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rc != MPI_SUCCESS) {
    MPI_Error_string(rc, text, &length);
    for (char *p = text; *p; p++) if (*p == '\n') *p = ' ';
    printf("failed %s\n", text);
  } else if (rank == 0) printf("called %s\n", coll);
  fflush(stdout);
  free(send), free(recv), free(counts), free(at);
}

/* A barrier that consists of point-to-point messages, because the collectives are under test. */
static void together(void) {
  char c = 0;
  for (int i = 1; i < size; i++) {
    if (rank == 0) MPI_Recv(&c, 1, MPI_CHAR, i, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == i) MPI_Send(&c, 1, MPI_CHAR, 0, 9, MPI_COMM_WORLD);
  }
  for (int i = 1; i < size; i++) {
    if (rank == 0) MPI_Send(&c, 1, MPI_CHAR, i, 9, MPI_COMM_WORLD);
    if (rank == i) MPI_Recv(&c, 1, MPI_CHAR, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char **argv) {
  int prov;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &prov);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1 && !strcmp(argv[1], "read"))
    for (int i = 2; i < argc; i++) {
      int value = -1;
      MPI_T_cvar_handle h = handle(argv[i]);
      MPI_T_cvar_read(h, &value);
      printf("%s=%d\n", argv[i], value);
    }
  if (argc > 3 && !strcmp(argv[1], "call")) {
    int i = 4;
    do {
      MPI_Comm c;
      for (; i < argc && strcmp(argv[i], "--"); i++) put(argv[i]);
      together();
      if (getenv("OMPI_COMM_WORLD_SIZE")) MPI_Comm_dup(MPI_COMM_WORLD, &c);
      else c = MPI_COMM_WORLD;
      call(argv[2], atoi(argv[3]), c);
      together();
    } while (++i < argc);
  }
  fflush(stdout);
  if (argc > 2 && !strcmp(argv[2], "mismatch")) { /* messages of a failed call may be under way */
    together(); /* the first process to exit ends the others */
    _Exit(0);
  }
  MPI_Finalize();
  return 0;
}
