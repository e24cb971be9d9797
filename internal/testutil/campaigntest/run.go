package campaigntest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/campaign/export"
	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/journal"
)

// Load reads a campaign file. Each text in `set` has the form KEY=VALUE and overrides a key of the file.
func Load(t testing.TB, file string, set ...string) *config.Campaign {
	t.Helper()
	return testutil.Must(config.Load(file, config.Layers{Set: set}))(t)
}

// New returns the campaign that a campaign file describes. Each text in `set` has the form KEY=VALUE and overrides a
// key of the file.
func New(t testing.TB, file string, set ...string) *assembly.Campaign {
	t.Helper()
	return testutil.Must(assembly.New(Load(t, file, set...)))(t)
}

// Begin creates the journal of a new campaign in its output folder.
func Begin(t testing.TB, cfg *config.Campaign) *journal.Journal {
	t.Helper()
	spec := testutil.Must(json.Marshal(cfg))(t)
	return testutil.Must(journal.Create(cfg.Output, journal.Header{Campaign: cfg.Name, Seed: cfg.Seed, Spec: spec}))(t)
}

// Run runs a campaign to its end. It returns the campaign's folder, which contains the journal and the
// folders of jobs.
func Run(t testing.TB, cfg *config.Campaign) (dir string) {
	t.Helper()
	c := testutil.Must(assembly.New(cfg))(t)
	testutil.NoError(t, c.Connect("k7x2m4qa", os.Environ()))
	j := Begin(t, cfg)
	testutil.Must(c.Run(t.Context(), &journal.State{}, j, nil))(t)
	testutil.NoError(t, j.Close())
	return cfg.Output
}

// RestoreAll reads the journal in a campaign's folder. It returns the campaign and its results.
func RestoreAll(t testing.TB, dir string) (*assembly.Campaign, []campaign.Result) {
	t.Helper()
	c, results, _, err := assembly.RestoreAll(dir)
	testutil.NoError(t, err)
	return c, results
}

// Conclude returns the conclusions from the campaign in a folder. If the function `change` is not nil, Conclude
// first calls it with the campaign.
func Conclude(t testing.TB, dir string, change func(*assembly.Campaign)) *export.FinalSelections {
	t.Helper()
	c, results, contents, err := assembly.RestoreAll(dir)
	testutil.NoError(t, err)
	if change != nil {
		change(c)
	}
	models := testutil.Must(export.Train(t.Context(), c, results))(t)
	return testutil.Must(models.Conclude(contents.State()))(t)
}

// Records reads the journal in a folder and returns its records, without the header.
func Records(t testing.TB, dir string) (records []journal.Record) {
	t.Helper()
	content := testutil.Must(os.ReadFile(filepath.Join(dir, journal.FileName)))(t)
	lines := bytes.SplitAfter(content, []byte("\n"))
	for _, line := range lines[1 : len(lines)-1] {
		var r journal.Record
		testutil.NoError(t, json.Unmarshal(line, &r))
		records = append(records, r)
	}
	return records
}

// State returns the state to which these records of a journal lead.
func State(records []journal.Record) *journal.State {
	var s journal.State
	for _, r := range records {
		s.Add(r)
	}
	return &s
}
