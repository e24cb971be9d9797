package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi"
)

const table = `library,version,collective,algorithm,id,function,params,requires,op_safe
some,1.0,bcast,tree,1,Tree,k=4|2;segsize,,yes
some,1.0,bcast,pairs,2,,,size2,yes
some,1.1.3,bcast,tree,1,Tree,k=4|2;segsize,,yes
some,1.1.5,bcast,ring,3,,,inplace,yes
some,2.0.x,reduce,chain,1,,,commutative,no
`

var releases = mpi.Table(table, mpi.Rules{
	Lookup: func(_ *mpi.Catalogue, _ coll.Collective, _ mpi.Entry, alg coll.Algorithm) error {
		if k, _ := alg.Param("k"); k == "0" {
			return fmt.Errorf("k: %w", mpi.ErrUnknown)
		}
		return nil
	},
	Check: func(_ *mpi.Catalogue, c coll.Candidate) error {
		if k, _ := c.Algorithm.Param("k"); k == "9" && c.Ranks() < 9 {
			return fmt.Errorf("k: %w", mpi.ErrInfeasible)
		}
		return nil
	},
	Renamed: func(_ coll.Algorithm, from, to string) bool { return from == "0.9" && to == "1.0" },
})

func TestCheck(t *testing.T) {
	tests := []struct {
		algorithm string
		nodes     int
		want      error
	}{
		{"library_default", 3, nil},
		{"tree", 3, nil},
		{"tree(k=3,segsize=8)", 3, nil},
		{"tree(k=0)", 3, mpi.ErrUnknown},
		{"tree(radix=2)", 3, mpi.ErrUnknown},
		{"tree(k=9)", 3, mpi.ErrInfeasible},
		{"tree(k=9)", 9, nil},
		{"pairs", 2, nil},
		{"pairs", 3, mpi.ErrInfeasible},
		{"ring", 3, mpi.ErrUnknown},
	}
	for _, tc := range tests {
		alg := testutil.Must(coll.ParseAlgorithm(tc.algorithm))(t)
		c := coll.Candidate{Point: coll.Point{Collective: coll.Bcast, Nodes: tc.nodes, PPN: 1, MsgBytes: 8}, Algorithm: alg}
		if err := releases()[0].Check(c); !errors.Is(err, tc.want) {
			t.Errorf("Check(%v) = %v, want %v", c, err, tc.want)
		}
		for measured, renamed := range map[string]bool{"0.9": true, "1.1.3": false} {
			if got, want := releases()[0].ValidFrom(c, measured), tc.want == nil && !renamed; got != want {
				t.Errorf("Carries(%v, %s) = %t, want %t", c, measured, got, want)
			}
		}
	}
}

func TestErrorsNameWhatIsAllowed(t *testing.T) {
	tests := []struct{ algorithm, want string }{
		{"ring", "some 1.0 bcast ring: not in the catalogue: want one of tree, pairs"},
		{"pairs", "bcast 4x1 8B pairs: cannot run there: needs two ranks"},
		{"pairs(k=2)", "some 1.0 bcast pairs(k=2): parameter k: not in the catalogue: want none"},
		{"tree(radix=2)", "some 1.0 bcast tree(radix=2): parameter radix: not in the catalogue: want k, segsize"},
	}
	for _, tc := range tests {
		alg := testutil.Must(coll.ParseAlgorithm(tc.algorithm))(t)
		err := releases()[0].Check(coll.Candidate{Point: coll.Point{Collective: coll.Bcast, Nodes: 4, PPN: 1, MsgBytes: 8}, Algorithm: alg})
		if err == nil || err.Error() != tc.want {
			t.Errorf("Check(%s) error\n got %v\nwant %s", tc.algorithm, err, tc.want)
		}
	}
}

// TestAlgorithms checks that a parameter for which the table has no values is left to the library. Algorithms that
// only serve calls with MPI_IN_PLACE must not be listed.
func TestAlgorithms(t *testing.T) {
	for i, want := range []string{"[tree(k=2) tree(k=4) pairs]", "[tree(k=2) tree(k=4)]", "[]"} {
		if got := fmt.Sprint(releases()[i].Algorithms(coll.Bcast)); got != want {
			t.Errorf("%s: %s, want %s", releases()[i].Version, got, want)
		}
	}
}

// TestAs checks that As returns a copy.
func TestAs(t *testing.T) {
	cat := releases()[0]
	if as := cat.As("1.0.1"); as.Version != "1.0.1" || cat.Version != "1.0" || len(as.Entries(coll.Bcast)) != 2 {
		t.Errorf("As = %s, and the catalogue is %s", as.Version, cat.Version)
	}
}

func TestNear(t *testing.T) {
	tests := []struct {
		version, want string
		series        bool
	}{
		{"1.0", "1.0", true},
		{"1.0.7", "1.0", true},
		{"1.1", "1.1.3", true},
		{"1.1.4", "1.1.3", true},
		{"1.1.9rc1", "1.1.5", true},
		{"1.7.0", "1.1.5", false},
		{"2.0.0", "2.0.x", true},
		{"3.4a2", "2.0.x", false},
		{"0.9.1", "1.0", false},
		{"2", "", false},
		{"newest", "", false},
		{"", "", false},
	}
	for _, tc := range tests {
		near, series := mpi.Near(releases(), tc.version)
		got := ""
		if near != nil {
			got = near.Version
		}
		if got != tc.want || series != tc.series {
			t.Errorf("Near(%q) = %q, %t, want %q, %t", tc.version, got, series, tc.want, tc.series)
		}
	}
}

func TestReleaseNumbers(t *testing.T) {
	tests := []struct {
		release string
		want    []int
	}{
		{"4.0.2", []int{4, 0, 2}},
		{"4.2.0rc1", []int{4, 2, 0}},
		{"6.0.x", []int{6, 0}},
		{"3.4a2", []int{3, 4}},
		{"2019", []int{2019}},
		{"99999999999999999999.1", nil},
		{"newest", nil},
		{"", nil},
	}
	for _, tc := range tests {
		if got := mpi.ReleaseNumbers(tc.release); !slices.Equal(got, tc.want) {
			t.Errorf("ReleaseNumbers(%q) = %v, want %v", tc.release, got, tc.want)
		}
	}
}

func ExampleSameRelease() {
	for _, names := range [][2]string{{"6.0.0rc2", "6.0.0"}, {"6.0.x", "6.0.0rc2"}, {"4.2.1", "4.2.3"}, {"4", "4.2"}, {"2019", "2019"}} {
		fmt.Println(names[0], names[1], mpi.SameRelease(names[0], names[1]))
	}
	// Output:
	// 6.0.0rc2 6.0.0 true
	// 6.0.x 6.0.0rc2 true
	// 4.2.1 4.2.3 false
	// 4 4.2 false
	// 2019 2019 true
}

func ExampleAtLeast() {
	for _, release := range []string{"4.1.4", "5.0.6", "5.0.7", "5.1", "6.0.x", "main"} {
		fmt.Println(release, mpi.AtLeast(release, 5, 0, 7))
	}
	// Output:
	// 4.1.4 false
	// 5.0.6 false
	// 5.0.7 true
	// 5.1 true
	// 6.0.x true
	// main false
}
