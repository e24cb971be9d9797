package report

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// decidedFacts are those of a campaign that says why it measured what, whose points
// count differently, and that began where two others ended.
func decidedFacts() Facts {
	f := smallFacts()
	p := &f.Problems[0]
	for i := range p.Curve {
		p.Curve[i].Source = "predicted"
		p.Curve[i].SlowdownUpper, p.Curve[i].MistakesUpper = 1+2*(p.Curve[i].Slowdown-1), 1.5*p.Curve[i].Mistakes
	}
	ties := 1
	p.Model, p.Ties, p.HPO = "gp", &ties, nil
	p.Cells[0].Tie = "linear"
	p.Weighted = &WeightFacts{Points: 5, Half: 2, Greatest: 3.25, Where: "allreduce 4x2 64KiB"}
	for round := range 3 {
		p.Reasons = append(p.Reasons, RoundReasons{Round: round + 2, Candidates: 8, Spares: 0.02, Seconds: 7.3, Top: []Reason{
			{Nodes: 4, PPN: 2, MsgBytes: 65536, Algorithm: "binomial", Rival: "linear", Doubt: 0.07, Spares: 0.004, Seconds: 0.3},
			{Nodes: 8, PPN: 2, MsgBytes: 8, Algorithm: "linear", Doubt: 0, Spares: 3.2e-6, Seconds: 12},
		}})
	}
	p.Compared = []ComparedFacts{
		{
			Campaign: "monday", Earlier: 400, Again: 12, Fresh: 30, Noise: 0.05,
			Algorithms: []ChangeFacts{
				{Name: "binomial", Measured: 20, Factor: &Range{2.01, 1.93, 2.1}, Changed: true},
				{Name: "linear", Measured: 22, Factor: &Range{1.004, 0.98, 1.03}},
				{Name: "library_default"},
			},
			Sizes: []ChangeFacts{{Name: "8B to 1KiB", Measured: 11, Factor: &Range{0.8, 0.75, 0.85}, Changed: true}},
		},
		{Campaign: "sunday", Earlier: 3, Noise: 0.05},
	}
	return f
}

func TestReasonSentence(t *testing.T) {
	r := Reason{Nodes: 16, PPN: 4, MsgBytes: 65536, Algorithm: "binomial", Rival: "ring", Doubt: 0.07, Spares: 0.0041, Seconds: 0.3}
	alone := r
	alone.Rival = ""
	check := r
	check.Check = true
	again := r
	again.Again = true
	sure := r
	sure.Doubt, sure.Spares = 0, 1e-12
	tests := []struct {
		name string
		in   Reason
		want string
	}{
		{"open", r, "Choosing between binomial and ring at 16x4, 64KiB, is expected to cost 7.0 %; measuring binomial there spares 0.41 % over the grid for 300 ms."},
		{"alone", alone, "At 16x4, 64KiB, there is no choice but binomial; measuring binomial there spares 0.41 % over the grid for 300 ms."},
		{"check", check, "binomial at 16x4, 64KiB, was drawn to check what is believed, for 300 ms."},
		{"again", again, "binomial at 16x4, 64KiB, was slower than all others let expect and is measured again, for 300 ms."},
		{"sure", sure, "Choosing between binomial and ring at 16x4, 64KiB, is expected to cost nothing; measuring binomial there spares next to nothing over the grid for 300 ms."},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.in.Sentence(); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestChangesInWords(t *testing.T) {
	views := comparedViews(decidedFacts().Problems[0].Compared)
	if want := "Changed: binomial (101 % slower), 8B to 1KiB (20 % less time)."; views[0].Words != want {
		t.Errorf("got %q, want %q", views[0].Words, want)
	}
	if want := "Nothing changed beyond noise as far as it was measured again."; views[1].Words != want {
		t.Errorf("got %q, want %q", views[1].Words, want)
	}
	var got []string
	for _, c := range views[0].Algorithms {
		got = append(got, c.Factor+" "+c.Words)
	}
	want := "2.010 [1.930, 2.100] 101 % slower; 1.004 [0.980, 1.030] no change beyond noise; – not measured"
	if strings.Join(got, "; ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), want)
	}
}

// What a decided campaign has is on the page and in the JSON form; others have
// nothing of it.
func TestDecidedPage(t *testing.T) {
	page := writtenHTML(t, decidedFacts())
	if path := os.Getenv("DECIDED_PAGE"); path != "" { // to look at it
		if err := os.WriteFile(path, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	plain := writtenHTML(t, smallFacts())
	for _, want := range []string{
		"Why these candidates were chosen (3 rounds)",
		"Choosing between binomial and linear at 4x2, 64KiB, is expected to cost 7.0 %",
		"Compared with the earlier campaign monday",
		"Changed: binomial (101 % slower)",
		"<dt>model</dt><dd>gp</dd>", "<dt>ties</dt><dd>1 of ", "<dt>half of the weight</dt><dd>in 2 points</dd>",
		"Thin line: the upper end", "slowdown at most", "behind a letter: a tie",
	} {
		if strings.Count(page, want) != 1 && want != "Choosing between binomial and linear at 4x2, 64KiB, is expected to cost 7.0 %" {
			t.Errorf("%q is on the page %d times, want once", want, strings.Count(page, want))
		}
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
		if strings.Contains(plain, want) {
			t.Errorf("%q is on the page of a campaign without it", want)
		}
	}
	var js bytes.Buffer
	if err := WriteJSON(&js, decidedFacts()); err != nil {
		t.Fatal(err)
	}
	want, _ := json.Marshal(withoutNil(decidedFacts()))
	if again, _ := json.Marshal(readJSON(t, js.Bytes())); !bytes.Equal(again, want) {
		t.Errorf("after reading: %s\nwant %s", again, want)
	}
}
