package discover_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/topology/discover"
)

func TestReadPairs(t *testing.T) {
	got, err := discover.ReadPairs(strings.NewReader("a,b,seconds\nn1,n2,8e-5\nn1,n2,9e-5\n"), "p.csv")
	if d := cmp.Diff([]discover.PairTime{{A: "n1", B: "n2", Seconds: 8e-5}, {A: "n1", B: "n2", Seconds: 9e-5}}, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	got, err = discover.ReadPairs(strings.NewReader("pass,seconds,b,a\n1,8e-5,n2,n1\n"), "p.csv")
	if d := cmp.Diff([]discover.PairTime{{A: "n1", B: "n2", Seconds: 8e-5}}, got); d != "" || err != nil {
		t.Errorf("another column and another order: %v (-want +got):\n%s", err, d)
	}
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", `p.csv:1: not a measured pair: header []: want the columns ["a" "b" "seconds"]`},
		{"another header", "from,to,seconds\nn1,n2,1\n", `p.csv:1: not a measured pair: header ["from" "to" "seconds"]`},
		{"a header alone", "a,b,seconds\n", "p.csv: not a measured pair: nothing below the header"},
		{"a word", "a,b,seconds\nn1,n2,1\nn1,n3,slow\n", `p.csv:3: not a measured pair: "slow": want seconds`},
		{"a cell too few", "a,b,seconds\nn1,n2\n", "p.csv: record on line 2: wrong number of fields"},
	} {
		if _, err := discover.ReadPairs(strings.NewReader(tc.text), "p.csv"); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

func FuzzReadPairs(f *testing.F) {
	f.Add("a,b,seconds\nn0,n1,8e-5\nn0,n2,NaN\n")
	tree := leafTree(2, 4)
	f.Fuzz(func(t *testing.T, text string) {
		pairs, err := discover.ReadPairs(strings.NewReader(text), "p.csv")
		if (err == nil) != (len(pairs) > 0) {
			t.Errorf("%q: %d pairs, %v", text, len(pairs), err)
		}
		if found, err := discover.FindSuspects(&tree, pairs); err != nil && len(found.Suspects) > 0 {
			t.Errorf("%q: %v with %v", text, found.Suspects, err)
		}
	})
}
