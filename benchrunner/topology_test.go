package benchrunner_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/benchrunner"
)

func TestHosts(t *testing.T) {
	for _, tc := range []struct{ list, want, wantErr string }{
		{list: "n1", want: "n1"},
		{list: "n[1-3,07-09],login", want: "n1 n2 n3 n07 n08 n09 login"},
		{list: "r[1-2]n[1,3]", want: "r1n1 r1n3 r2n1 r2n3"},
		{list: "n[098-101].site", want: "n098.site n099.site n100.site n101.site"},
		{list: "n[1-", wantErr: "want a ]"},
		{list: "n[3-1]", wantErr: `"3-1": want a number or a range`},
		{list: "n[1-99999999]", wantErr: "65536 nodes at most"},
		{list: "n[1-60000],m[1-60000]", wantErr: "65536 nodes at most"},
		{list: "", wantErr: `"": want letters`},
		{list: "n1,$(x)", wantErr: "want letters"},
	} {
		got, err := benchrunner.Hosts(tc.list)
		if strings.Join(got, " ") != tc.want || tc.wantErr == "" && err != nil || tc.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tc.wantErr)) {
			t.Errorf("Hosts(%q) = %.80v, %v; want %q, %q", tc.list, got, err, tc.want, tc.wantErr)
		}
	}
}

func FuzzHosts(f *testing.F) {
	for _, s := range []string{"n[1-3,07],m", "a[1-2]b[3-4]", "[", "]", "[[1]]", "n[1-4294967296]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		names, err := benchrunner.Hosts(list)
		for _, n := range names {
			if err != nil || n == "" || strings.ContainsAny(n, "[], \n") {
				t.Errorf("Hosts(%q) = %q, %v", list, names, err)
			}
		}
	})
}

func TestParseTopology(t *testing.T) {
	// Of Slurm 22.05 with topology/tree.
	const text = `SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[1-2]
SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=n[3-4]
SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-4] Switches=leaf[1-2]
`
	got, err := benchrunner.ParseTopology(text)
	if d := cmp.Diff([][]string{{"n1", "n2"}, {"n3", "n4"}}, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	if got, err := benchrunner.ParseTopology("scontrol: error: No topology information available\n"); got != nil || err != nil {
		t.Errorf("without a topology: %v, %v", got, err)
	}
	if _, err := benchrunner.ParseTopology("SwitchName=s Level=0 LinkSpeed=1 Nodes=n[1\n"); err == nil || !strings.Contains(err.Error(), "switch s: ") {
		t.Errorf("a broken list: %v", err)
	}
}
