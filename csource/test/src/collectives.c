/* collectives check COUNT...     every collective with every COUNT, results compared with the definition
 * collectives name BYTES         a bcast with one buffer too small: the error of an MPI library that keeps a stack of
 *                                its functions then names the algorithm
 * collectives call COLL BYTES    just call it, so that a tracer sees what it runs */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, root;
static MPI_Comm world;

/* ---- an associative operation that is not commutative: composition of x -> a*x + b modulo a prime ---- */
typedef struct { unsigned a, b; } Map;
static MPI_Datatype map_type;
static MPI_Op map_op, sum_op;
enum { PRIME = 65521 };

static Map compose(Map f, Map g) { Map h = { f.a * g.a % PRIME, (g.a * f.b + g.b) % PRIME }; return h; }
static Map map_of(int r, int i) { Map m = { 2 + (r * 7 + i) % 1000, 1 + (r * 13 + i * 3) % 1000 }; return m; }
static Map map_until(int last, int i) {
  Map m = map_of(0, i);
  for (int r = 1; r <= last; r++) m = compose(m, map_of(r, i));
  return m;
}
static void compose_all(void *in, void *inout, int *n, MPI_Datatype *t) {
  Map *x = in, *y = inout;
  (void)t;
  for (int i = 0; i < *n; i++) y[i] = compose(x[i], y[i]);
}
static void sum_all(void *in, void *inout, int *n, MPI_Datatype *t) {
  unsigned *x = in, *y = inout;
  (void)t;
  for (int i = 0; i < *n; i++) y[i] += x[i];
}

/* ---- plain values ---- */
static unsigned value(int r, int i) { return r * 1000003u + i; }
static unsigned sum_until(int last, int i) {
  unsigned s = 0;
  for (int r = 0; r <= last; r++) s += value(r, i);
  return s;
}
static void fill(unsigned *a, int n) { for (int i = 0; i < n; i++) a[i] = value(rank, i); }
static int differs(const unsigned *b, int n, int from, int offset) {
  int bad = 0;
  for (int i = 0; i < n; i++) bad += b[i] != value(from, offset + i);
  return bad;
}
static int sum_differs(const unsigned *b, int n, int last, int offset) {
  int bad = 0;
  for (int i = 0; i < n; i++) bad += b[i] != sum_until(last, offset + i);
  return bad;
}
static int maps_differ(const Map *b, int n, int last, int offset) {
  int bad = 0;
  for (int i = 0; i < n; i++) { Map m = map_until(last, offset + i); bad += b[i].a != m.a || b[i].b != m.b; }
  return bad;
}

typedef int Test(int n, unsigned *a, unsigned *b);

