package local

import (
	"cmp"

	"tutti/benchrunner"
)

// Kind runs jobs on this machine.
type Kind struct{}

// Facts implements benchrunner.Kind.
func (Kind) Facts() benchrunner.KindFacts {
	return benchrunner.KindFacts{Name: "local", Doc: "on this machine", Attached: true, OneNode: true}
}

// Keys implements benchrunner.Kind. The only key of this kind is runner.ppn.
func (Kind) Keys() []benchrunner.Key { return nil }

// New implements benchrunner.Kind.
func (Kind) New(h benchrunner.Host) (benchrunner.Scheduler, error) {
	return New(Options{Nodes: 1, PPN: cmp.Or(h.PPN, Cores())})
}

// AllocationKind runs jobs in the job of tutti itself.
type AllocationKind struct{}

// Facts implements benchrunner.Kind.
func (AllocationKind) Facts() benchrunner.KindFacts {
	return benchrunner.KindFacts{Name: "allocation", Doc: "in the job of tutti, of Slurm, PBS or LSF, or on the nodes of runner.hosts", Attached: true, Srun: true}
}

// Keys implements benchrunner.Kind.
func (AllocationKind) Keys() []benchrunner.Key { return nil }

// New implements benchrunner.Kind.
func (AllocationKind) New(h benchrunner.Host) (benchrunner.Scheduler, error) {
	if h.Hosts != "" {
		return NewHosts(h.Environ, h.Hosts, h.Hosts)
	}
	return NewAllocation(h.Environ)
}
