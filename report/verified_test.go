package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
)

// liveFacts is smallFacts with all that a campaign on a real machine adds.
func liveFacts() Facts {
	f := smallFacts()
	f.Libraries[0].Verified = true
	rng := rand.New(rand.NewPCG(5, 6))
	v := VerificationFacts{Library: "mpich", Ended: true, Tolerance: 0.02, Alpha: 0.05, Passes: 2, Trials: 900, Failed: 3, MachineSeconds: 5400}
	for i := range 60 {
		value := math.Exp(0.25*rng.NormFloat64() - 0.2)
		p := VerifiedPoint{
			Collective: "bcast", Nodes: 2 << (i % 3), PPN: 2, MsgBytes: 8 << (i / 3), Choice: "binomial", Why: "grid", Blocks: 9,
			Ratio: &Range{value, value * 0.97, value * 1.04},
		}
		if i%9 == 0 {
			p.Choice, p.Why = coll.Default.String(), "control"
			p.Ratio = &Range{1.001, 0.98, 1.02}
		}
		if i == 9 {
			p.PutBack, p.Why = true, "again"
		}
		v.Points = append(v.Points, p)
	}
	v.Points = append(v.Points, VerifiedPoint{Collective: "allreduce", Nodes: 2, PPN: 2, MsgBytes: 8, Choice: "ring", Why: "grid", Failed: 20})
	v.Collectives = []VerifiedCollective{
		{Collective: "allreduce", Points: 1, PutBack: 1, Left: true, Slower: 1, Obedience: []string{"cannot be seen", "not obeyed"}},
		{Collective: "bcast", Points: 60, Changed: 53, Speedup: &Range{1.21, 1.15, 1.28}, Same: &Range{1.001, 0.99, 1.01}, PutBack: 1, Obedience: []string{"obeyed"}},
	}
	v.PutBack = []CondemnedPoint{
		{Collective: "bcast", Nodes: 2, PPN: 2, MsgBytes: 64, Choice: "binomial", Reason: "slower", Ratio: &Range{1.31, 1.27, 1.36}, P: 1.9e-6, Blocks: 19},
		{Collective: "allreduce", Nodes: 2, PPN: 2, MsgBytes: 8, Choice: "ring", Reason: "fails", P: 1, Error: "run: killed by signal 11"},
	}
	v.Slower = []CondemnedPoint{{Collective: "allreduce", Nodes: 2, PPN: 2, MsgBytes: 8, Choice: coll.Default.String(), Reason: "slower", Ratio: &Range{1.2, 1.1, 1.3}, P: 1e-5, Blocks: 20}}
	v.Obedience = []ObedienceFacts{
		{Collective: "bcast", Nodes: 4, PPN: 2, MsgBytes: 512, Choice: "binomial", State: "obeyed"},
		{Collective: "allreduce", Nodes: 4, PPN: 2, MsgBytes: 512, Choice: "ring", State: "not obeyed", Note: "MPIR_Allreduce_intra_smp instead of ring"},
	}
	f.Verification = []VerificationFacts{v, {Library: "openmpi"}}
	f.MachineTime = []MachineTimeFacts{
		{Library: "mpich", Collective: "bcast", Jobs: 12, Queue: 3600, Launch: 700, Warmup: 300, Measure: 5000, Idle: 120},
		{Library: "mpich", Jobs: 3, Queue: 60, Launch: 70, Warmup: 30, Measure: 500, Idle: 12},
	}
	f.Excluded = []ExcludedFacts{{Library: "mpich", Collective: "bcast", Nodes: 8, PPN: 2, MsgBytes: 65536, Algorithm: "smp", Attempts: 3, Phase: "run", Error: "killed by signal 11"}}
	f.Environments = []EnvironmentFacts{
		{Library: "mpich", MPI: "MPICH Version: 4.0.2", Checksum: strings.Repeat("0123456789abcdef", 4), Kernel: "6.1.0-18-amd64", CPU: "a processor", Governor: "performance", Jobs: 15},
	}
	for i := range 12 {
		f.Environments[0].Nodes = append(f.Environments[0].Nodes, fmt.Sprintf("n%02d", i))
	}
	return f
}

func TestLiveText(t *testing.T) {
	var got bytes.Buffer
	for _, write := range []func(io.Writer, Facts) error{WriteVerification, WriteMachineTime} {
		if err := write(&got, liveFacts()); err != nil {
			t.Fatal(err)
		}
		if err := write(io.Discard, Facts{Verification: []VerificationFacts{{Tolerance: math.NaN()}}}); err == nil || !strings.Contains(err.Error(), "verification[0].tolerance") {
			t.Errorf("error %v", err)
		}
	}
	testutil.CheckGolden(t, "live.txt", got.Bytes())
	got.Reset()
	if err := WriteVerification(&got, smallFacts()); err != nil || got.Len() > 0 {
		t.Errorf("without a verification: %v, %q", err, got.String())
	}
}

func TestLiveJSON(t *testing.T) {
	f := liveFacts()
	f.Problems = nil
	f.Verification[0].Points = f.Verification[0].Points[:2]
	var got bytes.Buffer
	if err := WriteJSON(&got, f); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(got.String(), `"points": null`) {
		t.Error("an empty list is written as null")
	}
	testutil.CheckGolden(t, "live.json", got.Bytes())
	readJSON(t, got.Bytes())
	var old map[string]any
	got.Reset()
	if err := WriteJSON(&got, smallFacts()); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got.Bytes(), &old); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"verification", "machine_time", "excluded", "environments"} {
		if _, there := old[key]; there {
			t.Errorf("%s is written where there is none", key)
		}
	}
}

func TestLivePage(t *testing.T) {
	page := writtenHTML(t, liveFacts())
	for _, want := range []string{
		`<section id="verification">`, "1.210 [1.150, 1.280]", "all (1 points)", "Put back to the default (2)", "fails: run: killed by signal 11",
		"Slower than the default at 1 points", "The verification has not ended", "2 % slower", "time tuned / default (ratio)",
		`<section id="excluded">`, `<section id="machine">`, "0123456789abcdef<", "n07 and 4 more", "obeyed", "performance",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, bad := range []string{"NaN", "%!", "nil", "Zgotmplz"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	old := writtenHTML(t, smallFacts())
	for _, bad := range []string{`id="verification"`, `id="excluded"`, `id="machine"`} {
		if strings.Contains(old, bad) {
			t.Errorf("the page has %s without facts", bad)
		}
	}
	f := liveFacts()
	f.Verification[0].Library, f.Verification[0].Collectives[0].Collective = hostile, hostile
	f.Verification[0].PutBack[0].Error, f.Verification[0].Obedience[1].Note = hostile, hostile
	f.Excluded[0].Error, f.Environments[0].MPI, f.Environments[0].Nodes = hostile, hostile, []string{hostile}
	if strings.Contains(writtenHTML(t, f), "<script") {
		t.Error("a hostile name reached the page unescaped")
	}
}