static int t_bcast(int n, unsigned *a, unsigned *b) {
  (void)b;
  fill(a, n);
  MPI_Bcast(a, n, MPI_UNSIGNED, root, world);
  return differs(a, n, root, 0);
}
static int t_allgather(int n, unsigned *a, unsigned *b) {
  int bad = 0;
  fill(a, n);
  MPI_Allgather(a, n, MPI_UNSIGNED, b, n, MPI_UNSIGNED, world);
  for (int r = 0; r < size; r++) bad += differs(b + r * n, n, r, 0);
  return bad;
}
static int t_allgatherv(int n, unsigned *a, unsigned *b) {
  int bad = 0, counts[64], at[64], total = 0;
  for (int r = 0; r < size; r++) { counts[r] = r % 3 == 1 ? 0 : n; at[r] = total; total += counts[r]; }
  fill(a, n);
  MPI_Allgatherv(a, counts[rank], MPI_UNSIGNED, b, counts, at, MPI_UNSIGNED, world);
  for (int r = 0; r < size; r++) bad += differs(b + at[r], counts[r], r, 0);
  return bad;
}
static int t_alltoall(int n, unsigned *a, unsigned *b) {
  int bad = 0;
  fill(a, n * size);
  MPI_Alltoall(a, n, MPI_UNSIGNED, b, n, MPI_UNSIGNED, world);
  for (int r = 0; r < size; r++) bad += differs(b + r * n, n, r, rank * n);
  return bad;
}
static int t_alltoall_in_place(int n, unsigned *a, unsigned *b) {
  int bad = 0;
  (void)b;
  fill(a, n * size);
  MPI_Alltoall(MPI_IN_PLACE, n, MPI_UNSIGNED, a, n, MPI_UNSIGNED, world);
  for (int r = 0; r < size; r++) bad += differs(a + r * n, n, r, rank * n);
  return bad;
}
static int t_alltoallv(int n, unsigned *a, unsigned *b) {
  int bad = 0, counts[64], at[64];
  for (int r = 0; r < size; r++) { counts[r] = (r + rank) % 3 == 1 ? 0 : n; at[r] = r * n; }
  fill(a, n * size);
  MPI_Alltoallv(a, counts, at, MPI_UNSIGNED, b, counts, at, MPI_UNSIGNED, world);
  for (int r = 0; r < size; r++) bad += differs(b + r * n, counts[r], r, rank * n);
  return bad;
}
static int t_gather(int n, unsigned *a, unsigned *b) {
  int bad = 0;
  fill(a, n);
  MPI_Gather(a, n, MPI_UNSIGNED, b, n, MPI_UNSIGNED, root, world);
  for (int r = 0; r < size && rank == root; r++) bad += differs(b + r * n, n, r, 0);
  return bad;
}
static int t_scatter(int n, unsigned *a, unsigned *b) {
  fill(a, n * size);
  MPI_Scatter(a, n, MPI_UNSIGNED, b, n, MPI_UNSIGNED, root, world);
  return differs(b, n, root, rank * n);
}
static int t_allreduce(int n, unsigned *a, unsigned *b) {
  fill(a, n);
  MPI_Allreduce(a, b, n, MPI_UNSIGNED, MPI_SUM, world);
  return sum_differs(b, n, size - 1, 0);
}
static int t_allreduce_user(int n, unsigned *a, unsigned *b) {
  fill(a, n);
  MPI_Allreduce(a, b, n, MPI_UNSIGNED, sum_op, world);
  return sum_differs(b, n, size - 1, 0);
}
static int t_allreduce_in_place(int n, unsigned *a, unsigned *b) {
  (void)b;
  fill(a, n);
  MPI_Allreduce(MPI_IN_PLACE, a, n, MPI_UNSIGNED, MPI_SUM, world);
  return sum_differs(a, n, size - 1, 0);
}
static int t_reduce(int n, unsigned *a, unsigned *b) {
  fill(a, n);
  MPI_Reduce(a, b, n, MPI_UNSIGNED, MPI_SUM, root, world);
  return rank == root ? sum_differs(b, n, size - 1, 0) : 0;
}
static int t_reduce_scatter(int n, unsigned *a, unsigned *b) {
  int counts[64];
  for (int r = 0; r < size; r++) counts[r] = n;
  fill(a, n * size);
  MPI_Reduce_scatter(a, b, counts, MPI_UNSIGNED, MPI_SUM, world);
  return sum_differs(b, n, size - 1, rank * n);
}
static int t_reduce_scatter_uneven(int n, unsigned *a, unsigned *b) {
  int counts[64], at = 0, total = 0;
  for (int r = 0; r < size; r++) {
    counts[r] = r % 2 ? 0 : n;
    if (r < rank) at += counts[r];
    total += counts[r];
  }
  fill(a, total);
  MPI_Reduce_scatter(a, b, counts, MPI_UNSIGNED, MPI_SUM, world);
  return sum_differs(b, counts[rank], size - 1, at);
}
static int t_reduce_scatter_block(int n, unsigned *a, unsigned *b) {
  fill(a, n * size);
  MPI_Reduce_scatter_block(a, b, n, MPI_UNSIGNED, MPI_SUM, world);
  return sum_differs(b, n, size - 1, rank * n);
}
static int t_scan(int n, unsigned *a, unsigned *b) {
  fill(a, n);
  MPI_Scan(a, b, n, MPI_UNSIGNED, MPI_SUM, world);
  return sum_differs(b, n, rank, 0);
}
static int t_exscan(int n, unsigned *a, unsigned *b) {
  fill(a, n);
  MPI_Exscan(a, b, n, MPI_UNSIGNED, MPI_SUM, world);
  return rank ? sum_differs(b, n, rank - 1, 0) : 0;
}
static int t_barrier(int n, unsigned *a, unsigned *b) {
  (void)n, (void)a, (void)b;
  MPI_Barrier(world);
  return 0;
}

/* with the operation that is not commutative; a and b are large enough for maps */
static void fill_maps(Map *a, int n) { for (int i = 0; i < n; i++) a[i] = map_of(rank, i); }
static int t_allreduce_ordered(int n, unsigned *a, unsigned *b) {
  fill_maps((Map *)a, n);
  MPI_Allreduce(a, b, n, map_type, map_op, world);
  return maps_differ((Map *)b, n, size - 1, 0);
}
static int t_reduce_ordered(int n, unsigned *a, unsigned *b) {
  fill_maps((Map *)a, n);
  MPI_Reduce(a, b, n, map_type, map_op, root, world);
  return rank == root ? maps_differ((Map *)b, n, size - 1, 0) : 0;
}
static int t_reduce_scatter_ordered(int n, unsigned *a, unsigned *b) {
  int counts[64];
  for (int r = 0; r < size; r++) counts[r] = n;
  fill_maps((Map *)a, n * size);
  MPI_Reduce_scatter(a, b, counts, map_type, map_op, world);
  return maps_differ((Map *)b, n, size - 1, rank * n);
}
static int t_reduce_scatter_block_ordered(int n, unsigned *a, unsigned *b) {
  fill_maps((Map *)a, n * size);
  MPI_Reduce_scatter_block(a, b, n, map_type, map_op, world);
  return maps_differ((Map *)b, n, size - 1, rank * n);
}
static int t_scan_ordered(int n, unsigned *a, unsigned *b) {
  fill_maps((Map *)a, n);
  MPI_Scan(a, b, n, map_type, map_op, world);
  return maps_differ((Map *)b, n, rank, 0);
}

