package slurm

import (
	"fmt"
	"os/exec"
	"path/filepath"

	"tutti/benchrunner"
)

// Facts implements benchrunner.Kind.
func (o *Options) Facts() benchrunner.KindFacts {
	return benchrunner.KindFacts{Name: "slurm", Doc: "jobs", Manager: "Slurm", Srun: true}
}

// Keys implements benchrunner.Kind.
func (o *Options) Keys() []benchrunner.Key {
	return []benchrunner.Key{
		{Name: "partition", Doc: "partition to submit to; empty: the default of the site", At: &o.Partition},
		{Name: "account", Doc: "account to charge", At: &o.Account},
		{Name: "qos", Doc: "quality of service", At: &o.QOS},
		{Name: "reservation", Doc: "reservation to run in", At: &o.Reservation},
		{Name: "constraint", Doc: "required features of the nodes", At: &o.Constraint},
		{Name: "directives", Doc: "further options of sbatch, each --option or --option=value", At: &o.Directives},
		{Name: "exclusive", Doc: "do not share nodes with other jobs: true or false", Default: true, At: &o.Exclusive},
		{Name: "jobs", Doc: "maximum number of jobs in the queue; they may disturb each other on the network", Default: 4, At: &o.MaxJobs},
		{Name: "bin", Doc: "folder of sbatch and the other commands; empty: the search path", At: &o.Bin, Path: true},
	}
}

// New implements benchrunner.Kind. The error matches benchrunner.ErrNoStart if this machine has no sbatch.
func (o *Options) New(h benchrunner.Host) (benchrunner.Scheduler, error) {
	if _, err := exec.LookPath(filepath.Join(o.Bin, "sbatch")); err != nil {
		return nil, fmt.Errorf("%w: Slurm: %w", benchrunner.ErrNoStart, err)
	}
	options := *o
	options.Notice = h.Notice
	return New(options)
}
