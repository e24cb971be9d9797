// Package files reads and writes the topology files of Slurm, hwloc, MPICH and tutti.
//
//	t, err := files.ReadFile("/etc/slurm/topology.conf", "")
//	if err != nil {
//		return err // /etc/slurm/topology.conf:3: switch s2: ...
//	}
//	gaps, err := files.Write(w, &t, files.WriteOptions{Format: files.JSON})
package files