static const struct { const char *name; Test *test; } tests[] = {
  { "bcast", t_bcast }, { "allgather", t_allgather }, { "allgatherv", t_allgatherv }, { "alltoall", t_alltoall },
  { "alltoall_in_place", t_alltoall_in_place }, { "alltoallv", t_alltoallv }, { "gather", t_gather },
  { "scatter", t_scatter }, { "allreduce", t_allreduce }, { "allreduce_user", t_allreduce_user },
  { "allreduce_in_place", t_allreduce_in_place }, { "reduce", t_reduce }, { "reduce_scatter", t_reduce_scatter },
  { "reduce_scatter_uneven", t_reduce_scatter_uneven }, { "reduce_scatter_block", t_reduce_scatter_block },
  { "scan", t_scan }, { "exscan", t_exscan }, { "barrier", t_barrier }, { "allreduce_ordered", t_allreduce_ordered },
  { "reduce_ordered", t_reduce_ordered }, { "reduce_scatter_ordered", t_reduce_scatter_ordered },
  { "reduce_scatter_block_ordered", t_reduce_scatter_block_ordered }, { "scan_ordered", t_scan_ordered },
};
enum { TESTS = sizeof tests / sizeof *tests };

/* every rank's verdict goes to rank 0 by point-to-point messages alone */
static int verdict(int bad) {
  if (rank) { MPI_Send(&bad, 1, MPI_INT, 0, 1, world); return 0; }
  for (int r = 1; r < size; r++) {
    int theirs;
    MPI_Recv(&theirs, 1, MPI_INT, r, 1, world, MPI_STATUS_IGNORE);
    bad += theirs;
  }
  return bad;
}

static void check(int n) {
  size_t bytes = (size_t)n * size * sizeof(Map) + 64;
  for (int k = 0; k < TESTS; k++) {
    unsigned *a = malloc(bytes), *b = malloc(bytes);
    memset(a, 0xff, bytes);
    memset(b, 0xff, bytes);
    int bad = verdict(tests[k].test(n, a, b));
    if (rank == 0) printf("%s %s %d\n", bad ? "wrong" : "right", tests[k].name, n);
    free(a);
    free(b);
  }
}

/* The last rank has room for three quarters: a leaf of every tree, so that no algorithm waits for ever. The first
 * error ends the job. */
static void name(int bytes) {
  char text[MPI_MAX_ERROR_STRING], *a = calloc(bytes, 1);
  int length, rc;
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  rc = MPI_Bcast(a, rank == size - 1 ? bytes / 4 * 3 : bytes, MPI_CHAR, 0, world);
  if (rc == MPI_SUCCESS) return;
  MPI_Error_string(rc, text, &length);
  for (char *p = text; *p; p++) if (*p == '\n') *p = ' ';
  printf("stack %d %s\n", bytes, text);
  fflush(stdout);
  usleep(200000); /* let the launcher pass the line on before it kills the job */
  _exit(1);
}

static void call(const char *coll, int bytes) {
  int n = bytes / 4;
  size_t room = (size_t)n * size * sizeof(Map) + 64;
  unsigned *a = calloc(room, 1), *b = calloc(room, 1);
  root = 0;
  for (int k = 0; k < TESTS; k++) {
    if (strcmp(tests[k].name, coll)) continue;
    int bad = verdict(tests[k].test(n, a, b));
    if (rank == 0) printf("%s %s %d\n", bad ? "wrong" : "right", coll, n);
  }
  free(a);
  free(b);
}

int main(int argc, char **argv) {
  const char *mode = argc > 2 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  world = MPI_COMM_WORLD;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  MPI_Type_contiguous(2, MPI_UNSIGNED, &map_type);
  MPI_Type_commit(&map_type);
  MPI_Op_create(compose_all, 0, &map_op);
  MPI_Op_create(sum_all, 1, &sum_op);
  root = size - 1;
  if (!strcmp(mode, "check"))
    for (int i = 2; i < argc; i++) check(atoi(argv[i]));
  if (!strcmp(mode, "name")) name(atoi(argv[2]));
  if (!strcmp(mode, "call") && argc > 3) call(argv[2], atoi(argv[3]));
  MPI_Op_free(&map_op);
  MPI_Op_free(&sum_op);
  MPI_Type_free(&map_type);
  MPI_Finalize();
  return 0;
}
