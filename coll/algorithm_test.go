package coll_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
)

func TestParseAlgorithm(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	tests := []struct{ in, want string }{ // want "" is an error
		{in: "binomial", want: "binomial"},
		{in: "in-order_binary", want: "in-order_binary"},
		{in: "pipeline(segsize=8192)", want: "pipeline(segsize=8192)"},
		{in: "chain(segsize=8192,faninout=4)", want: "chain(faninout=4,segsize=8192)"},
		{in: "x(b=2,a=1,c=3)", want: "x(a=1,b=2,c=3)"},
		{in: "x(a=1,B=2)", want: "x(B=2,a=1)"}, // byte order
		{in: "library_default", want: "library_default"},

		{in: ""},
		{in: "two words"},
		{in: "a,b"},
		{in: "naïve"},
		{in: "x\n"},
		{in: "x()"},
		{in: "x(k=2"},
		{in: "x(k=2) "},
		{in: "x)"},
		{in: "(k=2)"},
		{in: "x(k)"},
		{in: "x(k=2,)"},
		{in: "x(k=2, m=3)"},
		{in: "x(=2)"},
		{in: "x(k=)"},
		{in: "x(k=2=3)"},
		{in: "x(k=2)(m=3)"},
		{in: "x(k=2,k=2)"},
		{in: "x(k=2,a=1,k=3)"},
	}
	for _, tc := range tests {
		t.Run(tc.in, func(t *testing.T) {
			a, err := coll.ParseAlgorithm(tc.in)
			if tc.want == "" {
				golden(strconv.Quote(tc.in), err)
				return
			}
			if err != nil {
				t.Fatalf("ParseAlgorithm(%q): %v", tc.in, err)
			}
			if got := a.String(); got != tc.want {
				t.Errorf("ParseAlgorithm(%q) = %s, want %s", tc.in, got, tc.want)
			}
		})
	}
}

// TestAlgorithmIsComparable checks that the order of the parameters does not change an algorithm, so that
// equal algorithms are the same key of a map.
func TestAlgorithmIsComparable(t *testing.T) {
	params := []coll.Param{{Name: "segsize", Value: "8192"}, {Name: "k", Value: "2"}}
	a := testutil.Must(coll.NewAlgorithm("chain", params...))(t)
	slices.Reverse(params)
	b := testutil.Must(coll.NewAlgorithm("chain", params...))(t)
	if a != b {
		t.Errorf("%v and %v differ, want one algorithm", a, b)
	}
	if want := []coll.Param{{Name: "k", Value: "2"}, {Name: "segsize", Value: "8192"}}; !cmp.Equal(a.Params(), want) {
		t.Errorf("Params() = %v, want %v", a.Params(), want)
	}
	if params[0].Name != "k" || params[1].Name != "segsize" {
		t.Errorf("NewAlgorithm reordered its argument: %v", params)
	}
	if v, ok := a.Param("segsize"); v != "8192" || !ok {
		t.Errorf(`Param("segsize") = %q, %t, want 8192, true`, v, ok)
	}
	if v, ok := a.Param("seg"); ok {
		t.Errorf(`Param("seg") = %q, true, want none`, v)
	}
	plain := testutil.Must(coll.NewAlgorithm("chain"))(t)
	if plain == a || plain.Params() != nil {
		t.Errorf("%v has parameters %v, want an algorithm without any", plain, plain.Params())
	}
}

func TestIsDefault(t *testing.T) {
	for s, want := range map[string]bool{"library_default": true, "default": false, "library_default(k=2)": false} {
		a := testutil.Must(coll.ParseAlgorithm(s))(t)
		if got := a.IsDefault(); got != want {
			t.Errorf("%s IsDefault() = %t, want %t", a, got, want)
		}
	}
}

func TestUnmarshalTextKeepsTheOldOnAnError(t *testing.T) {
	a := coll.Algorithm{Name: "ring"}
	if err := json.Unmarshal([]byte(`"two words"`), &a); err == nil {
		t.Error("Unmarshal of a bad name: want an error")
	}
	if a != (coll.Algorithm{Name: "ring"}) {
		t.Errorf("algorithm after an error = %v, want it unchanged", a)
	}
}

func TestCompareAlgorithms(t *testing.T) {
	want := []string{"a", "a(k=1)", "a(k=1,m=1)", "a(k=2)", "ab", "b(a=1)"}
	algorithms := make([]coll.Algorithm, len(want))
	for i, s := range want {
		a := testutil.Must(coll.ParseAlgorithm(s))(t)
		algorithms[len(want)-1-i] = a
	}
	slices.SortFunc(algorithms, coll.CompareAlgorithms)
	for i, a := range algorithms {
		if a.String() != want[i] {
			t.Errorf("place %d after sorting is %v, want %s", i, a, want[i])
		}
		if d := coll.CompareAlgorithms(a, a); d != 0 {
			t.Errorf("CompareAlgorithms(%v, itself) = %d, want 0", a, d)
		}
	}
}

// FuzzParseAlgorithm checks that each accepted text has one canonical form, and that this form parses to
// the same algorithm.
func FuzzParseAlgorithm(f *testing.F) {
	for _, s := range []string{"ring", "x(b=2,a=1)", "x(k=2", "x()", "x(k=2,k=3)", "x(=)", "(", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := coll.ParseAlgorithm(s)
		if err != nil {
			return
		}
		back, err := coll.ParseAlgorithm(a.String())
		if err != nil || back != a {
			t.Fatalf("ParseAlgorithm(%q) = %q, which reads as %q, %v", s, a, back, err)
		}
		rebuilt, err := coll.NewAlgorithm(a.Name, a.Params()...)
		if err != nil || rebuilt != a {
			t.Errorf("NewAlgorithm(%q, %v) = %q, %v, want %q", a.Name, a.Params(), rebuilt, err, a)
		}
		if len(a.String()) != len(s) {
			t.Errorf("ParseAlgorithm(%q) = %q, want the same bytes in another order", s, a)
		}
	})
}
