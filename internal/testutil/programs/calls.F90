! calls: the calls of calls.c, by mpif.h, by module mpi (-DMODULE) or by module mpi_f08 (-DF08). Prints "wrong" after a broadcast
! with MPI_BOTTOM that gave wrong data.
program calls
#if defined(F08)
  use mpi_f08
#elif defined(MODULE)
  use mpi
#endif
  implicit none
#if !defined(F08) && !defined(MODULE)
  include 'mpif.h'
#endif
#ifdef F08
  type(MPI_Comm) :: world, half, both
  type(MPI_Datatype) :: every_second, ints, placed
#else
  integer :: world, half, both, every_second, ints, placed
#endif
  integer :: rank, i, error, counts(4), displs(4), mine(4), steps(4), a(4096), b(4096)
  double precision :: x(1), y(1)
  integer(MPI_ADDRESS_KIND) :: address(1)
  asynchronous :: a

  call MPI_Init(error)
  world = MPI_COMM_WORLD
  call MPI_Comm_rank(world, rank, error)
  a = 0
  x = 0
  counts = [1, 2, 3, 4]
  displs = [0, 1, 3, 6]
  mine = rank + 1
  steps = [0, 4, 8, 12]

  call MPI_Allgatherv(a, counts(rank + 1), MPI_INTEGER, b, counts, displs, MPI_INTEGER, world, error)
  call MPI_Alltoallv(a, mine, steps, MPI_INTEGER, b, counts, displs, MPI_INTEGER, world, error)
  call MPI_Reduce_scatter(a, b, counts, MPI_INTEGER, MPI_SUM, world, error)

  call MPI_Allgather(a, 3, MPI_INTEGER, b, 3, MPI_INTEGER, world, error)
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, b, 3, MPI_INTEGER, world, error)
  do i = 1, 3
    call MPI_Allreduce(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, world, error)
  end do
  call MPI_Alltoall(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, world, error)
  call MPI_Barrier(world, error)
  call MPI_Bcast(a, 0, MPI_INTEGER, 0, world, error)
  call MPI_Exscan(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, world, error)
  if (rank == 1) then
    call MPI_Gather(MPI_IN_PLACE, 1, MPI_INTEGER, b, 1, MPI_INTEGER, 1, world, error)
  else
    call MPI_Gather(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, 1, world, error)
  end if
  call MPI_Reduce(a, b, 5, MPI_INTEGER, MPI_MAX, 2, world, error)
  call MPI_Reduce_scatter_block(a, b, 2, MPI_INTEGER, MPI_SUM, world, error)
  call MPI_Scan(a, b, 3, MPI_INTEGER, MPI_SUM, world, error)
  if (rank == 3) then
    call MPI_Scatter(a, 7, MPI_INTEGER, MPI_IN_PLACE, 7, MPI_INTEGER, 3, world, error)
  else
    call MPI_Scatter(a, 7, MPI_INTEGER, b, 7, MPI_INTEGER, 3, world, error)
  end if

  call MPI_Type_vector(100, 1, 2, MPI_INTEGER, every_second, error)
  call MPI_Type_commit(every_second, error)
  call MPI_Bcast(a, 1, every_second, 0, world, error)
  call MPI_Type_free(every_second, error)
  call MPI_Get_address(a, address(1), error)
  call MPI_Type_contiguous(100, MPI_INTEGER, ints, error)
  call MPI_Type_create_hindexed(1, [1], address, ints, placed, error)
  call MPI_Type_commit(placed, error)
  do i = 1, 6
    a = merge(i, 0, rank == 0)
    call MPI_Bcast(MPI_BOTTOM, 1, placed, 0, world, error)
    if (any(a(1:100) /= i)) print *, 'wrong'
  end do

  do i = 1, 2
    call MPI_Comm_split(world, mod(rank, 2), rank, half, error)
    call MPI_Allreduce(a, b, 4, MPI_INTEGER, MPI_SUM, half, error)
    call MPI_Comm_free(half, error)
  end do
  call MPI_Comm_split(world, mod(rank, 2), rank, half, error)
  call MPI_Intercomm_create(half, 0, world, 1 - mod(rank, 2), 5, both, error)
  call MPI_Barrier(both, error)
  call MPI_Comm_free(both, error)
  call MPI_Comm_free(half, error)
  call MPI_Finalize(error)
end program calls
