package openmpi

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/mpilibrarytest"
	"tutti/mpi"
	"tutti/selection"
)

// recorded returns the output of the ompi_info of 4.1.4.
func recorded(t testing.TB) string { return recordedOf(t, "4.1.4") }

// recordedOf returns the recorded output of a release's ompi_info. From 5.0 on it has only the lines that tutti reads.
func recordedOf(t testing.TB, version string) string {
	t.Helper()
	return string(testutil.Must(os.ReadFile("testdata/ompi-info-" + version + ".txt"))(t))
}

// TestRecordedReleases checks that the catalogues list exactly the algorithms of the releases that were run.
func TestRecordedReleases(t *testing.T) {
	for version, above := range map[string]string{
		"4.1.4": "nothing outranks coll/tuned", "5.0.7": "coll/han outranks coll/tuned: off while algorithms are measured, passes tuned calls on by exported rules",
		"6.0.0rc2": "coll/han outranks coll/tuned: off while algorithms are measured, passes tuned calls on by exported rules",
	} {
		got := Library.Inspect(t.Context(), mpi.Installed{Version: version, Tools: installed{"/bin/ompi_info", recordedOf(t, version), ""}})
		if got.Fault != "" || got.Listed < 50 || len(got.Absent)+len(got.Unlisted) > 0 || !slices.Equal(got.Above, []string{above}) {
			t.Errorf("%s: %+v, want nothing absent or unlisted, and %q", version, got, above)
		}
	}
}

func TestParseOmpiInfo(t *testing.T) {
	info := parseOmpiInfo(recorded(t))
	if info.version != "4.1.4" || info.checks != "on" {
		t.Errorf("version %q, checks %q, want 4.1.4, on", info.version, info.checks)
	}
	want := map[int]string{0: "ignore", 1: "linear", 2: "pairwise", 3: "modified_bruck", 4: "linear_sync", 5: "two_proc"}
	if diff := cmp.Diff(want, info.tuned["alltoall"]); diff != "" {
		t.Errorf("alltoall (-want +got):\n%s", diff)
	}
	if got := info.components["tuned"]["priority"]; got != "30" {
		t.Errorf("priority of tuned %s, want 30", got)
	}
	if above := info.above(); len(above) != 0 {
		t.Errorf("above tuned: %v, want nothing in 4.1.4", above)
	}

	newer := parseOmpiInfo(recorded(t) + "mca:coll:han:param:coll_han_priority:value:35\n" +
		"mca:coll:hcoll:version:\"mca:2.1.0\"\nmca:coll:hcoll:param:coll_hcoll_priority:value:90\n" +
		"mca:coll:ucc:param:coll_ucc_priority:value:90\n") // without a version: not there
	if diff := cmp.Diff([]string{"han", "hcoll"}, newer.above()); diff != "" {
		t.Errorf("above tuned (-want +got):\n%s", diff)
	}
}

// installed is an installed Open MPI. Its program ompi_info prints the given texts.
type installed struct{ path, build, params string }

func (i installed) Find(name string) string {
	if name != "ompi_info" {
		return ""
	}
	return i.path
}

func (i installed) Ask(_ context.Context, path string, args ...string) string {
	switch path + " " + strings.Join(args, " ") {
	case i.path + " --parsable":
		return i.build
	case i.path + " --parsable --param coll all --level 9":
		return i.params
	}
	return ""
}

func TestInspect(t *testing.T) {
	const path = "/opt/ompi/bin/ompi_info"
	text := recorded(t)
	tests := []struct {
		name         string
		tools        installed
		version      string
		fault, fix   string // a part
		rival        string // a part
		checks       string
		absent, more string // the first
	}{
		{name: "its own release", tools: installed{path, text, ""}, version: "4.1.4", rival: "nothing outranks", checks: "on"},
		{name: "in two answers", tools: installed{path, "ompi:version:full:4.1.4\n", text}, version: "4.1.4", rival: "nothing outranks", checks: "on"},
		{name: "without checks", tools: installed{path, text + "option:mpi-param-check:never\n", ""}, version: "4.1.4", rival: "nothing", checks: "off"},
		{
			name: "another algorithm", version: "4.1.4", rival: "nothing", checks: "on", absent: "bcast 2 chain", more: "bcast 42 brand_new",
			tools: installed{path, text, "mca:coll:tuned:param:coll_tuned_bcast_algorithm:enumerator:value:2:renamed\n" +
				"mca:coll:tuned:param:coll_tuned_bcast_algorithm:enumerator:value:42:brand_new\n"},
		},
		{name: "outranked", tools: installed{path, text, "mca:coll:han:param:coll_han_priority:value:35\n"}, version: "4.1.4", rival: "coll/han outranks coll/tuned", checks: "on"},
		{name: "no tool", version: "4.1.4", fault: "no ompi_info next to the compiler", fix: "openmpi-bin"},
		{name: "silent", tools: installed{path: path}, version: "4.1.4", fault: path + " does not tell the algorithms", fix: path + " --param coll tuned"},
		{name: "of another build", tools: installed{path, text, ""}, version: "5.0.3", fault: "is of Open MPI 4.1.4", fix: "bin folder of Open MPI 5.0.3"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got := Library.Inspect(t.Context(), mpi.Installed{Version: tc.version, Tools: tc.tools})
			if (got.Fault == "") != (tc.fault == "") || !strings.Contains(got.Fault, tc.fault) || !strings.Contains(got.Fix, tc.fix) || got.Checks != tc.checks {
				t.Errorf("got %+v, want the fault %q, the fix %q and checks %q", got, tc.fault, tc.fix, tc.checks)
			}
			if tc.fault != "" {
				if got.Catalogue != nil {
					t.Errorf("catalogue %s, want none", got.Catalogue.Version)
				}
				return
			}
			if got.Catalogue.Listed != tc.version || got.Listed < 50 || !strings.Contains(strings.Join(got.Above, "\n"), tc.rival) {
				t.Errorf("got %+v, want catalogue %s, its algorithms, and components above %q", got, tc.version, tc.rival)
			}
			if first(got.Absent) != tc.absent || first(got.Unlisted) != tc.more {
				t.Errorf("absent %q, unlisted %q, want %q first and %q", got.Absent, got.Unlisted, tc.absent, tc.more)
			}
		})
	}
}

