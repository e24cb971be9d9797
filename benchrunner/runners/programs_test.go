package runners_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tutti/benchrunner"
	"tutti/benchrunner/runners"
	"tutti/coll"
	"tutti/internal/testutil"
)

// TestProgramContract checks what every benchmark program promises: each case is in one launch, whose command can be
// run, and a launch that prints nothing useful has an outcome for each of its cases and no time.
func TestProgramContract(t *testing.T) {
	for _, k := range runners.Programs() {
		opt := k.Trial
		opt.Pattern = `time (?P<us>[0-9.]+)` // of own, which has no trial
		p := testutil.Must(k.New("/opt/"+k.Name, opt))(t)
		t.Run(k.Name, func(t *testing.T) {
			cases := someCases()
			seen := map[coll.Candidate]int{}
			for i, group := range p.Group(cases) {
				for _, c := range group {
					seen[c.Candidate]++
				}
				s := benchrunner.Launch{Layout: group[0].Layout(), Cases: group, Dir: t.TempDir()}
				checkLaunch(t, p, s, fmt.Sprintf("launch %d of %v", i, group[0].Candidate))
			}
			for _, c := range cases {
				if seen[c.Candidate] != 1 {
					t.Errorf("%v is in %d launches, want 1", c.Candidate, seen[c.Candidate])
				}
			}
		})
	}
}

// someCases returns cases of one layout: two algorithms, two message sizes of each collective that has any.
func someCases() []benchrunner.Case {
	var out []benchrunner.Case
	for _, c := range coll.Collectives() {
		for _, size := range []int64{8, 16} {
			if size > 8 && !c.Sized() {
				continue
			}
			for _, alg := range []coll.Algorithm{coll.Default, {Name: "binomial"}} {
				p := coll.Point{Collective: c, Nodes: 2, PPN: 2}
				if c.Sized() {
					p.MsgBytes = size
				}
				out = append(out, benchrunner.Case{Candidate: coll.Candidate{Point: p, Algorithm: alg}})
			}
		}
	}
	return out
}

func checkLaunch(t *testing.T, p benchrunner.Program, s benchrunner.Launch, name string) {
	t.Helper()
	if d := p.Allowance(s); d <= 0 {
		t.Errorf("%s: time limit %v, want more than zero", name, d)
	}
	cmd, err := p.Command(s)
	if err != nil {
		if !strings.Contains(err.Error(), string(s.Cases[0].Collective)) {
			t.Errorf("%s: error %q does not name the case", name, err)
		}
		return
	}
	if len(cmd.Args) == 0 || !filepath.IsAbs(cmd.Args[0]) || strings.ContainsAny(strings.Join(cmd.Args, ""), "\x00\n") {
		t.Errorf("%s: command %q, want an absolute path and arguments of one line", name, cmd.Args)
	}
	for file := range cmd.Files {
		if filepath.Base(file) != file {
			t.Errorf("%s: file %q, want a name without folders", name, file)
		}
	}
	for what, out := range map[string]benchrunner.Output{
		"ended silently":  {Ended: true},
		"never ended":     {},
		"timed out":       {TimedOut: true, Ended: true, Exit: 143},
		"failed":          {Ended: true, Exit: 1, Stderr: []byte("cannot open shared object\n")},
		"printed garbage": {Ended: true, Stdout: []byte("8 0.5\n16 -1\n\x00\xff nan 1e999\n")},
	} {
		reading := p.Read(s, out)
		if len(reading.Outcomes) != len(s.Cases) {
			t.Errorf("%s, %s: %d outcomes for %d cases", name, what, len(reading.Outcomes), len(s.Cases))
		}
		for _, o := range reading.Outcomes {
			if o.State == benchrunner.OutcomeDone || o.State == benchrunner.OutcomeFailed && (o.Error == "" || o.Phase == "") || o.State == "" {
				t.Errorf("%s, %s: outcome %+v, want a failure that says why", name, what, o)
			}
		}
	}
}
