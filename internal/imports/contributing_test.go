package imports

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/benchrunner/runners"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi/libraries"
)

// TestToAdd compares the table "to add" of CONTRIBUTING.md with the registries: each row exists, what it names exists, and
// it names no more places than it may.
func TestToAdd(t *testing.T) {
	rows := toAdd(t)
	for _, tc := range []struct {
		addition   string
		registered int // number of entries of the registry
		atMost     int // places, which are paths below the root
	}{
		{"a collective", len(coll.Collectives()), 9},
		{"an axis of a point", len(coll.Axes), 14},
		{"another library", len(libraries.Names()), 2},
		{"a strategy", len(activelearn.Methods()), 2},
		{"an acquisition function", len(activelearn.Methods()), 2},
		{"a scheduler", len(new(runners.Sections).All()), 2},
		{"a benchmark program", len(runners.Programs()), 2},
		{"a launcher", len(benchrunner.LauncherNames()), 1},
		{"a chart of the report", 1, 4},
	} {
		change, ok := rows[tc.addition]
		if !ok || tc.registered == 0 {
			t.Errorf("%s: want a row in CONTRIBUTING.md and a registry, %d entries", tc.addition, tc.registered)
		}
		if n := len(placesIn(change)); n == 0 || n > tc.atMost {
			t.Errorf("%s: %d places, want 1 to %d", tc.addition, n, tc.atMost)
		}
	}
	for addition, change := range rows {
		for _, place := range placesIn(change) {
			if found := testutil.Must(filepath.Glob(filepath.Join(root, place)))(t); len(found) == 0 {
				t.Errorf("%s: no file %s", addition, place)
			}
		}
	}
}

// toAdd returns the rows of the table "to add" of CONTRIBUTING.md: what to change, by what is added.
func toAdd(t *testing.T) map[string]string {
	t.Helper()
	_, text, _ := strings.Cut(read(t, "CONTRIBUTING.md"), "| to add | change |\n|---|---|\n")
	rows := map[string]string{}
	for line := range strings.Lines(text) {
		cells := strings.SplitN(strings.Trim(strings.TrimSpace(line), "|"), "|", 2)
		if len(cells) < 2 {
			break
		}
		rows[strings.TrimSpace(cells[0])] = cells[1]
	}
	return rows
}

var quoted = regexp.MustCompile("`([^`]+)`")

// placesIn returns the paths below the root that a text names between backticks, each once.
func placesIn(text string) []string {
	var out []string
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		first, _, _ := strings.Cut(m[1], "/")
		if tops := []string{"activelearn", "benchrunner", "campaign", "cmd", "coll", "csource", "internal", "mpi", "preprocess", "report", "surrogate"}; slices.Contains(tops, first) && !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}
