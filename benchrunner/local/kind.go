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
	return benchrunner.KindFacts{Name: "allocation", Doc: "in the Slurm job of tutti", Attached: true, Srun: true}
}

// Keys implements benchrunner.Kind.
func (AllocationKind) Keys() []benchrunner.Key { return nil }

// New implements benchrunner.Kind.
func (AllocationKind) New(h benchrunner.Host) (benchrunner.Scheduler, error) {
	return NewAllocation(h.Environ)
}
