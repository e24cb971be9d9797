package preflight_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/benchrunner"
	"tutti/benchrunner/preflight"
	"tutti/internal/testutil"
	"tutti/mpi"
	"tutti/mpi/libraries"
)

func TestRead(t *testing.T) {
	const whole = "tutti-preflight begin\nenv OMPI_MCA_coll=^hcoll\nlibrary /lib/libmpi.so.40\nlist mca:coll:a\ntutti-preflight end\n"
	port, _ := libraries.Named("openmpi")
	s := benchrunner.Launch{Cases: make([]benchrunner.Case, 1), Dir: "/job/1"}
	for text, want := range map[string]bool{whole: true, "[0] " + whole: true, whole[:len(whole)-8]: false, "": false} {
		p := &preflight.Program{Library: port.(mpi.Measurable)}
		r := p.Read(s, benchrunner.Output{Stdout: []byte(text), Ended: true})
		if done := r.Outcomes[0].State == benchrunner.OutcomeDone; done != want {
			t.Errorf("%q: %+v, want done %t", text, r.Outcomes[0], want)
		}
		if !want {
			continue
		}
		got := testutil.Must(preflight.Decode(r.Outcomes[0].Answer))(t)
		setting := mpi.SiteSetting{Name: "OMPI_MCA_coll", Value: "^hcoll", Source: "environment", Effect: mpi.ShapesDefault}
		full := preflight.Findings{Settings: []mpi.SiteSetting{setting}, File: "/lib/libmpi.so.40", Dir: "/job/1"}
		if d := cmp.Diff(full, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}
