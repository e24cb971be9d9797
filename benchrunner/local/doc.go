// Package local runs jobs as processes next to tutti: on this machine, or inside a Slurm allocation whose nodes
// the launcher uses.
//
// A job is the leader of its own session. Before it runs the script, it writes its identity into its folder, so
// that a later tutti can find it. Afterwards it writes how the script ended. If two jobs have the same folder,
// only the first one runs the script.
//
//	process/id   process ID, start tick and boot ID; unique
//	exit         exit code of the script
//	cancelled    Cancel ended the job
//
//	s, err := local.New(local.Options{PPN: 8})
//	if err != nil {
//		return err
//	}
//	m, err := live.New(live.Options{Scheduler: s, …})
package local
