package assembly_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tutti/campaign/assembly"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
)

// journalOf returns the journal of a campaign that has measurements of the given problems.
func journalOf(t *testing.T, cfg *config.Campaign, problems ...journal.Problem) *journal.Contents {
	t.Helper()
	spec := testutil.Must(json.Marshal(cfg))(t)
	contents := &journal.Contents{Header: journal.Header{Spec: spec}}
	for _, p := range problems {
		contents.State().Add(journal.Record{Kind: journal.KindStop, Problem: p, Stop: "exhausted"})
	}
	return contents
}

// TestUnmeasurable checks that a collective that the benchmark program cannot measure is left out. It must
// remain only if the journal has records of it.
func TestUnmeasurable(t *testing.T) {
	scan := journal.Problem{Library: "openmpi", Collective: coll.Scan}
	const reason = "openmpi scan: "
	cfg := campaigntest.Load(t, campaigntest.Fake(t, t.TempDir(), "local"), "collectives=allreduce,scan,exscan")
	for _, tc := range []struct {
		name string
		make func() (*assembly.Campaign, error)
		want []coll.Collective
	}{
		{"new", func() (*assembly.Campaign, error) { return assembly.New(cfg) }, []coll.Collective{coll.Allreduce}},
		{"journal without it", func() (*assembly.Campaign, error) {
			return assembly.Restore(journalOf(t, cfg), cfg.Output)
		}, []coll.Collective{coll.Allreduce}},
		{"journal with it", func() (*assembly.Campaign, error) {
			return assembly.Restore(journalOf(t, cfg, scan), cfg.Output)
		}, []coll.Collective{coll.Allreduce, coll.Scan}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := testutil.Must(tc.make())(t)
			var got []coll.Collective
			for _, p := range c.Problems {
				got = append(got, p.Collective)
			}
			if len(got) != len(tc.want) || got[0] != tc.want[0] || got[len(got)-1] != tc.want[len(tc.want)-1] {
				t.Errorf("problems %v, want %v", got, tc.want)
			}
			warnings := strings.Join(c.Warnings, "\n")
			if strings.Contains(warnings, reason) != (len(got) == 1) || !strings.Contains(warnings, "openmpi exscan: 9 of 9 candidates cannot be measured: osu: OSU has no program for exscan") {
				t.Errorf("warnings:\n%s", warnings)
			}
			testutil.NoError(t, c.Connect("id", nil))
			f, err := c.Forecast(t.Context())
			if err != nil || len(f.LeftOut) != 2 || !f.LeftOut[0].Whole() || !f.LeftOut[1].Whole() {
				t.Errorf("left out %v, %v, want scan and exscan", f.LeftOut, err)
			}
		})
	}
	cfg.Collectives = []string{"scan", "exscan"}
	_, err := assembly.New(cfg)
	testutil.GoldenErrors(t)("scan and exscan", err, assembly.ErrInput, assembly.ErrUnmeasurable)
}
