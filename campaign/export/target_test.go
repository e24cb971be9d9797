package export_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tutti/campaign/export"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/selection"
)

// targets returns the conclusions of the campaign in a folder, and the selections for the given releases.
func targets(t testing.TB, dir string, given ...string) (*export.FinalSelections, []*export.Target) {
	t.Helper()
	c, conclusions := concluded(t, dir)
	releases := testutil.Must(export.Releases(c, given))(t)
	var out []*export.Target
	for _, r := range releases {
		target := testutil.Must(conclusions.For(r))(t)
		out = append(out, target)
	}
	return conclusions, out
}

func csvOf(t *testing.T, releases []*export.Target) []byte {
	t.Helper()
	var b bytes.Buffer
	testutil.NoError(t, export.WriteSelection(&b, releases))
	return b.Bytes()
}

// TestOtherReleases checks exports for releases that were not measured. Points whose algorithm is missing in
// the release must get the default. The settings must say whether tutti's tests use the release.
func TestOtherReleases(t *testing.T) {
	dir := small(t, "collectives=allgather", "runner.data=data/C_allgather.csv")
	for _, tc := range []struct {
		release, file  string
		tried, missing bool
	}{
		{"openmpi", "openmpi.rules", true, false},
		{"openmpi=5.0.7", "openmpi.rules", true, false},
		{"openmpi=5.0.8", "openmpi.rules", false, false},
		{"openmpi=6.0.1", "openmpi.json", false, true}, // without bruck
	} {
		t.Run(tc.release, func(t *testing.T) {
			conclusions, all := targets(t, dir, tc.release)
			target, out := all[0], t.TempDir()
			x, err := target.Write(t.Context(), out)
			testutil.NoError(t, err)
			summary := target.Summary()
			if summary.Measured != "4.1.4" || summary.Tried != tc.tried || summary.Points != len(conclusions.Problems[1].Rows) || (summary.Left > 0) != tc.missing {
				t.Errorf("summary %+v of %d rows", summary, len(conclusions.Problems[1].Rows))
			}
			if !slices.Contains(x.Names(), tc.file) || !strings.HasSuffix(summary.Origin, summary.Version) {
				t.Errorf("files %q from the %s, want %s", x.Names(), summary.Origin, tc.file)
			}
			env := string(testutil.Must(os.ReadFile(filepath.Join(out, "openmpi.env")))(t))
			if strings.Contains(env, "not tried on a real Open MPI "+summary.Version) == tc.tried {
				t.Errorf("the remark about tried releases is wrong:\n%s", env)
			}
			if n := strings.Count(string(csvOf(t, all)), ",bruck,"); (n == 0) != tc.missing {
				t.Errorf("bruck is selected at %d points", n)
			}
		})
	}
}

// TestDocumentRoundTrip checks that a parsed document selects the same algorithms at every point.
func TestDocumentRoundTrip(t *testing.T) {
	conclusions, all := targets(t, small(t))
	text := testutil.Must(conclusions.Document(all).Bytes())(t)
	var doc selection.Document
	if err := json.Unmarshal(text, &doc); err != nil || doc.Campaign != "small" || len(doc.Libraries) != 2 {
		t.Fatalf("document of %q with %d libraries, %v", doc.Campaign, len(doc.Libraries), err)
	}
	for i, lib := range doc.Libraries {
		p := conclusions.Problems[i]
		if lib.Library != p.Library || len(lib.Collectives) != 1 || len(lib.Collectives[0].Points) != len(p.Rows) {
			t.Fatalf("%s has %d collectives, want the rows of %s", lib.Library, len(lib.Collectives), p.Problem.Problem)
		}
		for k, at := range lib.Collectives[0].Points {
			want := p.Selection.Choose(p.Rows[k].Point)
			got := lib.Collectives[0].Select(coll.Layout{Nodes: at.Nodes, PPN: at.PPN}, at.Size)
			if got != want || at.Algorithm != want {
				t.Errorf("%v: the document has %v and selects %v, want %v", p.Rows[k].Point, at.Algorithm, got, want)
			}
		}
	}
}

