package mpich

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil/mpilibrarytest"
	"tutti/mpi"
	"tutti/selection"
)

func TestSettings(t *testing.T) {
	tests := []struct {
		name    string
		environ []string
		want    []string
	}{
		{"nothing", []string{"MPIR_CVAR_DEBUG_SUMMARY=1", "MPIR_CVAR_IBARRIER_INTRA_ALGORITHM=tsp_k_dissem", "MPIR_CVAR_BCAST_INTRA_ALGORITHM=auto"}, nil},
		{"files", []string{"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=/a.json"}, []string{"file MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=/a.json (environment)"}},
		{"pins", []string{"MPIR_CVAR_BCAST_INTRA_ALGORITHM=smp", "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE=0", "MPIR_CVAR_DEVICE_COLLECTIVES=none"}, []string{
			"algorithm MPIR_CVAR_BCAST_DEVICE_COLLECTIVE=0 (environment)", "algorithm MPIR_CVAR_BCAST_INTRA_ALGORITHM=smp (environment)", "algorithm MPIR_CVAR_DEVICE_COLLECTIVES=none (environment)",
		}},
		{"another prefix", []string{"MPICH_BCAST_INTRA_ALGORITHM=binomial"}, []string{"algorithm MPIR_CVAR_BCAST_INTRA_ALGORITHM=binomial (environment as MPICH_BCAST_INTRA_ALGORITHM)"}},
		{"two prefixes", []string{"MPICH_BCAST_INTRA_ALGORITHM=binomial", "MPIR_CVAR_BCAST_INTRA_ALGORITHM=smp"}, []string{"algorithm MPIR_CVAR_BCAST_INTRA_ALGORITHM=smp (environment)"}},
		{"thresholds", []string{"MPIR_CVAR_BCAST_SHORT_MSG_SIZE=1"}, []string{"default MPIR_CVAR_BCAST_SHORT_MSG_SIZE=1 (environment)"}},
		{"a component above", []string{"MPIR_CVAR_CH4_UCX_ENABLE_UCC=1"}, []string{"component MPIR_CVAR_CH4_UCX_ENABLE_UCC=1 (environment)"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, s := range Library.Settings(tc.environ, "") {
				got = append(got, string(s.Effect)+" "+s.String())
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestSiteIsBase checks exported files on a machine whose settings select algorithms: what tutti did not tune must stay
// as the site has it.
func TestSiteIsBase(t *testing.T) {
	lib := known(t).lib
	leafOf := func(name string) treeObject {
		return treeObject{{"avg_msg_size=any", treeObject{{leafKey + name, nil}}}}
	}
	siteOf := func(name string, collective string) []byte {
		own, _ := lib.Tree.Get(collectiveKey + collective)
		return lib.Tree.With(collectiveKey+collective, own.With(intraKey, leafOf(name))).Bytes()
	}
	tests := []struct {
		name    string
		environ []string
		file    []byte
		at      coll.Collective
		want    string
		reset   string
	}{
		{"a file", []string{flatFile + "=/site.json"}, siteOf("MPIR_Allreduce_intra_recursive_doubling", "allreduce"), coll.Allreduce, "MPIR_Allreduce_intra_recursive_doubling", ""},
		{"a pin", []string{"MPIR_CVAR_BCAST_INTRA_ALGORITHM=scatter_ring_allgather"}, nil, coll.Bcast, "MPIR_Bcast_intra_scatter_ring_allgather", "MPIR_CVAR_BCAST_INTRA_ALGORITHM=auto"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			site := &mpi.Site{Settings: Library.Settings(tc.environ, "")}
			for i := range site.Settings {
				site.Settings[i].Content = tc.file
			}
			opened, err := build{lib, known(t).cat.OnSite(site)}.onSite()
			if err != nil {
				t.Fatal(err)
			}
			row := func(size int64, seconds float64) selection.Row {
				p := coll.Point{Collective: coll.Bcast, Nodes: 1, PPN: 2, MsgBytes: size}
				return selection.Row{Point: p, Options: []selection.Option{{Algorithm: coll.Default, Seconds: 1}, {Algorithm: coll.Algorithm{Name: "binomial"}, Seconds: seconds}}}
			}
			_, x := mpilibrarytest.FitAndExport(t, opened, []selection.Row{row(64, 0.5), row(1<<20, 2)}, mpi.MergeOptions{})
			tree, err := parseTree(x.Loaded(coll.Layout{}, flatFile))
			if err != nil {
				t.Fatal(err)
			}
			got, err := reach(tree, signatureAt(coll.Point{Collective: tc.at, Nodes: 1, PPN: 2, MsgBytes: 1 << 20}))
			if err != nil || got.Name != tc.want {
				t.Errorf("%s reaches %v, %v, want %s", tc.at, got, err, tc.want)
			}
			snippet, err := x.Setup.Shell()
			if name, value, _ := strings.Cut(tc.reset, "="); err != nil || tc.reset != "" && !strings.Contains(string(snippet), "export "+name+"='"+value+"'") {
				t.Errorf("%v: the snippet does not set %s:\n%s", err, tc.reset, snippet)
			}
		})
	}
}

// TestPinnedCompositions checks compositions on a machine whose settings pin an algorithm or a composition. Where their
// parts would differ between the measurement and exported files, they must be refused.
func TestPinnedCompositions(t *testing.T) {
	tests := []struct {
		name, release, setting string
		want                   string // "" if it can be forced
	}{
		{"a composition", "4.3.2", "MPIR_CVAR_BCAST_COMPOSITION=1", ""},
		{"another collective", "4.3.2", "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=recursive_doubling", ""},
		{"an algorithm", "4.3.2", "MPIR_CVAR_BCAST_INTRA_ALGORITHM=binomial", "MPIR_CVAR_BCAST_INTRA_ALGORITHM=binomial (environment)"},
		{"an algorithm, trees known", "4.0.2", "MPIR_CVAR_BCAST_INTRA_ALGORITHM=binomial", ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			near, _ := mpi.Near(Library.Releases(), tc.release)
			cat := near.OnSite(&mpi.Site{Settings: Library.Settings([]string{tc.setting}, "")})
			f, err := Library.Force(cat, coll.Candidate{Point: coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 2, MsgBytes: 64}, Algorithm: coll.Algorithm{Name: "beta"}})
			if tc.want != "" {
				if !errors.Is(err, mpi.ErrInfeasible) || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("%v, want %s", err, tc.want)
				}
				return
			}
			name, _, _ := strings.Cut(tc.setting, "=")
			i := slices.IndexFunc(f.Base, func(v mpi.Var) bool { return v.Name == name })
			if err != nil || i < 0 || f.Base[i].Value != "auto" && f.Base[i].Value != "0" {
				t.Errorf("starts with %v, %v: want the setting off", f.Base, err)
			}
		})
	}
}

// TestPinnedCompositionOfOldRelease checks a variable that the release does not have: it must change no tree.
func TestPinnedCompositionOfOldRelease(t *testing.T) {
	lib, cat := known(t).lib, known(t).cat
	got, err := lib.onSite(cat.OnSite(&mpi.Site{Settings: Library.Settings([]string{"MPIR_CVAR_BCAST_COMPOSITION=1"}, "")}))
	if err != nil || string(got.Device.Bytes()) != string(lib.Device.Bytes()) {
		t.Errorf("the tree changed, %v", err)
	}
}