func first(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// TestUnknownSeries checks release series for which no catalogue exists. Their algorithms must be those that
// ompi_info lists, and exported files must be able to select them.
func TestUnknownSeries(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	for version, from := range map[string]string{"3.1.6": "4.1.4", "7.0.0": "6.0.0rc2"} {
		text := strings.NewReplacer("version:full:"+from, "version:full:"+version,
			"bcast_algorithm:enumerator:value:6:binomial", "bcast_algorithm:enumerator:value:42:binomial",
			"bcast_algorithm:enumerator:value:2:chain", "bcast_algorithm:enumerator:value:2:brand_new").Replace(recordedOf(t, from))
		dir := t.TempDir()
		testutil.NoError(t, os.WriteFile(filepath.Join(dir, mpi.ComponentTool), []byte("#!/bin/sh\ncat <<'END'\n"+text+"\nEND\n"), 0o777))
		t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
		near, _ := mpi.Near(releases(), version)
		cat := near.As(version)
		if got := Library.Inspect(t.Context(), mpi.Installed{Version: version, Tools: installed{"/bin/ompi_info", text, ""}}); got.Fault != "" || got.Listed < 50 ||
			len(got.Absent)+len(got.Unlisted) > 0 || !slices.Equal(got.Build, []string{mpi.UnknownSeries}) {
			t.Errorf("%s: %+v", version, got)
		}
		b := testutil.Must(Library.Open(cat, filepath.Join(dir, "lib", "libmpi.so.40")))(t)
		binomial := testutil.Must(b.Catalogue().Lookup(coll.Bcast, coll.Algorithm{Name: "binomial"}))(t)
		added := testutil.Must(b.Catalogue().Lookup(coll.Bcast, coll.Algorithm{Name: "brand_new"}))(t)
		if binomial.ID != 42 || !slices.Equal(binomial.Params, []string{"segsize"}) || !binomial.OpSafe || added.ID != 2 || added.OpSafe {
			t.Errorf("%s: %+v, %+v", version, binomial, added)
		}
		if _, err := b.Catalogue().Lookup(coll.Bcast, coll.Algorithm{Name: "chain"}); !errors.Is(err, mpi.ErrUnknown) {
			t.Errorf("%s: chain: %v", version, err)
		}
		rows := []selection.Row{row(coll.Layout{Nodes: 1, PPN: 4}, 64, []string{"brand_new", "binomial", coll.Default.Name}, 1, 2, 3)}
		sel, x := mpilibrarytest.FitAndExport(t, b, rows, mpi.MergeOptions{OpSafe: true})
		if alg, _ := sel.Select(rows[0].Point); alg.Name != "binomial" {
			t.Errorf("%s: %v is selected", version, alg)
		}
		if text := strings.Join(x.Setup.Remarks, "\n"); !strings.Contains(text, "not tried on a real Open MPI "+version) {
			t.Error(text)
		}
		_, err := Library.Open(near.As("8.1.0"), "")
		golden("8.1.0 near "+version, err, mpi.ErrUnknown)
	}
}

// TestCompare checks that an algorithm whose number differs from the catalogue's counts as absent, because
// rules contain numbers.
func TestCompare(t *testing.T) {
	cat := release(t, "4.1.4")
	tuned := parseOmpiInfo(recorded(t)).tuned
	tuned["bcast"] = map[int]string{1: "basic_linear", 2: "binomial"}
	absent, unlisted, _ := compare(cat, tuned)
	if want := len(cat.Entries(coll.Bcast)) - 1; len(absent) != want || absent[0] != "bcast 2 chain" || len(unlisted) > 0 {
		t.Errorf("absent %v, unlisted %v, want %d from bcast 2 chain", absent, unlisted, want)
	}
}

func FuzzOmpiInfo(f *testing.F) {
	f.Add(recorded(f))
	f.Add("ompi:version:full:\x1b[2J\nmca:coll:tuned:param:coll_tuned_bcast_algorithm:enumerator:value:9999:x\nmca:coll::version:\n")
	cat := release(f, "4.1.4")
	f.Fuzz(func(t *testing.T, text string) {
		info := parseOmpiInfo(text)
		if strings.ContainsFunc(info.version, unicode.IsControl) {
			t.Errorf("version %q cannot be shown", info.version)
		}
		for collective, names := range info.tuned {
			for id, name := range names {
				if id < 0 || name == "" {
					t.Errorf("%s %d %q", collective, id, name)
				}
			}
		}
		if absent, _, listed := compare(cat, info.tuned); len(absent) > listed {
			t.Errorf("%d absent of %d", len(absent), listed)
		}
	})
}
