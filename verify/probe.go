package verify

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/coll/catalogue"
)

//go:embed src/probe.c
var probeSource []byte

// BuildProbe compiles the probe with the library's own compiler wrapper (mpicc) and
// puts it into a folder that every node sees. It returns its path.
func BuildProbe(ctx context.Context, compiler, dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	source, program := filepath.Join(dir, "tutti-probe.c"), filepath.Join(dir, "tutti-probe")
	if err := os.WriteFile(source, probeSource, 0o666); err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, compiler, "-O1", "-o", program, source).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %.500s", compiler, err, out)
	}
	return program, nil
}

// Probe is a program for a live runner that shows which algorithm the library enters
// with its files loaded. A case ends well when it is the one that the files select;
// its time means nothing.
//
// MPICH names the functions it was in when a message was longer than the receiver
// said. Of Open MPI the dynamic loader tells which algorithms its component calls
// for the first time, unless the component is a part of the library itself.
type Probe struct {
	Path      string // of the program that BuildProbe made
	Catalogue *catalogue.Catalogue
	Choose    func(coll.Point) coll.Algorithm // what the files select; set again when they change
}

var _ benchrunner.Program = (*Probe)(nil)

// Name is "probe".
func (p *Probe) Name() string { return "probe" }

// Group gives each case a start of its own: messages that nobody took would disturb
// the next one.
func (p *Probe) Group(cases []benchrunner.Case) [][]benchrunner.Case {
	var out [][]benchrunner.Case
	for i := range cases {
		out = append(out, cases[i:i+1:i+1])
	}
	return out
}

// Allowance is more than the program allows itself.
func (p *Probe) Allowance(benchrunner.Start) time.Duration { return 30 * time.Second }

// Command runs the program with the settings of the case.
func (p *Probe) Command(s benchrunner.Start) (benchrunner.Command, error) {
	if len(s.Cases) != 1 {
		return benchrunner.Command{}, fmt.Errorf("a probe serves one case, not %d", len(s.Cases))
	}
	c := s.Cases[0]
	mode := "trace"
	if p.Catalogue.Library == catalogue.MPICH {
		mode = "stack"
	}
	return benchrunner.Command{
		Args: []string{p.Path, mode, string(c.Collective), strconv.FormatInt(c.MsgBytes, 10)},
		Env:  c.Env,
	}, nil
}

// Read compares what the library entered with what it was to.
func (p *Probe) Read(s benchrunner.Start, out benchrunner.Output) benchrunner.Reading {
	var r benchrunner.Reading
	for _, c := range s.Cases {
		o := benchrunner.Outcome{State: benchrunner.OutcomeDone, Seconds: max(out.Wall.Seconds(), 1e-9), CostSeconds: out.Wall.Seconds()}
		if err := p.compare(c.Point, out); err != nil {
			o.State, o.Phase, o.Error, o.Seconds = benchrunner.OutcomeFailed, "run", err.Error(), 0
		}
		r.Outcomes = append(r.Outcomes, o)
	}
	return r
}

// compare is nil for obedience; the error is for sightOf to read.
func (p *Probe) compare(at coll.Point, out benchrunner.Output) error {
	want, err := wanted(p.Catalogue, at.Collective, p.Choose(at))
	if err != nil {
		return err
	}
	stacks, why := readStacks(out.Lines())
	if len(stacks) == 0 {
		return errors.New(cmp.Or(why, "nothing was printed: "+cmp.Or(out.LastWords(), "no output")))
	}
	return p.judge(at, want, stacks)
}

