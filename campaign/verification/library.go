package verification

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"tutti/benchrunner"
	"tutti/campaign"
	"tutti/coll"
	"tutti/doctor"
	"tutti/internal/config"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/verify"
)

// libraryUnderTest is a library whose selection files are verified.
type libraryUnderTest struct {
	*Verifier
	lib    config.Library
	port   mpi.Measurable
	cat    *mpi.Catalogue
	setup  mpi.Setup // settings that load the current files
	choose map[coll.Collective]func(coll.Point) coll.Algorithm
	live   *verify.Files // machine and probe program; nil before the method `connect` is called
}

// write writes the files of the library. They omit selections that were found slower than the default.
func (s *libraryUnderTest) write(ctx context.Context) (verify.Files, error) {
	from, err := s.source(s.lib)
	if err != nil {
		return verify.Files{}, err
	}
	if s.setup, err = from.write(ctx); err != nil {
		return verify.Files{}, err
	}
	s.choose = from.choices
	var files verify.Files
	if files.Problems, err = s.problems(from); err != nil {
		return verify.Files{}, err
	}
	if !s.campaign.Config.Runner.Live() {
		files.Machine = &recorded{s}
		return files, nil
	}
	if s.live == nil {
		if s.live, err = s.connect(ctx); err != nil {
			return verify.Files{}, err
		}
	}
	files.Machine, files.Probe, files.NoProbe = s.live.Machine, s.live.Probe, s.live.NoProbe
	return files, nil
}

// problems returns, for each collective of the library that has a selection, what to verify.
func (s *libraryUnderTest) problems(from source) ([]verify.Problem, error) {
	var out []verify.Problem
	weights, total := map[coll.Point]float64{}, 0.0
	for _, p := range s.campaign.Problems {
		choose, ok := from.choices[p.Collective]
		if p.Library != s.lib.Name || !ok {
			continue
		}
		problem, err := s.problem(p, choose)
		if err != nil {
			return nil, err
		}
		problem.Risk = from.risks[p.Collective]
		points := p.Space.Points()
		for i, weight := range s.campaign.WeighPoints(p, points) {
			weights[points[i]] = weight
		}
		for _, at := range problem.Grid {
			total += weights[at]
		}
		out = append(out, problem)
	}
	for i := range out {
		out[i].Weight = func(at coll.Point) float64 { return weights[at] / total }
	}
	return out, nil
}

// problem returns what to verify for one collective. It leaves out points at which the default cannot run. Of recorded
// data, it leaves out points at which the selected algorithm was not measured.
func (s *libraryUnderTest) problem(p campaign.Problem, choose func(coll.Point) coll.Algorithm) (verify.Problem, error) {
	out := verify.Problem{Collective: p.Collective, Choose: choose, OffGrid: s.campaign.Config.Runner.Live()}
	for _, point := range p.Space.Points() {
		if p.Space.Has(coll.Candidate{Point: point, Algorithm: coll.Default}) && (out.OffGrid || p.Space.Has(coll.Candidate{Point: point, Algorithm: choose(point)})) {
			out.Grid = append(out.Grid, point)
		}
	}
	if len(out.Grid) == 0 && s.external != nil && !out.OffGrid {
		return out, fmt.Errorf("%s: %w: at no point are both the default and the file's algorithm recorded", p.Problem, verify.ErrNothing)
	}
	if len(out.Grid) == 0 {
		return out, fmt.Errorf("%s: %w", p.Problem, ErrNoDefault)
	}
	return out, nil
}