// TestSettingsSelect checks exports for libraries that are tuned by environment variables. In a job of each
// layout, the variables that the exported shell snippet sets must lead to the selected algorithms.
func TestSettingsSelect(t *testing.T) {
	for _, tc := range []struct {
		campaigntest.Made
		file string
	}{{campaigntest.MadeIntel, "intel.env"}, {campaigntest.MadeMVAPICH, "mvapich2.env"}} {
		t.Run(tc.Library, func(t *testing.T) {
			conclusions, all := targets(t, runMade(t, tc.Made))
			out := t.TempDir()
			x := testutil.Must(all[0].Write(t.Context(), out))(t)
			snippet := filepath.Join(out, tc.file)
			if !strings.Contains(string(testutil.Must(os.ReadFile(snippet))(t)), "not tried on a real") {
				t.Error("the settings do not say that they were not tried")
			}
			checkSettings(t, tc.Made, campaigntest.Selected(t, csvOf(t, conclusions.Targets), tc.Library), snippet)
			if x.Module != filepath.Join(out, "modulefiles", "tutti-"+tc.Library, tc.Version) {
				t.Fatalf("module %s, %v", x.Module, x.NoModule)
			}
			if text := string(testutil.Must(os.ReadFile(x.Module))(t)); !strings.HasPrefix(text, "#%Module1.0\n") || !strings.Contains(text, "tuned by the campaign made") {
				t.Errorf("module:\n%s", text)
			}
		})
	}
}

// checkSettings checks that the settings in a shell snippet lead to the selected algorithms in a job of
// each layout.
func checkSettings(t *testing.T, m campaigntest.Made, rows []selection.Row, snippet string) {
	t.Helper()
	lib, cat, err := libraries.Release(m.Library, m.Version)
	testutil.NoError(t, err)
	build := testutil.Must(lib.Open(cat, ""))(t)
	var x mpi.Export
	tuned := 0
	for _, r := range rows {
		l := r.Point.Layout()
		if !slices.ContainsFunc(x.Setup.Layouts, func(s mpi.LayoutSettings) bool { return s.Layout == l }) {
			x.Setup.Layouts = append(x.Setup.Layouts, mpi.LayoutSettings{Layout: l, Settings: sourced(t, snippet, l)})
		}
		if !r.Options[0].Algorithm.IsDefault() {
			tuned++
		}
	}
	sel := testutil.Must(build.Merge(rows, 0))(t)
	for _, r := range rows {
		if alg, _ := sel.Select(r.Point); alg != r.Options[0].Algorithm {
			t.Fatalf("%v: the selection says %v, want %v", r.Point, alg, r.Options[0].Algorithm)
		}
	}
	if err := build.Replay(x, sel, rows); err != nil {
		t.Error(err)
	}
	if tuned < 20 {
		t.Errorf("only %d of %d points are tuned", tuned, len(rows))
	}
}

// sourced returns the variables that a shell snippet sets in a job of the given layout.
func sourced(t *testing.T, path string, l coll.Layout) []mpi.Setting {
	t.Helper()
	cmd := exec.Command("sh", "-euc", `. "$1"; exec /usr/bin/env -0`, "sh", path)
	cmd.Env = []string{fmt.Sprintf("SLURM_JOB_NUM_NODES=%d", l.Nodes), fmt.Sprintf("SLURM_NTASKS_PER_NODE=%d", l.PPN)}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var set []mpi.Setting
	for _, v := range strings.Split(string(out), "\x00") {
		if name, value, ok := strings.Cut(v, "="); ok {
			set = append(set, mpi.Setting{Name: name, Value: value})
		}
	}
	return set
}

// TestHostileFolders checks that shell snippets work in folders whose names have special characters.
func TestHostileFolders(t *testing.T) {
	_, all := targets(t, small(t), "openmpi=6.0.0", "mpich")
	for _, name := range []string{"a b", "it's", `"q"`, "$HOME", "`id`", "$(id)", "[exec id]", "{", "#x", "é"} {
		dir := filepath.Join(t.TempDir(), name)
		for i, want := range []struct{ snippet, variable, file string }{
			{"openmpi.env", "OMPI_MCA_coll_tuned_dynamic_rules_filename", "openmpi.json"},
			{"mpich.env", "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", "mpich.json"},
		} {
			writeTo(t, all[i], dir)
			cmd := exec.Command("sh", "-euc", `. "$1"; eval "cat \"\$$2\""`, "sh", filepath.Join(dir, want.snippet), want.variable)
			got, err := cmd.Output()
			if err != nil {
				t.Fatalf("%s: %s: %v", name, want.snippet, err)
			}
			if !bytes.Equal(got, testutil.Must(os.ReadFile(filepath.Join(dir, want.file)))(t)) {
				t.Errorf("%s: %s names a file with\n%s", name, want.snippet, got)
			}
		}
	}
}

// writeTo writes the files of a release into a folder, which it creates.
func writeTo(t *testing.T, of *export.Target, dir string) export.WrittenFiles {
	t.Helper()
	testutil.NoError(t, os.MkdirAll(dir, 0o777))
	return testutil.Must(of.Write(t.Context(), dir))(t)
}

