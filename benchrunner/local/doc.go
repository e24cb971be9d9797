// Package local runs jobs as processes where tutti runs: on this machine, or inside
// an allocation of Slurm whose nodes the launcher uses.
//
// A job is a process group leader in a session of its own. It writes who it is into
// its folder before it runs the script, so that a later tutti finds it, and how it
// ended after that. Two submissions of one folder run one script.
//
//	process/id   process ID, start tick and boot, which no other process ever has
//	exit         exit code of the script
//	cancelled    it was ended by Cancel
//
//	s, err := local.New(local.Options{PPN: 8})
//	if err != nil {
//		return err
//	}
//	m, err := live.New(live.Options{Scheduler: s, …})
package local
