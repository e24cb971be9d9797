package topology_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"tutti/internal/testutil"
	"tutti/topology"
)

func TestHosts(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	for _, tc := range []struct{ list, want string }{ // want "" is an error
		{list: "n1", want: "n1"},
		{list: "n[1-3,07-09],login", want: "n1 n2 n3 n07 n08 n09 login"},
		{list: "r[1-2]n[1,3]", want: "r1n1 r1n3 r2n1 r2n3"},
		{list: "n[098-101].site", want: "n098.site n099.site n100.site n101.site"},
		{list: "n[1-"},
		{list: "n[3-1]"},
		{list: "n[1-99999999]"},
		{list: "n[1-60000],m[1-60000]"},
		{list: ""},
		{list: "n1,$(x)"},
	} {
		got, err := topology.Hosts(tc.list)
		if tc.want == "" {
			golden(strconv.Quote(tc.list), err)
		}
		if strings.Join(got, " ") != tc.want || tc.want != "" && err != nil {
			t.Errorf("Hosts(%q) = %.80v, %v; want %q", tc.list, got, err, tc.want)
		}
	}
}

func TestHostList(t *testing.T) {
	for _, tc := range []struct{ names, want string }{
		{"n1", "n1"},
		{"n1 n2 n3 n07 n08 n09 login", "n[1-3,07-09],login"},
		{"n9 n10 n11", "n[9-11]"},
		{"n09 n10 n11", "n[09-11]"},
		{"n3 n2 n1", "n[3,2,1]"},
		{"a1 b1 a2", "a1,b1,a2"},
		{"x y", "x,y"},
		{"1 2", "[1-2]"},
		{"n1.site n2.site", "n1.site,n2.site"},
		{"n999999999 n1000000000", "n[999999999-1000000000]"},
	} {
		names := strings.Fields(tc.names)
		if got := topology.HostList(names); got != tc.want {
			t.Errorf("HostList(%v) = %s, want %s", names, got, tc.want)
		}
	}
}

func FuzzHosts(f *testing.F) {
	for _, s := range []string{"n[1-3,07],m", "a[1-2]b[3-4]", "[", "]", "[[1]]", "n[1-4294967296]", "n999999999,n1000000000", "n0,n00,n01"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		names, err := topology.Hosts(list)
		for _, n := range names {
			if err != nil || n == "" || strings.ContainsAny(n, "[], \n") {
				t.Errorf("Hosts(%q) = %q, %v", list, names, err)
			}
		}
		if err != nil {
			return
		}
		short := topology.HostList(names)
		again, err := topology.Hosts(short)
		if err != nil || !slices.Equal(again, names) {
			t.Errorf("Hosts(%q) = %q, HostList of it %q stands for %q, %v", list, names, short, again, err)
		}
	})
}