// force returns the settings of a launch: those that load the current files for verify.Tuned, none for the default.
func (s *libraryUnderTest) force(c coll.Candidate) (mpi.Forcing, error) {
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

func (s *libraryUnderTest) choice(p coll.Point) coll.Algorithm {
	if choose, ok := s.choose[p.Collective]; ok {
		return choose(p)
	}
	return coll.Default
}

// connect returns the machine and the probe, a program that checks whether the library obeys its files. If
// there is no compiler, there is no probe.
func (s *libraryUnderTest) connect(ctx context.Context) (*verify.Files, error) {
	if err := s.campaign.CheckSite(ctx, s.lib, s.state, s.record); err != nil {
		return nil, err
	}
	sequential := s.campaign.Sequential() // programs that run at the same time would hide small differences
	program, err := sequential.Program(s.lib)
	if err != nil {
		return nil, err
	}
	machine, err := sequential.Machine(s.lib, program, s.force)
	if err != nil {
		return nil, err
	}
	f := &verify.Files{Machine: machine}
	if facts := s.port.Facts(); facts.Observation == "" {
		f.NoProbe = "not observed: " + facts.Title + " does not show which algorithm runs"
		s.opt.Warn(s.lib.Name + ": " + f.NoProbe)
		return f, nil
	}
	compiler := s.compiler(ctx)
	if compiler == "" {
		f.NoProbe = fmt.Sprintf("no compiler for the probe that checks whether the library obeys its files: give --mpicc %s=COMMAND, then verify again with --restart", s.lib.Name)
		s.opt.Warn(s.lib.Name + ": " + f.NoProbe)
		return f, nil
	}
	path, err := verify.BuildProbe(ctx, compiler, filepath.Join(s.campaign.Config.Output, "probe-"+s.lib.Name))
	if err != nil {
		return nil, fmt.Errorf("probe that checks whether the library obeys its files: %w", err)
	}
	probe := &verify.Probe{Path: path, Library: s.port, Catalogue: s.cat, Choose: s.choice}
	f.Probe, err = sequential.Machine(s.lib, probe, s.force)
	return f, err
}

// compiler returns the configured compiler, or else the library's own. It returns "" if neither exists.
func (s *libraryUnderTest) compiler(ctx context.Context) string {
	if command := s.opt.Compilers[s.lib.Name]; command != "" {
		return command
	}
	nextToLauncher := ""
	if s.lib.LauncherPath != "" {
		nextToLauncher = filepath.Join(filepath.Dir(s.lib.LauncherPath), "mpicc")
	}
	for _, name := range []string{s.mpiLibrary(ctx).Install.Compilers[0], nextToLauncher} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	return ""
}

// mpiLibrary returns the facts of the MPI library of the campaign's programs. For a library that is
// preloaded into programs, it is the MPI library of the benchmark program.
func (s *libraryUnderTest) mpiLibrary(ctx context.Context) mpi.Facts {
	own := s.port.Facts()
	if !own.Preload {
		return own
	}
	version := doctor.Loaded(ctx, s.lib.Benchmark, os.Environ()).Version
	for _, l := range libraries.All() {
		if f := l.Facts(); strings.HasPrefix(version, f.Title+" ") {
			return f
		}
	}
	return own
}

// recorded is a runner that replays recorded data. For verify.Tuned it uses the algorithm that the files
// select. It gives the default even attempt numbers and the files odd ones, so that their noise is
// independent even if they run the same algorithm.
type recorded struct{ s *libraryUnderTest }

func (r *recorded) Run(ctx context.Context, batch benchrunner.Batch, log benchrunner.Log) error {
	for _, p := range r.s.campaign.Problems {
		if p.Library != r.s.lib.Name {
			continue
		}
		own := batch
		own.Requests = nil
		originals := map[benchrunner.Request]benchrunner.Request{}
		for _, q := range batch.Requests {
			if q.Collective != p.Collective {
				continue
			}
			replaced := q
			replaced.Attempt = 2 * q.Attempt
			if q.Algorithm == verify.Tuned {
				replaced.Algorithm = r.s.choice(q.Point)
				replaced.Attempt++
			}
			own.Requests = append(own.Requests, replaced)
			replaced.Ended = false
			originals[replaced] = q
		}
		err := p.Runner.Run(ctx, own, benchrunner.TrialLog(func(t coll.Trial) error {
			q := originals[benchrunner.Request{Candidate: t.Candidate, Attempt: t.Attempt}]
			t.Candidate, t.Attempt = q.Candidate, q.Attempt
			return log.Trial(t)
		}))
		if err != nil {
			return err
		}
	}
	return nil
}
