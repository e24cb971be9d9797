package osu

import (
	"fmt"
	"path"
	"strconv"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/version"
)

// Options say how the programs are called. Zero values leave a number to OSU.
type Options struct {
	Dir        string // absolute folder of osu_bcast and the others, as the nodes see it
	Version    string // as 7.4; empty when unknown: what only some releases can is not used
	Iterations int    // timed calls of each size; OSU: 1000 up to 8 KiB, 100 above
	Warmup     int    // calls before them; OSU: 200 up to 8 KiB, 10 above
	MemLimit   int64  // bytes of one rank; OSU: 512 MiB, larger sizes are left out
	Tail       bool   // median of the calls, from 7.3 on
	OneHost    bool   // the nodes of a layout are imagined: all ranks are on this host
}

// Program is the OSU Micro-Benchmarks as a benchrunner.Program.
type Program struct {
	opt     Options
	release release
}

// release is major and minor version; zero when unknown.
type release struct{ major, minor int }

// from reports whether the release is known and not older than another one.
func (r release) from(major, minor int) bool {
	return r.major > major || r.major == major && r.minor >= minor
}

// The oldest releases that can do something.
var (
	anySizeSince = release{5, 6} // sizes that are no power of two; older ones round them up
	typesSince   = release{7, 1} // -T
	tailSince    = release{7, 3} // -z
)

// New checks the options. It does not look for the programs: they may be on other
// machines only.
func New(opt Options) (*Program, error) {
	if !path.IsAbs(opt.Dir) {
		return nil, fmt.Errorf("osu: folder %q of the programs: want an absolute path", opt.Dir)
	}
	if opt.Iterations < 0 || opt.Warmup < 0 || opt.MemLimit < 0 {
		return nil, fmt.Errorf("osu: iterations %d, warm-up %d, memory limit %d: want no negative number", opt.Iterations, opt.Warmup, opt.MemLimit)
	}
	p := &Program{opt: opt}
	if opt.Version != "" {
		r, err := parseRelease(opt.Version)
		if err != nil {
			return nil, err
		}
		if !r.from(5, 0) {
			return nil, fmt.Errorf("osu: version %s: want 5.0 or newer", opt.Version)
		}
		p.release = r
	}
	if opt.Tail && !p.release.from(tailSince.major, tailSince.minor) {
		return nil, fmt.Errorf("osu: version %q has no tail latencies: want 7.3 or newer", opt.Version)
	}
	return p, nil
}

// HasTail reports whether a release can print the median of the calls; false for one
// that is not known.
func HasTail(version string) bool {
	r, err := parseRelease(version)
	return err == nil && r.from(tailSince.major, tailSince.minor)
}

func parseRelease(s string) (release, error) {
	n := version.Numbers(s)
	if len(n) < 2 {
		return release{}, fmt.Errorf("osu: version %q: want a version as 7.4 or 5.6.2", s)
	}
	return release{n[0], n[1]}, nil
}

// Name returns osu.
func (*Program) Name() string { return "osu" }

// titles are what the programs call themselves; OSU has no others of ours.
var titles = map[coll.Collective]string{
	coll.Allgather:          "Allgather",
	coll.Allgatherv:         "Allgatherv",
	coll.Allreduce:          "Allreduce",
	coll.Alltoall:           "All-to-All Personalized Exchange",
	coll.Alltoallv:          "All-to-Allv Personalized Exchange",
	coll.Barrier:            "Barrier",
	coll.Bcast:              "Broadcast",
	coll.Gather:             "Gather",
	coll.Reduce:             "Reduce",
	coll.ReduceScatter:      "Reduce_scatter",
	coll.ReduceScatterBlock: "Reduce_scatter_block",
	coll.Scatter:            "Scatter",
}

// Group puts sizes that follow each other by doubling, of one collective and
// algorithm, into one start; the sweep of OSU measures nothing between them.
func (*Program) Group(cases []benchrunner.Case) [][]benchrunner.Case {
	return benchrunner.Sweeps(cases, follows)
}

