package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tutti/campaign/export"
	"tutti/coll"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/selection"
	"tutti/selection/table"
)

// recordedBcast is a table of a broadcast: small messages like trees, large ones
// like rings, and the library's own choice is a third slower than the best.
func recordedBcast(tree, ring string) string {
	var b strings.Builder
	b.WriteString("collective,algorithm,nodes,ppn,msg_bytes,time_us\n")
	for _, l := range []coll.Layout{{Nodes: 2, PPN: 1}, {Nodes: 3, PPN: 1}, {Nodes: 4, PPN: 1}, {Nodes: 2, PPN: 2}, {Nodes: 3, PPN: 2}, {Nodes: 6, PPN: 1}, {Nodes: 5, PPN: 3}} {
		for size := 8; size <= 1<<20; size *= 4 {
			n, s := float64(l.Processes()), float64(size)
			t := math.Log2(n) * (2 + s/2000) * (1 + 0.3*float64(l.PPN))
			r := n*3 + s/1000
			for _, x := range []struct {
				name string
				us   float64
			}{{tree, t}, {ring, r}, {coll.Default.Name, 1.3 * min(t, r)}} {
				fmt.Fprintf(&b, "bcast,%s,%d,%d,%d,%.4f\n", x.name, l.Nodes, l.PPN, size, x.us)
			}
		}
	}
	return b.String()
}

// TestRecordedLibraries tunes libraries that are not here from recorded data and
// replays what they are told: at every point the algorithm that is selected.
func TestRecordedLibraries(t *testing.T) {
	for _, tc := range []struct{ library, version, tree, ring, file string }{
		{"intel", "2019", "binomial", "ring", "intel.env"},
		{"mvapich2", "2.3", "knomial", "scatter_ring_allgather", "mvapich2.env"},
	} {
		t.Run(tc.library, func(t *testing.T) {
			dir := t.TempDir()
			files := map[string]string{
				"in.csv": recordedBcast(tc.tree, tc.ring),
				"c.yaml": "name: recorded\noutput: out\nlibraries: [{name: " + tc.library + ", version: \"" + tc.version + "\"}]\n" +
					"collectives: [bcast]\nrunner: {kind: replay, data: [in.csv]}\nstop: {slowdown: 1.2, mistakes: 0.5, patience: 1}\n" +
					"hpo: {trials: 0}\nmodel: {trees: 5}\n",
			}
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			mustTutti(t, codeDone, "tune", "-c", filepath.Join(dir, "c.yaml"))
			out := filepath.Join(dir, "new")
			mustTutti(t, codeDone, "export", filepath.Join(dir, "out"), "--dir", out)
			text := readFile(t, filepath.Join(out, tc.file))
			if want := readFile(t, filepath.Join(dir, "out", tc.file)); string(text) != string(want) {
				t.Error("export writes other settings than tune")
			}
			if !strings.Contains(string(text), "not tried on a real") {
				t.Error("the settings do not say that they were not tried")
			}
			lib, cat, err := libraries.Release(tc.library, tc.version)
			if err != nil {
				t.Fatal(err)
			}
			build, err := lib.Open(cat, "")
			if err != nil {
				t.Fatal(err)
			}
			followed(t, build, tc.library, filepath.Join(out, export.SelectionCSV), filepath.Join(out, tc.file))
			if !strings.HasPrefix(string(readFile(t, filepath.Join(out, "modulefiles", "tutti-"+tc.library, tc.version))), "#%Module1.0\n") {
				t.Error("no module")
			}
		})
	}
}

// followed replays what a shell reads from a snippet in a job of each layout: it must
// lead to what a table of selections says.
func followed(t *testing.T, build mpi.Build, library, table, snippet string) {
	t.Helper()
	var x mpi.Export
	rows := selectedRows(t, readFile(t, table), library)
	tuned := 0
	for _, r := range rows {
		l := r.Point.Layout()
		if !slices.ContainsFunc(x.Setup.Layouts, func(s selection.LayoutSettings) bool { return s.Layout == l }) {
			x.Setup.Layouts = append(x.Setup.Layouts, selection.LayoutSettings{Layout: l, Settings: sourced(t, snippet, l)})
		}
		if !r.Options[0].Algorithm.IsDefault() {
			tuned++
		}
	}
	plan, err := build.Fit(rows, mpi.FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if alg, _ := plan.Select(r.Point); alg != r.Options[0].Algorithm {
			t.Fatalf("%v: the plan says %v, want %v", r.Point, alg, r.Options[0].Algorithm)
		}
	}
	if err := build.Replay(x, plan, rows); err != nil {
		t.Error(err)
	}
	if tuned < 20 {
		t.Errorf("only %d of %d points are tuned", tuned, len(rows))
	}
}