// judge compares what processes entered, outermost first, with what is wanted. Some
// compositions of MPICH leave no trace; then an algorithm that was entered may have
// had a part of the communicator only, where nodes have several processes.
func (p *Probe) judge(at coll.Point, want string, stacks [][]string) error {
	c := at.Collective
	var saw, compositions []string
	device := false
	for _, stack := range stacks {
		outermost := ""
		for _, name := range stack {
			switch {
			case strings.Contains(strings.ToLower(name), "mpidi_"+string(c)+"_intra_composition_"):
				compositions = append(compositions, name)
			case outermost == "" && isAlgorithm(name):
				outermost = name
			}
			device = device || strings.EqualFold(name, "MPID_"+string(c))
		}
		if outermost != "" {
			saw = append(saw, outermost)
		}
	}
	flat, _ := p.Catalogue.Flat(c)
	split := slices.DeleteFunc(slices.Clone(compositions), func(name string) bool { return name == flat.Leaf })
	same := func(name string) bool { return plain(name) == plain(want) }
	switch {
	case slices.ContainsFunc(compositions, same):
		return nil
	case strings.HasPrefix(want, "MPIDI_") && device && len(compositions) == 0:
		return errors.New("the device took the call and does not name its composition")
	case device && len(compositions) == 0 && at.Nodes > 1 && at.PPN > 1 && slices.ContainsFunc(saw, same):
		return fmt.Errorf("%s was entered, perhaps for a part of the communicator only: the device does not name its composition", want)
	case len(split) == 0 && slices.ContainsFunc(saw, same):
		return nil
	case len(saw) == 0 && len(compositions) == 0:
		return errors.New("the error names no algorithm")
	}
	names := slices.Concat(compositions, saw)
	slices.Sort(names)
	return fmt.Errorf("%s%s instead of %s", notObeyed, strings.Join(slices.Compact(names), ", "), want)
}

// isAlgorithm tells the functions that are one from those that choose one.
func isAlgorithm(name string) bool {
	return (strings.Contains(name, "_intra_") || strings.Contains(name, "_allcomm_") || strings.HasPrefix(name, "ompi_coll_base_")) &&
		!strings.HasSuffix(name, "_auto")
}

// readStacks returns what each process entered, or why nothing could be seen.
func readStacks(lines []string) (stacks [][]string, why string) {
	for _, line := range lines {
		if names, ok := strings.CutPrefix(line, "saw "); ok {
			stacks = append(stacks, strings.Fields(names))
		}
		if reason, ok := strings.CutPrefix(line, "unseen "); ok && why == "" {
			why = reason
		}
	}
	return stacks, why
}

// wanted returns the function that a library enters for an algorithm.
func wanted(cat *catalogue.Catalogue, c coll.Collective, alg coll.Algorithm) (string, error) {
	e, err := cat.Lookup(c, alg)
	if err != nil {
		return "", err
	}
	if cat.Library == catalogue.MPICH {
		return e.Leaf, nil
	}
	name := e.Name
	if other, ok := functions[string(c)+" "+name]; ok {
		name = other
	}
	if c == coll.ReduceScatterBlock && name == "basic_linear" {
		return "ompi_coll_base_reduce_scatter_block_basic_linear", nil
	}
	return "ompi_coll_base_" + string(c) + "_intra_" + name, nil
}

// functions of Open MPI that are not called as the enumerators of its parameters
// are, underscores aside. Source: ompi/mca/coll/tuned/coll_tuned_*_decision.c of
// 4.1.4.
var functions = map[string]string{
	"allgather linear":                 "basic_linear",
	"allgather neighbor":               "neighbor_exchange",
	"allgather two_proc":               "two_procs",
	"allgatherv default":               "basic_default",
	"allgatherv neighbor":              "neighbor_exchange",
	"allgatherv two_proc":              "two_procs",
	"allreduce rabenseifner":           "redscat_allgather",
	"allreduce segmented_ring":         "ring_segmented",
	"alltoall linear":                  "basic_linear",
	"alltoall modified_bruck":          "bruck",
	"alltoall two_proc":                "two_procs",
	"barrier linear":                   "basic_linear",
	"barrier two_proc":                 "two_procs",
	"bcast binary_tree":                "bintree",
	"bcast split_binary_tree":          "split_bintree",
	"reduce linear":                    "basic_linear",
	"reduce rabenseifner":              "redscat_gather",
	"reduce_scatter recursive_halving": "basic_recursive_halving",
}

// plain leaves the underscores and hyphens out of a name: the library is not of one
// mind about them.
func plain(name string) string { return strings.NewReplacer("_", "", "-", "").Replace(name) }
