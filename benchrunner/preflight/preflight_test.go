package preflight_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/benchrunner"
	"tutti/benchrunner/preflight"
)

func TestRead(t *testing.T) {
	const whole = "tutti-preflight begin\nenv OMPI_MCA_coll=^hcoll\nlibrary /lib/libmpi.so.40\nlist mca:coll:a\nlist cvar coll=^hcoll\ntutti-preflight end\n"
	s := benchrunner.Launch{Cases: make([]benchrunner.Case, 1), Dir: "/job/1"}
	for text, want := range map[string]bool{whole: true, "[0] " + whole: true, whole[:len(whole)-8]: false, "": false} {
		p := &preflight.Program{}
		r := p.Read(s, benchrunner.Output{Stdout: []byte(text), Ended: true})
		got, ok := p.Findings()
		if done := r.Outcomes[0].State == benchrunner.OutcomeDone; done != want || ok != want {
			t.Errorf("%q: %+v, want done %t", text, r.Outcomes[0], want)
		}
		full := preflight.Findings{Environ: []string{"OMPI_MCA_coll=^hcoll"}, Listing: "mca:coll:a\ncvar coll=^hcoll", File: "/lib/libmpi.so.40", Dir: "/job/1"}
		if d := cmp.Diff(full, got); want && d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}
