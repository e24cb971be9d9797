package native

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/csource"
)

// Options configure tutti's benchmark program, tutti-native.
type Options struct {
	Path string // absolute path of the program on the compute nodes
	benchrunner.ProgramOptions
}

// Program is tutti's benchmark program, tutti-native. It implements benchrunner.Program.
type Program struct{ opt Options }

// New checks the options and returns the program.
func New(opt Options) (*Program, error) {
	switch {
	case opt.Slice < time.Millisecond || opt.Slice > 24*time.Hour:
		return nil, fmt.Errorf("native: benchmark.slice %v: want 1ms to 24h", opt.Slice)
	case opt.AbortFactor != 0 && !(opt.AbortFactor > 1 && opt.AbortFactor < 1e9):
		return nil, fmt.Errorf("native: benchmark.abort_factor %g: want a factor above 1, or 0 for never", opt.AbortFactor)
	}
	return &Program{opt: opt}, nil
}

// Name returns native.
func (*Program) Name() string { return "native" }

// Group divides cases into launches. All cases with the same settings of the MPI library share a launch. Small sizes come
// first, so that a crash at a large size loses few cases. For each collective and size, the library's default comes first,
// so that much slower algorithms are aborted early.
func (*Program) Group(cases []benchrunner.Case) [][]benchrunner.Case {
	var groups [][]benchrunner.Case
	for _, c := range cases {
		i := slices.IndexFunc(groups, func(g []benchrunner.Case) bool { return sameSettings(g[0], c) })
		if i < 0 {
			i, groups = len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], c)
	}
	for _, g := range groups {
		slices.SortStableFunc(g, compare)
	}
	slices.SortStableFunc(groups, func(a, b []benchrunner.Case) int { return compare(a[0], b[0]) })
	return groups
}

func compare(a, b benchrunner.Case) int {
	return cmp.Or(
		cmp.Compare(a.MsgBytes, b.MsgBytes),
		coll.ComparePoints(a.Point, b.Point),
		-cmp.Compare(boolOrder(a.Algorithm.IsDefault()), boolOrder(b.Algorithm.IsDefault())),
		coll.CompareAlgorithms(a.Algorithm, b.Algorithm),
	)
}

func boolOrder(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func sameSettings(a, b benchrunner.Case) bool {
	return a.Layout() == b.Layout() && a.Start() == b.Start()
}

// Times that a launch needs in addition to its cases. If MPI_Finalize hangs, the
// program gives up after ten seconds.
const (
	startTime    = 10 * time.Second
	finalizeTime = 15 * time.Second
)

// hang returns the time after which the program gives up a case. The program checks the time limit of a case
// (its slice) only between calls. A slow case may therefore exceed its slice by three calls: one each for
// check, warm-up and timing.
func (p *Program) hang() time.Duration { return 10*time.Second + 10*p.opt.Slice }

// Allowance implements benchrunner.Program. It is the sum of one slice (a case's time limit) for every case, the
// possible excess of one slow case (see hang), and the times to start and to end.
func (p *Program) Allowance(s benchrunner.Launch) time.Duration {
	return startTime + time.Duration(len(s.Cases))*p.opt.Slice + p.hang() + finalizeTime
}

const planName = "native.plan"

// Command implements benchrunner.Program. The command includes the plan, a file that lists the cases. The cases of
// the launch must be one of the groups that Group returns.
func (p *Program) Command(s benchrunner.Launch) (benchrunner.Command, error) {
	text := p.head(s.Layout)
	for i, c := range s.Cases {
		if !sameSettings(c, s.Cases[0]) || c.Layout() != s.Layout {
			return benchrunner.Command{}, fmt.Errorf("native: %v and %v cannot be in one start of %v", s.Cases[0].Candidate, c.Candidate, s.Layout)
		}
		line, err := planLine(i, c)
		if err != nil {
			return benchrunner.Command{}, fmt.Errorf("native: %v: %w", c.Candidate, err)
		}
		text = append(text, line...)
	}
	return benchrunner.Command{
		Args:  []string{p.opt.Path, path.Join(s.Dir, planName)},
		Env:   s.Cases[0].Base,
		Files: map[string][]byte{planName: append(text, "end\n"...)},
	}, nil
}

func (p *Program) head(l coll.Layout) []byte {
	var b bytes.Buffer
	o := p.opt
	fmt.Fprintf(&b, "tutti-native-plan %d\nnodes %d\nppn %d\n", csource.BenchFormat, l.Nodes, l.PPN)
	fmt.Fprintf(&b, "warmup %d\nmin %d\nmax %d\nprecision %s\n", o.Warmup, o.MinSamples, o.MaxSamples, decimal(o.Precision))
	fmt.Fprintf(&b, "slice %s\nhang %s\nabort_factor %s\n", decimal(o.Slice.Seconds()), decimal(math.Ceil(p.hang().Seconds())), decimal(o.AbortFactor))
	check := "no"
	if o.Check {
		check = "yes"
	}
	fmt.Fprintf(&b, "check %s\n", check)
	return b.Bytes()
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func planLine(number int, c benchrunner.Case) ([]byte, error) {
	bytes := c.MsgBytes
	switch {
	case !c.Collective.Sized():
		bytes = 0
	case bytes < 0 || bytes > math.MaxInt32:
		return nil, fmt.Errorf("%d bytes: want 0 to %d", bytes, math.MaxInt32)
	}
	comm := "same"
	if c.NewComm {
		comm = "new"
	}
	line := fmt.Appendf(nil, "case %d %s %d %s", number, c.Collective, bytes, comm)
	if c.LibtuttiAlgorithm != (coll.Algorithm{}) {
		line = fmt.Appendf(line, " run=%s", c.LibtuttiAlgorithm)
	}
	for _, s := range c.Switches {
		line = fmt.Appendf(line, " %s=%d", s.Name, s.Value)
	}
	return append(line, '\n'), nil
}
