/* Prints text in the format of osu_bcast, for tests on machines without the OSU Micro-Benchmarks. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int rank, size, word = 0;
  double began;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) {
    fprintf(stderr, "This test requires at least two processes\n");
    MPI_Finalize();
    return 1;
  }
  began = MPI_Wtime();
  MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    double us = (MPI_Wtime() - began) * 1e6 + 0.01;
    printf("\n# OSU MPI Broadcast Latency Test v7.4\n# Datatype: MPI_CHAR.\n");
    printf("# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n%-10d%18.2f%18.2f%18.2f%12d\n", 8, us, us, us, 10);
  }
  MPI_Finalize();
  return 0;
}