// selectedRows reads a table of selections, those of one library, as rows whose only
// option is what is selected.
func selectedRows(t *testing.T, table []byte, library string) []selection.Row {
	t.Helper()
	lines, err := csv.NewReader(bytes.NewReader(table)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []selection.Row
	for _, line := range lines[1:] {
		if line[0] != library {
			continue
		}
		var p coll.Point
		words := strings.Join(line[1:5], " ")
		if _, err := fmt.Sscanf(words, "%s %d %d %d", &p.Collective, &p.Nodes, &p.PPN, &p.MsgBytes); err != nil {
			t.Fatalf("%s: %v", words, err)
		}
		alg, err := coll.ParseAlgorithm(line[5])
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, selection.Row{Point: p, Options: []selection.Option{{Algorithm: alg, Seconds: 1}}})
	}
	return rows
}

// sourced returns what a snippet sets in a job of a layout.
func sourced(t *testing.T, path string, l coll.Layout) []selection.Setting {
	t.Helper()
	cmd := exec.Command("sh", "-euc", `. "$1"; exec /usr/bin/env -0`, "sh", path)
	cmd.Env = []string{fmt.Sprintf("SLURM_JOB_NUM_NODES=%d", l.Nodes), fmt.Sprintf("SLURM_NTASKS_PER_NODE=%d", l.PPN)}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var set []selection.Setting
	for _, v := range strings.Split(string(out), "\x00") {
		if name, value, ok := strings.Cut(v, "="); ok {
			set = append(set, selection.Setting{Name: name, Value: value})
		}
	}
	return set
}

// TestExportIntoHostileFolders: whatever the folder is called, the snippet leads a
// shell to the file, and the file is the one that was checked.
func TestExportIntoHostileFolders(t *testing.T) {
	dir := t.TempDir()
	smallCampaign(t, dir)
	mustTutti(t, codeDone, "tune", "-c", filepath.Join(dir, "small.yaml"))
	for _, name := range []string{"a b", "it's", `"q"`, "$HOME", "`id`", "$(id)", "[exec id]", "{", "#x", "é"} {
		out := filepath.Join(dir, name)
		mustTutti(t, codeDone, "export", filepath.Join(dir, "out"), "--for", "openmpi=6.0.0", "--for", "mpich", "--dir", out)
		for snippet, variable := range map[string]string{"openmpi.env": "OMPI_MCA_coll_tuned_dynamic_rules_filename", "mpich.env": "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"} {
			cmd := exec.Command("sh", "-euc", `. "$1"; eval "cat \"\$$2\""`, "sh", filepath.Join(out, snippet), variable)
			got, err := cmd.Output()
			if err != nil {
				t.Fatalf("%s: %s: %v", name, snippet, err)
			}
			if snippet != "openmpi.env" {
				continue
			}
			if want := readFile(t, filepath.Join(out, "openmpi.json")); !bytes.Equal(got, want) {
				t.Errorf("%s: the snippet leads to\n%s\nwant\n%s", name, got, want)
			}
		}
		doc, err := table.Parse(readFile(t, filepath.Join(out, selectionJSON)))
		if err != nil || len(doc.Libraries) != 2 || doc.Libraries[0].Version != "6.0.0" || doc.Libraries[0].Measured != "4.1.4" {
			t.Errorf("%s: %v, %v", name, doc.Libraries, err)
		}
	}
	_, stderr := mustTutti(t, codeUsage, "export", filepath.Join(dir, "out"), "--for", "openmpi", "--dir", filepath.Join(dir, "two\nlines"))
	if !strings.Contains(stderr, "control characters") {
		t.Errorf("stderr %q", stderr)
	}
}
