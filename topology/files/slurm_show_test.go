package files_test

import (
	"bytes"
	"strings"
	"testing"

	"tutti/internal/testutil"
	"tutti/topology/files"
)

// printed is the output of scontrol show topology of Slurm 22.05 with topology/tree.
const printed = `SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[1-2]
SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=n[3-4]
SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-4] Switches=leaf[1-2]
`

func TestReadShow(t *testing.T) {
	const blocks = `BlockName=b1 BlockIndex=0 Nodes=n[1-2] BlockSize=2
BlockName=b2 BlockIndex=1 Nodes=n[3-4] BlockSize=2
BlockName=b3 BlockIndex=2 Nodes=n[5-6] BlockSize=2
AggregatedBlock=b[1-2] BlockIndex=3 Nodes=n[1-4] BlockSize=4
`
	for _, tc := range []struct{ name, text, want string }{
		{"switches", printed, "top(leaf1(n[1-2]) leaf2(n[3-4]))"},
		{"blocks", blocks, "(b1-b2(b1(n[1-2]) b2(n[3-4])) b3(n[5-6]))"},
		{"rings", "RingName=ring0 Nodes=n[1-8] RingSize=8\nRingName=ring1 Nodes=n[9-16] RingSize=8\n", "(ring0(n[1-8]) ring1(n[9-16]))"},
		{"a key without a value", strings.ReplaceAll(printed, "Nodes=n[3-4]", "Nodes=n[3-4] Switches="), "top(leaf1(n[1-2]) leaf2(n[3-4]))"},
		{"a node on two switches", strings.Replace(printed, "n[3-4]", "n[2-4]", 1), "top(leaf1(n[1-2]) leaf2(n[3-4]))"},
		{"nothing", "scontrol: error: No topology information available\n", "()"},
	} {
		got, err := files.ReadSlurmShow(strings.NewReader(tc.text), "said.txt")
		if s := outline(got.Root); s != tc.want || err != nil {
			t.Errorf("%s: %s, %v, want %s", tc.name, s, err, tc.want)
		}
	}
	_, err := files.ReadSlurmShow(strings.NewReader("\nSwitchName=s Level=0 LinkSpeed=1 Nodes=n[1\n"), "said.txt")
	testutil.GoldenErrors(t)("a broken list", err)
}

func FuzzReadShow(f *testing.F) {
	f.Add(printed)
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := files.ReadSlurmShow(strings.NewReader(text), "said.txt")
		if err == nil && len(tree.Root.Children) > 0 && tree.Check() != nil {
			t.Errorf("%q: %v", text, tree.Check())
		}
	})
}

// TestSlurmLoadsIt checks that Slurm loads what Write writes, and then shows the same tree.
func TestSlurmLoadsIt(t *testing.T) {
	testutil.SkipShort(t)
	want := testutil.Must(files.ReadSlurmShow(strings.NewReader(printed), "said.txt"))(t)
	var b bytes.Buffer
	testutil.Must(files.Write(&b, &want, files.WriteOptions{Format: files.Tree}))(t)
	cluster := testutil.StartSlurm(t, testutil.SlurmOptions{Nodes: 4, Topology: b.String()})
	got, err := files.ReadSlurmShow(strings.NewReader(cluster.Run("scontrol", "show", "topology")), "said.txt")
	if err != nil || outline(got.Root) != outline(want.Root) {
		t.Errorf("Slurm shows %s, %v, want %s", outline(got.Root), err, outline(want.Root))
	}
}