// follows reports whether the sweep comes from a directly to b.
func follows(a, b benchrunner.Case) bool {
	return benchrunner.Ascending(a, b) && a.Collective.Sized() && b.MsgBytes == 2*a.MsgBytes
}

// Allowance returns the time of all calls and as many barriers at the pace of
// benchrunner.Patience, at least half a minute.
func (p *Program) Allowance(s benchrunner.Start) time.Duration {
	total := time.Duration(0)
	for _, c := range s.Cases {
		timed, warmup := p.calls(c)
		total += benchrunner.CallTime(c, timed+warmup)
	}
	return max(benchrunner.LeastAllowance, total)
}

// calls returns how often OSU makes a call.
func (p *Program) calls(c benchrunner.Case) (timed, warmup int) {
	timed, warmup = 1000, 200
	if c.MsgBytes > 8192 {
		timed, warmup = 100, 10
	}
	if p.opt.Iterations > 0 {
		timed = p.opt.Iterations
	}
	if p.opt.Warmup > 0 {
		warmup = p.opt.Warmup
	}
	return timed, warmup
}

// Command returns the call of the program for the cases, which must be one of the
// groups of Group. The error says what OSU cannot measure.
func (p *Program) Command(s benchrunner.Start) (benchrunner.Command, error) {
	if len(s.Cases) == 0 {
		return benchrunner.Command{}, fmt.Errorf("osu: start without a case")
	}
	first, last := s.Cases[0], s.Cases[len(s.Cases)-1]
	for i, c := range s.Cases {
		if err := p.check(c); err != nil {
			return benchrunner.Command{}, err
		}
		if i > 0 && !follows(s.Cases[i-1], c) {
			return benchrunner.Command{}, fmt.Errorf("osu: %v cannot follow %v in one start: sizes must double", c.Candidate, s.Cases[i-1].Candidate)
		}
	}
	args := []string{path.Join(p.opt.Dir, "osu_"+string(first.Collective)), "-f"}
	if p.opt.Iterations > 0 {
		args = append(args, "-i", strconv.Itoa(p.opt.Iterations))
	}
	if p.opt.Warmup > 0 {
		args = append(args, "-x", strconv.Itoa(p.opt.Warmup))
	}
	if first.Collective.Sized() {
		args = append(args, "-m", fmt.Sprintf("%d:%d", first.MsgBytes, last.MsgBytes))
		if p.opt.MemLimit > 0 {
			args = append(args, "-M", strconv.FormatInt(p.opt.MemLimit, 10))
		}
	}
	if first.Collective.Reduces() && p.release.from(typesSince.major, typesSince.minor) {
		args = append(args, "-T", "mpi_float") // these releases reduce characters otherwise
	}
	if p.opt.Tail {
		args = append(args, "-z")
	}
	return benchrunner.Placed(s.Dir, benchrunner.Command{Args: args, Env: first.Env}), nil
}

// check reports why OSU cannot measure a case.
func (p *Program) check(c benchrunner.Case) error {
	element := c.Collective.ElementBytes()
	switch {
	case titles[c.Collective] == "":
		return fmt.Errorf("osu: %v: OSU has no program for %s", c.Candidate, c.Collective)
	case c.Ranks() < 2:
		return fmt.Errorf("osu: %v: OSU measures two ranks or more", c.Candidate)
	case !c.Collective.Sized():
		return nil
	case c.MsgBytes < element:
		return fmt.Errorf("osu: %v: OSU begins at %d bytes", c.Candidate, element)
	case c.MsgBytes%element != 0:
		return fmt.Errorf("osu: %v: OSU measures whole elements of %d bytes", c.Candidate, element)
	case p.release != release{} && !p.release.from(anySizeSince.major, anySizeSince.minor) && c.MsgBytes&(c.MsgBytes-1) != 0:
		return fmt.Errorf("osu: %v: OSU %s measures powers of two only", c.Candidate, p.opt.Version)
	}
	return nil
}
