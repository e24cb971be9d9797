package assembly

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tutti/benchrunner"
	"tutti/benchrunner/live"
	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/mpi"
	"tutti/topology"
)

// addMeasured adds the problems of one library on a real machine. Their candidates are the library's
// default and all algorithms of the catalogue that can run. Connect adds the machines later.
func (b *builder) addMeasured(lib config.Library) error {
	r := b.releases[lib.Name]
	cat := r.cat
	check, merge := b.checker(r), b.mergeFor(r)
	for _, name := range b.Config.Collectives {
		collective := coll.Collective(name)
		points, err := b.Config.Grid.Points(collective)
		if err != nil {
			return err
		}
		unsafe := map[string]bool{}
		space := coll.NewSpace(points, append(cat.Algorithms(collective), coll.Default), func(cand coll.Candidate) error {
			err := check(cand)
			if name, ok := errors.AsType[unsafeError](err); ok {
				unsafe[string(name)] = true
			}
			return err
		})
		b.Problems = append(b.Problems, campaign.Problem{
			Unsafe:  slices.Sorted(maps.Keys(unsafe)),
			Problem: journal.Problem{Library: lib.Name, Collective: collective},
			Space:   space,
			Start:   r.start,
			Merge:   merge,
			Bands:   r.port.Facts().Bands,
			Search:  &campaign.Search{Between: slices.Contains(b.Config.Grid.Between, config.BetweenSizes), Check: check, Ranges: func(alg coll.Algorithm) []coll.Range { return cat.Ranges(collective, alg) }},
		})
	}
	return nil
}

// Connect connects a campaign with the real machine that measures its problems. The names of jobs contain the
// campaign's id. `environ` is the environment of this process. Connect does nothing for recorded data. Errors
// match ErrInput.
func (c *Campaign) Connect(id string, environ []string) error {
	if !c.Config.Runner.Live() {
		return nil
	}
	c.id = id
	if c.Config.Runner.Facts().Attached {
		c.shell = environ
	}
	var err error
	if c.scheduler, err = c.Config.NewScheduler(environ, c.Notice); err != nil {
		return input(err)
	}
	for _, lib := range c.Config.Libraries {
		r := c.releases[lib.Name]
		if r.err != nil {
			return input(r.err) // before anything is measured
		}
		program, err := c.Program(lib)
		if err != nil {
			return err
		}
		force := func(cand coll.Candidate) (mpi.Forcing, error) { return mpi.Force(r.port, r.cat, cand) }
		if r.port.Facts().Preload {
			force = withPreload(lib.Path, force)
		}
		machine, err := c.Machine(lib, program, force)
		if err != nil {
			return err
		}
		c.machines = append(c.machines, machine)
		for i, p := range c.Problems {
			if p.Library == lib.Name {
				c.Problems[i].Runner = machine
			}
		}
	}
	return nil
}

// Program returns the benchmark program that measures a library. Errors match ErrInput.
func (c *Campaign) Program(lib config.Library) (benchrunner.Program, error) {
	program, err := c.Config.Benchmark.Kind().New(lib.Benchmark, c.Config.Benchmark.ProgramOptions)
	if err != nil {
		return nil, input(fmt.Errorf("library %s: %w", lib.Name, err))
	}
	return program, nil
}

// Machine returns a machine that runs a program with the scheduler and the launcher of a connected campaign.
// The function `force` returns the settings that make the library run a candidate. Errors match ErrInput.
func (c *Campaign) Machine(lib config.Library, program benchrunner.Program, force forceFunc) (*live.Machine, error) {
	r := c.Config.Runner
	launcher, err := benchrunner.NewLauncher(cmp.Or(lib.Launcher, r.DefaultLauncher(lib)), benchrunner.LauncherOptions{
		Path: lib.LauncherPath, Args: lib.LauncherArgs, MPI: lib.PMI, Order: coll.Order(r.Order),
		Concurrent: live.Parallel(r.Parallel) != live.ParallelNever,
	})
	if err != nil {
		return nil, input(fmt.Errorf("library %s: %w", lib.Name, err))
	}
	switches, err := switchesOf(r.Switches)
	if err != nil {
		return nil, input(err)
	}
	env := slices.Concat(variables(r.Env), variables(lib.Env))
	m, err := live.New(live.Options{
		Campaign: c.id, Dir: c.Config.Output,
		Scheduler: c.scheduler, Launcher: launcher, Program: program, Force: withSitePreload(env, force),
		Modules: r.Modules, Setup: r.Setup, Env: env,
		LaunchTime: r.LaunchAllowance, RankTime: r.RankAllowance, NodeBytes: r.NodeMemory, Settle: r.Settle, JobTime: r.JobTime, Notice: c.Notice,
		Parallel: live.Parallel(r.Parallel), ParallelNodes: cmp.Or(r.ParallelNodes, slices.Max(c.Config.Grid.Nodes)), Switches: switches,
		Order: coll.Order(r.Order),
	})
	return m, input(err)
}

// Cancel asks the scheduler to cancel the given jobs. The campaign must be connected; see Connect.
func (c *Campaign) Cancel(ctx context.Context, jobs []coll.Job) error {
	if len(c.machines) == 0 || len(jobs) == 0 {
		return nil
	}
	return c.machines[0].Cancel(ctx, jobs)
}

// switchesOf returns the nodes of each switch. `lists` holds Slurm's host list of each.
func switchesOf(lists []string) ([][]string, error) {
	var out [][]string
	for i, list := range lists {
		nodes, err := topology.Hosts(list)
		if err != nil {
			return nil, fmt.Errorf("runner.switches[%d]: %w", i, err)
		}
		out = append(out, nodes)
	}
	return out, nil
}

// variables parses a list of NAME=VALUE strings.
func variables(list []string) []mpi.Var {
	var out []mpi.Var
	for _, v := range list {
		name, value, _ := strings.Cut(v, "=")
		out = append(out, mpi.Var{Name: name, Value: value})
	}
	return out
}

// preload is the environment variable that names the libraries to load before all others, separated by colons.
const preload = "LD_PRELOAD"

// forceFunc returns the settings that make a library run a given candidate.
type forceFunc = func(coll.Candidate) (mpi.Forcing, error)

// withPreload returns a function like `force` whose settings also make programs preload the library at `path`.
func withPreload(path string, force forceFunc) forceFunc {
	file := mpi.Var{Name: preload, Value: path}
	return func(c coll.Candidate) (mpi.Forcing, error) {
		f, err := force(c)
		f.Base = append(slices.Clone(f.Base), file)
		if len(f.Env) > 0 {
			f.Env = append(slices.Clone(f.Env), file)
		}
		return f, err
	}
}

// withSitePreload returns a function like `force`. If the settings of `force` set LD_PRELOAD, the function
// appends the libraries that the site preloads, so that these stay loaded.
func withSitePreload(site []mpi.Var, force forceFunc) forceFunc {
	at := slices.IndexFunc(site, func(v mpi.Var) bool { return v.Name == preload })
	if at < 0 {
		return force
	}
	join := func(vars []mpi.Var) []mpi.Var {
		vars = slices.Clone(vars)
		for i, v := range vars {
			if v.Name == preload {
				vars[i].Value += ":" + site[at].Value
			}
		}
		return vars
	}
	return func(c coll.Candidate) (mpi.Forcing, error) {
		f, err := force(c)
		f.Base, f.Env = join(f.Base), join(f.Env)
		return f, err
	}
}
