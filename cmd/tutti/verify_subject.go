package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"tutti/benchrunner"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/mpi"
	"tutti/selection"
	"tutti/verify"
)

// verifySubject is one library of a campaign whose files are proved.
type verifySubject struct {
	*verifier
	lib    config.Library
	port   mpi.Measurable
	cat    *mpi.Catalogue
	setup  selection.Setup // of the files as they are now
	choose map[coll.Collective]func(coll.Point) coll.Algorithm
	live   *verify.Files // machine and probe, once made
}

// Apply writes the files of the library as the entries want them.
func (s *verifySubject) Apply(ctx context.Context, _ []verify.Entry) (verify.Files, error) {
	only := *s.built
	only.problems = nil
	var results []campaign.Result
	for i, p := range s.built.problems {
		if p.Library == s.lib.Name {
			only.problems = append(only.problems, p)
			results = append(results, s.results[i])
		}
	}
	done, err := conclude(ctx, &only, results, s.records)
	if err != nil {
		return verify.Files{}, err
	}
	written, _, err := done.exportOne(s.lib, s.dir)
	if err != nil {
		return verify.Files{}, withOutputCode(err)
	}
	s.setup = written.Setup
	var files verify.Files
	s.choose = map[coll.Collective]func(coll.Point) coll.Algorithm{}
	for i, p := range done.of {
		choose := done.parts[i].Selection.Choose
		s.choose[p.Collective] = choose
		problem := verify.Problem{Collective: p.Collective, Choose: choose}
		if s.built.config.Runner.Live() {
			problem.Runnable = func(coll.Point) bool { return true } // no larger than what was tuned
		}
		for i, point := range p.Space.Points() {
			for _, a := range p.Space.Feasible(i) {
				if p.Space.Algorithms()[a].IsDefault() {
					problem.Grid = append(problem.Grid, point)
				}
			}
		}
		if len(problem.Grid) == 0 {
			return verify.Files{}, withCode(codeInput, fmt.Errorf("%s: no time of the library's own default is recorded: nothing to compare with", p.Problem))
		}
		files.Problems = append(files.Problems, problem)
	}
	if !s.built.config.Runner.Live() {
		files.Machine = s.recorded()
		return files, nil
	}
	if s.live == nil {
		if s.live, err = s.connect(ctx); err != nil {
			return verify.Files{}, err
		}
	}
	files.Machine, files.Probe = s.live.Machine, s.live.Probe
	return files, nil
}

// force loads the files for verify.Tuned and nothing for the default.
func (s *verifySubject) force(c coll.Candidate) (mpi.Forcing, error) {
	if c.Algorithm.IsDefault() {
		return mpi.Forcing{}, nil
	}
	if c.Algorithm != verify.Tuned {
		return mpi.Forcing{}, fmt.Errorf("%v: want %v or %v", c, verify.Tuned, coll.Default)
	}
	var env []mpi.Var
	for _, x := range s.setup.For(c.Layout()) {
		env = append(env, mpi.Var{Name: x.Name, Value: x.Value})
	}
	return mpi.Forcing{Env: env, Base: env}, nil
}

// choice is what the files select now.
func (s *verifySubject) choice(p coll.Point) coll.Algorithm {
	if choose, ok := s.choose[p.Collective]; ok {
		return choose(p)
	}
	return coll.Default
}

// connect returns the machine and, where there is a compiler for it, the probe.
func (s *verifySubject) connect(ctx context.Context) (*verify.Files, error) {
	s.built.config.Runner.Parallel = config.Never // neighbours would blur small differences
	machine, err := s.built.machine(s.lib, s.id, s.app.environ, s.force)
	if err != nil {
		return nil, withCode(codeInput, err)
	}
	f := &verify.Files{Machine: machine}
	compiler := s.compiler()
	if compiler == "" {
		fmt.Fprintf(s.app.stderr, "warning: %s: no compiler for the probe of obedience: give --mpicc %s=COMMAND\n", s.lib.Name, s.lib.Name)
		return f, nil
	}
	path, err := verify.BuildProbe(ctx, compiler, filepath.Join(s.dir, "probe-"+s.lib.Name))
	if err != nil {
		return nil, fmt.Errorf("probe of obedience: %w", err)
	}
	probe := &verify.Probe{Path: path, Library: s.port, Catalogue: s.cat, Choose: s.choice}
	f.Probe, err = s.built.machineWith(s.lib, s.id, s.app.environ, probe, s.force)
	return f, err
}

// compiler is the one given, else the library's own where it is found.
func (s *verifySubject) compiler() string {
	for _, given := range s.options.compilers {
		if name, command, ok := strings.Cut(given, "="); ok && name == s.lib.Name {
			return command
		}
	}
	beside := ""
	if s.lib.LauncherPath != "" {
		beside = filepath.Join(filepath.Dir(s.lib.LauncherPath), "mpicc")
	}
	for _, name := range []string{s.port.Facts().Install.Compilers[0], beside} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	return ""
}

// recorded answers from the recorded data: Tuned is what the files select there.
func (s *verifySubject) recorded() benchrunner.Runner { return &recordedVerify{s} }

// recordedVerify gives both ways of a point noise of their own, even where they are
// the same algorithm: attempts of the one are even, of the other odd.
type recordedVerify struct{ s *verifySubject }

// Run implements benchrunner.Runner.
func (r *recordedVerify) Run(ctx context.Context, batch benchrunner.Batch, log benchrunner.Log) error {
	for _, p := range r.s.built.problems {
		machine, ok := p.Runner.(*replay.Machine)
		if p.Library != r.s.lib.Name || !ok {
			continue
		}
		own := batch
		own.Requests = nil
		back := map[benchrunner.Request]benchrunner.Request{}
		for _, q := range batch.Requests {
			if q.Collective != p.Collective {
				continue
			}
			as := q
			as.Attempt = 2 * q.Attempt
			if q.Algorithm == verify.Tuned {
				as.Algorithm = r.s.choice(q.Point)
				as.Attempt++
			}
			own.Requests = append(own.Requests, as)
			as.Ended = false
			back[as] = q
		}
		err := machine.Run(ctx, own, benchrunner.TrialLog(func(t coll.Trial) error {
			q := back[benchrunner.Request{Candidate: t.Candidate, Attempt: t.Attempt}]
			t.Candidate, t.Attempt = q.Candidate, q.Attempt
			return log.Trial(t)
		}))
		if err != nil {
			return err
		}
	}
	return nil
}
