package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/config"
	"tutti/mpi"
	"tutti/mpi/intel"
	"tutti/mpi/libraries"
	"tutti/mpi/mvapich"
	"tutti/mpi/openmpi"
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
// replays what they are told: at every point the number of the selected algorithm.
func TestRecordedLibraries(t *testing.T) {
	tests := []struct {
		library, version, tree, ring, file string
		replay                             func(selection.Setup, coll.Point) (int, bool, error)
	}{
		{"intel", "2019", "binomial", "ring", intel.FileName, intel.Replay},
		{"mvapich2", "2.3", "knomial", "scatter_ring_allgather", mvapich.FileName, mvapich.Replay},
	}
	for _, tc := range tests {
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
			setup, err := selection.ParseShell(text)
			if err != nil {
				t.Fatal(err)
			}
			_, cat, err := libraries.Release(tc.library, tc.version)
			if err != nil {
				t.Fatal(err)
			}
			followed(t, filepath.Join(out, selectionCSV), cat, func(p coll.Point) (int, bool, error) { return tc.replay(setup, p) })
			if !strings.HasPrefix(string(readFile(t, filepath.Join(out, moduleDir, "tutti-"+tc.library, tc.version))), "#%Module1.0\n") {
				t.Error("no module")
			}
		})
	}
}

// followed compares a table of selections with what settings reach.
func followed(t *testing.T, path string, cat *mpi.Catalogue, replay func(coll.Point) (int, bool, error)) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(string(readFile(t, path)))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	tuned := 0
	for _, row := range rows[1:] {
		p := coll.Point{Collective: coll.Collective(row[1])}
		var err error
		if p.Nodes, err = strconv.Atoi(row[2]); err == nil {
			p.PPN, err = strconv.Atoi(row[3])
		}
		if err == nil {
			p.MsgBytes, err = strconv.ParseInt(row[4], 10, 64)
		}
		if err != nil {
			t.Fatal(err)
		}
		id, decided, err := replay(p)
		if err != nil {
			t.Fatal(err)
		}
		alg, err := coll.ParseAlgorithm(row[5])
		if err != nil {
			t.Fatal(err)
		}
		if decided == alg.IsDefault() {
			t.Errorf("%v: decided %t, but selected is %v", p, decided, alg)
		}
		if !alg.IsDefault() {
			tuned++
			if e, err := cat.Lookup(p.Collective, alg); err != nil || e.ID != id {
				t.Errorf("%v: number %d, want %d of %v, %v", p, id, e.ID, alg, err)
			}
		}
	}
	if tuned < 20 {
		t.Errorf("only %d of %d points are tuned", tuned, len(rows)-1)
	}
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
			if _, err := openmpi.ParseJSON(got); err != nil {
				t.Errorf("%s: %v", name, err)
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

func TestPortable(t *testing.T) {
	port, cat, err := libraries.Release("mpich", "4.0.2")
	if err != nil {
		t.Fatal(err)
	}
	target := exportTarget{
		target:   target{config.Library{Name: "mpich", Version: "4.0.2"}, config.Export{MaxLoss: 0.05}, port, cat},
		measured: config.Library{Name: "mpich", Version: "4.1.2"},
	}
	row := func(times ...any) selection.Row {
		r := selection.Row{Point: coll.Point{Collective: coll.Allgather, Nodes: 6, PPN: 1, MsgBytes: 64}}
		for i := 0; i < len(times); i += 2 {
			alg, err := coll.ParseAlgorithm(times[i].(string))
			if err != nil {
				t.Fatal(err)
			}
			r.Options = append(r.Options, selection.Option{Algorithm: alg, Seconds: times[i+1].(float64)})
		}
		return r
	}
	tests := []struct {
		name string
		row  selection.Row
		want string // the options that stay
		left int
	}{
		{"both have it", row("ring", 1.0, "brucks", 2.0, "library_default", 3.0), "ring brucks library_default", 0},
		{"the best is new", row("k_brucks(k=2)", 1.0, "ring", 2.0, "library_default", 3.0), "library_default", 1},
		{"the best is new, another is as good", row("k_brucks(k=2)", 1.0, "ring", 1.04, "library_default", 3.0), "ring library_default", 0},
		{"the default is as good", row("k_brucks(k=2)", 1.0, "ring", 2.0, "library_default", 1.01), "ring library_default", 0},
		{"nothing stays", row("k_brucks(k=2)", 1.0), "", 1},
		{"cannot run there", row("recursive_doubling", 1.0, "library_default", 3.0), "library_default", 1},
		{"no options", row(), "", 0},
	}
	for _, tc := range tests {
		rows, left := target.portable([]selection.Row{tc.row})
		var names []string
		for _, o := range rows[0].Options {
			names = append(names, o.Algorithm.String())
		}
		if got := strings.Join(names, " "); got != tc.want || left != tc.left {
			t.Errorf("%s: %q, %d left, want %q, %d", tc.name, got, left, tc.want, tc.left)
		}
	}
	target.library.Version = target.measured.Version
	if rows, left := target.portable([]selection.Row{tests[1].row}); left != 0 || len(rows[0].Options) != 3 {
		t.Errorf("the same release: %v, %d left", rows, left)
	}
}
