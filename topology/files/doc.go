// Package files reads and writes what says how a machine is made up, whatever program
// the file is of.
//
//	t, err := files.Read(f, "/etc/slurm/topology.conf", files.ReadOptions{})
//	if err != nil {
//		return err // /etc/slurm/topology.conf:3: switch s2: ...
//	}
//	gaps, err := files.Write(w, &t, files.WriteOptions{Format: files.JSON})
package files