// TestPlacementIsExported checks that the settings, the module, the report and the document state the
// placement of the measurements if it is known.
func TestPlacementIsExported(t *testing.T) {
	for _, known := range []bool{false, true} {
		dir := runMade(t, campaigntest.MadeOpenMPI)
		if known {
			setCyclic(t, filepath.Join(dir, "journal.jsonl"))
		}
		conclusions, all := targets(t, dir, "openmpi")
		out := t.TempDir()
		module := testutil.Must(all[0].Write(t.Context(), out))(t).Module
		facts := written(t, dir, dir)
		for _, path := range []string{filepath.Join(out, "openmpi.env"), module, filepath.Join(dir, export.ReportHTML)} {
			if strings.Contains(string(testutil.Must(os.ReadFile(path))(t)), "Measured with ranks in cyclic order") != known {
				t.Errorf("known %t: %s:\n%s", known, path, testutil.Must(os.ReadFile(path))(t))
			}
		}
		own := conclusions.Document(all).Libraries[0].Placement
		if (own != nil) != known || (facts.Libraries[0].Placement != nil) != known || known && own.Order != coll.Cyclic {
			t.Errorf("known %t: the table has %+v, the report %+v", known, own, facts.Libraries[0].Placement)
		}
	}
}

// setCyclic changes a journal so that all its trials have cyclic placement.
func setCyclic(t *testing.T, journal string) {
	t.Helper()
	text := bytes.ReplaceAll(testutil.Must(os.ReadFile(journal))(t), []byte(`"state":"done"`), []byte(`"placement":{"order":"cyclic"},"state":"done"`))
	testutil.NoError(t, os.WriteFile(journal, text, 0o666))
}

// TestReleaseFaults checks that errors about releases name the command-line flag.
func TestReleaseFaults(t *testing.T) {
	c := campaigntest.New(t, campaigntest.Small(t, t.TempDir()))
	for _, tc := range []struct {
		given []string
		want  string
	}{
		{[]string{"intel=2019"}, `^--for intel=2019: the campaign is for mpich, openmpi$`},
		{[]string{"mpich=4.9.1"}, `give the path of its libmpich.so, as in --for mpich=4.9.1:PATH$`},
		{[]string{"mpich=4"}, `^--for mpich=4: mpich 4: not in the catalogue: want a release like 4.0.2, 4.1.2`},
		{[]string{"openmpi=7.0.0"}, `^--for openmpi=7.0.0: openmpi 7.0.0: .*put its ompi_info first on the PATH$`},
		{[]string{"mpich=../../etc"}, `version "../../etc": want one like 4.2.3$`},
		{[]string{"openmpi="}, `version "": want one like`},
		{[]string{"openmpi=4.1.4:/usr/lib/libmpi.so"}, `a path is for mpich alone, whose files are made from the library's own tree$`},
		{[]string{"mpich=4.2.3"}, `give the path of its libmpich.so, as in --for mpich=4.2.3:PATH$`},
		{[]string{"mpich=4.0.2:"}, `the path is empty$`},
		{[]string{"openmpi", "openmpi=5.0.9"}, `^--for openmpi=5.0.9: openmpi is given twice: want one release of a library in a folder$`},
	} {
		if _, err := export.Releases(c, tc.given); err == nil || !regexp.MustCompile(tc.want).MatchString(err.Error()) {
			t.Errorf("Releases(%q) error = %v, want one like %q", tc.given, err, tc.want)
		}
	}
}

// TestReleases checks that the given texts are parsed into the right libraries and versions. Without texts,
// Releases must return the campaign's libraries.
func TestReleases(t *testing.T) {
	c := campaigntest.New(t, campaigntest.Small(t, t.TempDir()))
	for _, tc := range []struct{ given, want []string }{
		{nil, []string{"mpich", "openmpi"}},
		{[]string{"openmpi"}, []string{"openmpi"}},
		{[]string{"openmpi=6.0.1", "mpich"}, []string{"openmpi", "mpich"}},
	} {
		got, err := export.Releases(c, tc.given)
		if err != nil || len(got) != len(tc.want) {
			t.Errorf("Releases(%q) = %d releases, %v, want %q", tc.given, len(got), err, tc.want)
			continue
		}
		for i, r := range got {
			if r.Measured() != tc.want[i] {
				t.Errorf("Releases(%q)[%d] is of %s, want %s", tc.given, i, r.Measured(), tc.want[i])
			}
		}
	}
}
