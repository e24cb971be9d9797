/* world            each process prints its rank, the size and the variable MARK on a line
 * world hang DIR   each process creates a file in DIR named after its process number, then waits until it is killed
 * world fail       the last rank fails, the others wait until they are killed */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int rank, size;
  char name[4096], host[256];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  gethostname(host, sizeof host);
  printf("rank %d of %d on %s, mark %s\n", rank, size, host, getenv("MARK") ? getenv("MARK") : "");
  fflush(stdout);
  if (argc > 2 && !strcmp(argv[1], "hang")) {
    snprintf(name, sizeof name, "%s/%d", argv[2], (int)getpid());
    fclose(fopen(name, "w"));
    for (;;) sleep(1);
  }
  if (argc > 1 && !strcmp(argv[1], "fail")) {
    if (rank == size - 1) exit(7);
    for (;;) sleep(1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
