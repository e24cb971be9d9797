package config_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
)

// journalled returns the configuration of the small campaign as its journal has it, and the path of its file.
func journalled(t *testing.T, set ...string) (json.RawMessage, string) {
	t.Helper()
	file := campaigntest.Small(t, t.TempDir())
	c, err := config.Load(file, config.Layers{Set: set})
	testutil.NoError(t, err)
	spec, err := json.Marshal(c)
	testutil.NoError(t, err)
	return spec, file
}

func TestAmend(t *testing.T) {
	t.Parallel()
	spec, _ := journalled(t, "stop.machine_time=2m")
	tests := []struct {
		set      string
		want     string // change
		criteria bool
		err      string
	}{
		{set: "stop.machine_time=4m", want: "stop.machine_time: 2m -> 4m"},
		{set: "STOP.NODE_HOURS=2.5", want: "stop.node_hours: 0 -> 2.5"},
		{set: "stop.wall_time=1h", want: "stop.wall_time: 0s -> 1h"},
		{set: "stop.confirm=2", want: "stop.confirm: 1 -> 2"},
		{set: "stop.slowdown=1.01", want: "stop.slowdown: 1.1 -> 1.01", criteria: true},
		{set: "stop.patience=4", want: "stop.patience: 2 -> 4", criteria: true},
		{set: "stop.machine_time=4", err: "stop.machine_time: 4: want a duration with a unit"},
		{set: "stop.slowdown=0.5", err: `stop.slowdown: "0.5": want a number from 1`},
		{set: "stop.criteria_from=reference", err: "stop.criteria_from: cannot change in a campaign that exists"},
		{set: "grid.nodes=1,2", err: "grid.nodes: cannot change in a campaign that exists, because the journal depends on it: want one of stop.machine_time,"},
		{set: "seed=2", err: "seed: cannot change"},
		{set: "stop.machin_time=4m", err: "unknown key: did you mean stop.machine_time?"},
		{set: "stop.machine_time", err: "want key=value"},
	}
	for _, tc := range tests {
		t.Run(tc.set, func(t *testing.T) {
			got, err := config.Amend(spec, []string{tc.set})
			if tc.err != "" {
				if !errors.Is(err, config.ErrConfig) || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("Amend() error = %v, want %q", err, tc.err)
				}
				return
			}
			testutil.NoError(t, err)
			if got.Changes[0].String() != tc.want || got.Criteria != tc.criteria {
				t.Errorf("Amend() = %v, criteria %t, want %s, %t", got.Changes, got.Criteria, tc.want, tc.criteria)
			}
			restored, err := config.Restore(got.Spec, t.TempDir())
			testutil.NoError(t, err)
			if restored.Stop != got.Stop {
				t.Errorf("the journal has %+v, want %+v", restored.Stop, got.Stop)
			}
		})
	}
}

func TestEdits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		set      []string // for Amend
		old, new string   // a replacement in the file
		want     string
	}{
		{name: "not edited"},
		{name: "another value for this campaign", set: []string{"stop.slowdown=1.02", "stop.slowdown=1.01", "stop.confirm=2"}},
		{name: "taken over", set: []string{"stop.slowdown=1.05"}, old: "slowdown: 1.1", new: "slowdown: 1.05"},
		{name: "edited after that", set: []string{"stop.slowdown=1.05"}, old: "slowdown: 1.1", new: "slowdown: 1.2", want: "stop.slowdown: 1.05 -> 1.2"},
		{name: "a comment", old: "seed: 3", new: "seed: 3 # three"},
		{name: "a value", old: "slowdown: 1.1", new: "slowdown: 1.05", want: "stop.slowdown: 1.1 -> 1.05"},
		{name: "a new key", old: "hpo:", new: "machine: m\nhpo:", want: "machine: default -> m"},
		{name: "a key less", old: "seed: 3\n", want: "seed: 3 -> default"},
		{name: "a list", old: "[allreduce]", new: "[allreduce, bcast]", want: "collectives has changed"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			spec, file := journalled(t)
			content, err := os.ReadFile(file)
			testutil.NoError(t, err)
			testutil.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(content), tc.old, tc.new, 1)), 0o666))
			for _, entry := range tc.set {
				spec = testutil.Must(config.Amend(spec, []string{entry}))(t).Spec
			}
			at, edits, err := config.Edits(spec)
			testutil.NoError(t, err)
			var texts []string
			for _, e := range edits {
				texts = append(texts, e.String())
			}
			if got := strings.Join(texts, "; "); got != tc.want || len(edits) > 0 && at != file {
				t.Errorf("Edits() = %s, %q, want %q", at, got, tc.want)
			}
		})
	}
	spec, file := journalled(t)
	testutil.NoError(t, os.Remove(file))
	if _, edits, err := config.Edits(spec); err == nil || edits != nil {
		t.Errorf("Edits() of a missing file %s = %v, %v", filepath.Base(file), edits, err)
	}
}
