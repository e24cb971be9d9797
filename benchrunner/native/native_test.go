package native_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/benchrunner/native"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi"
)

func options() native.Options {
	return native.Options{Path: "/opt/tutti-native", ProgramOptions: benchrunner.ProgramOptions{
		Warmup: 5, MinSamples: 10, MaxSamples: 1000, Precision: 0.05, Slice: 500 * time.Millisecond, AbortFactor: 10, Check: true,
	}}
}

func program(t *testing.T, opt native.Options) *native.Program {
	t.Helper()
	return testutil.Must(native.New(opt))(t)
}

// one returns a case of the layout 2x1. The algorithm may be library_default.
func one(c coll.Collective, bytes int64, algorithm string, switches ...mpi.Switch) benchrunner.Case {
	a, err := coll.ParseAlgorithm(algorithm)
	if err != nil {
		panic(err)
	}
	return benchrunner.Case{
		Candidate: coll.Candidate{Point: coll.Point{Collective: c, Nodes: 2, PPN: 1, MsgBytes: bytes}, Algorithm: a},
		Forcing:   mpi.Forcing{Switches: switches},
	}
}

func start(cases ...benchrunner.Case) benchrunner.Launch {
	return benchrunner.Launch{Layout: coll.Layout{Nodes: 2, PPN: 1}, Cases: cases, Dir: "/run/a b"}
}

func TestNew(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	tests := []struct {
		name   string
		change func(*native.Options)
	}{
		{"slice", func(o *native.Options) { o.Slice = 0 }},
		{"abort factor", func(o *native.Options) { o.AbortFactor = 1 }},
	}
	for _, tc := range tests {
		o := options()
		tc.change(&o)
		_, err := native.New(o)
		golden(tc.name, err)
	}
}

func TestGroup(t *testing.T) {
	based := func(c benchrunner.Case, v ...mpi.Var) benchrunner.Case { c.Base = v; return c }
	newComm := func(c benchrunner.Case) benchrunner.Case { c.NewComm = true; return c }
	rules := mpi.Var{Name: "RULES", Value: "1"}
	cases := []benchrunner.Case{
		based(one(coll.Bcast, 64, "ring"), rules),
		one(coll.Bcast, 1024, "ring"),
		one(coll.Bcast, 64, "zeta"),
		one(coll.Bcast, 64, "library_default"),
		newComm(one(coll.Bcast, 64, "ring")),
		one(coll.Allgather, 64, "ring"),
		based(one(coll.Bcast, 8, "ring"), mpi.Var{Name: "RULES", File: []byte("1")}),
		one(coll.Bcast, 64, "alpha"),
		based(one(coll.Bcast, 8, "ring"), rules),
	}
	var got strings.Builder
	for _, g := range program(t, options()).Group(cases) {
		for _, c := range g {
			fmt.Fprintf(&got, "%v %v\n", c.Base, c.Candidate)
		}
		got.WriteString("\n")
	}
	testutil.CheckGolden(t, "groups.txt", []byte(got.String()))
}

func TestCommand(t *testing.T) {
	a := one(coll.Bcast, 1024, "library_default", mpi.Switch{Name: "MPIR_CVAR_BCAST_INTRA_ALGORITHM", Value: 0})
	b := one(coll.Bcast, 1024, "ring", mpi.Switch{Name: "MPIR_CVAR_BCAST_INTRA_ALGORITHM", Value: 5})
	c := one(coll.Barrier, 0, "library_default")
	s := start(a, b, c)
	for i := range s.Cases {
		s.Cases[i].Base = []mpi.Var{{Name: "FALLBACK", Value: "error"}}
	}
	p := program(t, options())
	cmd := testutil.Must(p.Command(s))(t)
	if got, want := fmt.Sprint(cmd.Args, cmd.Env), "[/opt/tutti-native /run/a b/native.plan] [{FALLBACK error []}]"; got != want {
		t.Errorf("Command = %s, want %s", got, want)
	}
	testutil.CheckGolden(t, "native.plan", cmd.Files["native.plan"])
	if got, want := p.Allowance(s), 41500*time.Millisecond; got != want { // start 10 s, three slices of 0.5 s, a slow case 15 s, end 15 s
		t.Errorf("Allowance = %v, want %v", got, want)
	}
}

func TestCommandRefused(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	other := one(coll.Bcast, 64, "ring")
	other.NewComm = true
	tests := []struct {
		name  string
		cases []benchrunner.Case
	}{
		{"two groups", []benchrunner.Case{one(coll.Bcast, 64, "ring"), other}},
		{"too large", []benchrunner.Case{one(coll.Bcast, 1<<31, "ring")}},
	}
	for _, tc := range tests {
		_, err := program(t, options()).Command(start(tc.cases...))
		golden(tc.name, err)
	}
}
