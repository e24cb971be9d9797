package main

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"tutti/benchrunner"
	"tutti/benchrunner/imb"
	"tutti/benchrunner/launch"
	"tutti/benchrunner/live"
	"tutti/benchrunner/local"
	"tutti/benchrunner/native"
	"tutti/benchrunner/osu"
	"tutti/benchrunner/reprompi"
	"tutti/benchrunner/slurm"
	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/store"
)

// force says how a library is made to run a candidate.
type force = func(coll.Candidate) (mpi.Forcing, error)

// addMeasured makes the problems of one library that is measured: every algorithm
// of the catalogue that can run at a point of the grid, and the default. Connect
// gives them a machine.
func (b *built) addMeasured(lib config.Library) error {
	port, cat, err := libraries.Release(lib.Name, lib.Version)
	if err != nil {
		return err
	}
	grid := coll.Grid{Nodes: b.config.Grid.Nodes, PPN: b.config.Grid.PPN, MsgBytes: b.config.Grid.Sizes}
	check := b.checker(port, cat)
	for _, name := range b.config.Collectives {
		collective, err := coll.ParseCollective(name)
		if err != nil {
			return err
		}
		points, err := grid.Points(collective)
		if err != nil {
			return err
		}
		b.problems = append(b.problems, campaign.Problem{
			Problem: store.Problem{Library: lib.Name, Collective: collective},
			Space:   coll.NewSpace(points, append(cat.Algorithms(collective), coll.Default), check),
		})
	}
	return nil
}

// connect gives the problems of a campaign that measures the machines it measures
// on, under the campaign's ID. Recorded data are machines already.
func (b *built) connect(id string, environ []string) error {
	if !b.config.Runner.Live() {
		return nil
	}
	for _, lib := range b.config.Libraries {
		port, cat, err := libraries.Release(lib.Name, lib.Version)
		if err != nil {
			return err
		}
		machine, err := b.machine(lib, id, environ, func(c coll.Candidate) (mpi.Forcing, error) { return mpi.Force(port, cat, c) })
		if err != nil {
			return withCode(codeInput, err)
		}
		b.machines = append(b.machines, machine)
		for i, p := range b.problems {
			if p.Library == lib.Name {
				b.problems[i].Runner = machine
			}
		}
	}
	return nil
}

// machine puts scheduler, launcher and the benchmark program together.
func (b *built) machine(lib config.Library, id string, environ []string, of force) (*live.Machine, error) {
	program, err := newProgram(lib.Benchmark, b.config.Benchmark)
	if err != nil {
		return nil, fmt.Errorf("library %s: %w", lib.Name, err)
	}
	return b.machineWith(lib, id, environ, program, of)
}

// machineWith is machine for any program.
func (b *built) machineWith(lib config.Library, id string, environ []string, program benchrunner.Program, of force) (*live.Machine, error) {
	scheduler, err := b.scheduler(environ)
	if err != nil {
		return nil, err
	}
	launcher, err := launch.New(cmp.Or(lib.Launcher, b.config.Runner.DefaultLauncher(lib.Name)),
		launch.Options{Path: lib.LauncherPath, Args: lib.LauncherArgs, MPI: lib.PMI})
	if err != nil {
		return nil, fmt.Errorf("library %s: %w", lib.Name, err)
	}
	r := b.config.Runner
	switches, err := switchesOf(r.Switches)
	if err != nil {
		return nil, err
	}
	return live.New(live.Options{
		Campaign: id, Dir: b.config.Output,
		Scheduler: scheduler, Launcher: launcher, Program: program, Force: of,
		Modules: r.Modules, Setup: r.Setup, Env: slices.Concat(variables(r.Env), variables(lib.Env)),
		LaunchTime: r.LaunchAllowance, Settle: r.Settle, JobTime: r.JobTime,
		Parallel: live.Parallel(r.Parallel), ParallelNodes: cmp.Or(r.ParallelNodes, slices.Max(b.config.Grid.Nodes)), Switches: switches,
	})
}

// switchesOf expands the lists of the nodes of each switch.
func switchesOf(lists []string) ([][]string, error) {
	var out [][]string
	for i, list := range lists {
		nodes, err := benchrunner.Hosts(list)
		if err != nil {
			return nil, fmt.Errorf("runner.switches[%d]: %w", i, err)
		}
		out = append(out, nodes)
	}
	return out, nil
}

// scheduler is one for all libraries.
func (b *built) scheduler(environ []string) (s benchrunner.Scheduler, err error) {
	if b.jobs != nil {
		return b.jobs, nil
	}
	c := b.config
	switch c.Runner.Kind {
	case config.Local:
		s, err = local.New(local.Options{Nodes: 1, PPN: cmp.Or(c.Runner.PPN, runtime.NumCPU())})
	case config.Allocation:
		s, err = local.NewAllocation(environ)
	case config.SlurmJobs:
		s, err = slurm.New(slurm.Options{
			Partition: c.Slurm.Partition, Account: c.Slurm.Account, QOS: c.Slurm.QOS, Reservation: c.Slurm.Reservation,
			Constraint: c.Slurm.Constraint, Directives: c.Slurm.Directives, Exclusive: c.Slurm.Exclusive,
			MaxJobs: c.Slurm.Jobs, Bin: c.Slurm.Bin,
		})
	default:
		err = fmt.Errorf("runner.kind %s runs no jobs", c.Runner.Kind)
	}
	b.jobs = s
	return s, err
}

func newProgram(path string, m config.Benchmark) (benchrunner.Program, error) {
	switch m.Program {
	case "osu":
		opt := osu.Options{Dir: path, Version: m.Version, Tail: osu.HasTail(m.Version), Iterations: m.Iterations}
		if m.Iterations > 0 { // OSU's own warm-up goes with its own number of iterations
			opt.Warmup = m.Warmup
		}
		return osu.New(opt)
	case "reprompi":
		return reprompi.New(reprompi.Options{Path: path, Repetitions: m.Iterations})
	case "imb":
		return imb.New(imb.Options{Path: path, Iterations: m.Iterations})
	}
	return native.New(native.Options{
		Path: path, Warmup: m.Warmup, MinSamples: m.MinSamples, MaxSamples: m.MaxSamples,
		Precision: m.Precision, Slice: m.Slice, Hopeless: m.Hopeless, Check: m.Check,
	})
}

// variables takes NAME=VALUE apart.
func variables(list []string) []mpi.Var {
	var out []mpi.Var
	for _, v := range list {
		name, value, _ := strings.Cut(v, "=")
		out = append(out, mpi.Var{Name: name, Value: value})
	}
	return out
}
