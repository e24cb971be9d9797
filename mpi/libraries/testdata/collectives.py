# Calls collectives of mpi4py with arrays and with objects, from two threads, and with wrong arguments. Prints "right".
import threading

import numpy
from mpi4py import MPI


def calls(comm):
    rank, size = comm.Get_rank(), comm.Get_size()
    for n in (1, 7, 1000):
        one, total = numpy.full(n, rank + 1.0), numpy.empty(n)
        comm.Allreduce(one, total)
        assert (total == size * (size + 1) / 2).all()
        every = numpy.empty((size, n))
        comm.Allgather(one, every)
        assert (every == numpy.arange(1, size + 1)[:, None]).all()
        got = numpy.empty((size, n))
        comm.Alltoall(every, got)
        assert (got == rank + 1).all()
        comm.Bcast(one, root=size - 1)
        assert (one == size).all()
        comm.Scan(MPI.IN_PLACE, total)
        assert (total == (rank + 1) * size * (size + 1) / 2).all()
        request = comm.Iallreduce(one, total, op=MPI.MAX)
        request.Wait()
        assert (total == size).all()
    assert comm.allgather({"rank": rank}) == [{"rank": r} for r in range(size)]
    assert comm.alltoall([rank] * size) == list(range(size))
    assert comm.gather(rank, root=1) == (list(range(size)) if rank == 1 else None)
    assert comm.bcast("text" * rank, root=size - 1) == "text" * (size - 1)
    comm.barrier()


world = MPI.COMM_WORLD
comms = [world.Dup() for _ in range(2)]
failed = []


def run(comm):
    try:
        for _ in range(8):
            calls(comm)
    except BaseException as error:
        failed.append(repr(error))
        raise


threads = [threading.Thread(target=run, args=(comm,)) for comm in comms]
if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
    for comm in comms:
        run(comm)
    threads = []
for t in threads:
    t.start()
for t in threads:
    t.join()
try:
    world.Bcast(numpy.zeros(3), root=99)
    failed.append("no exception")
except MPI.Exception as error:
    if error.Get_error_class() != MPI.ERR_ROOT:
        failed.append(str(error))
print("\n".join(failed) or "right", flush=True)
