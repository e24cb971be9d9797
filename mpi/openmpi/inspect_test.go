package openmpi

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi"
)

// recorded returns the output of the ompi_info of 4.1.4.
func recorded(t testing.TB) string { return recordedOf(t, "4.1.4") }

// recordedOf returns the output of the ompi_info of a release, from 5.0 on only the lines that tutti reads.
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
	if got := info.priorities["tuned"]; got != 30 {
		t.Errorf("priority of tuned %d, want 30", got)
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

// installed is an installed Open MPI whose program ompi_info prints the given texts.
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
	older := strings.Replace(text, "ompi:version:full:4.1.4", "ompi:version:full:3.1.0", 1)
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
		{name: "of no known release", tools: installed{path, older, ""}, version: "3.1.0", fault: "no list of algorithms", fix: "4.1 or newer", checks: "on"},
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
			if got.Catalogue.Version != tc.version || got.Listed < 50 || !strings.Contains(strings.Join(got.Above, "\n"), tc.rival) {
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
