/* Sums a number over two processes. The executable contains a marker that names the library whose headers it was
 * compiled with. The marker can be read without running the program. */
#include <mpi.h>
#include <stdio.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

#if defined(CRAY_MPICH_VERSION)
#define VENDOR "vendor=Cray MPICH;release=" TEXT(CRAY_MPICH_VERSION) ";"
#elif defined(I_MPI_VERSION)
#define VENDOR "vendor=Intel MPI;release=" I_MPI_VERSION ";"
#elif defined(MVAPICH2_VERSION)
#define VENDOR "vendor=MVAPICH2;release=" MVAPICH2_VERSION ";"
#elif defined(MVAPICH_VERSION)
#define VENDOR "vendor=MVAPICH;release=" MVAPICH_VERSION ";"
#else
#define VENDOR ""
#endif

#if defined(OPEN_MPI)
#define FAMILY                                                                    \
  "family=openmpi;version=" TEXT(OMPI_MAJOR_VERSION) "." TEXT(OMPI_MINOR_VERSION) \
      "." TEXT(OMPI_RELEASE_VERSION) ";"
#elif defined(MPICH_VERSION)
#define FAMILY "family=mpich;version=" MPICH_VERSION ";"
#else
#define FAMILY "family=other;version=;"
#endif

static const volatile char marker[] = "tutti-doctor;" FAMILY VENDOR "end";

int main(int argc, char **argv) {
  int rank, size, mine, sum = 0, len = 0;
  char host[MPI_MAX_PROCESSOR_NAME];

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_processor_name(host, &len);
  mine = rank + 1;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("tutti-doctor: rank %d of %d sum %d on %s\n", rank, size, sum, host);
  fflush(stdout);
  MPI_Finalize();
  printf("tutti-doctor: rank %d ended\n", rank);
  return marker[0] != 't';
}
