package files_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/internal/testutil"
	"tutti/topology"
	"tutti/topology/files"
)

// outline formats a tree as name(children). It writes lists of nodes in Slurm's notation.
func outline(v topology.Vertex) string {
	var switches, nodes []string
	for _, c := range v.Children {
		if c.Kind == topology.Node {
			nodes = append(nodes, c.Name)
		} else {
			switches = append(switches, outline(c))
		}
	}
	if len(nodes) > 0 {
		switches = append(switches, topology.HostList(nodes))
	}
	return v.Name + "(" + strings.Join(switches, " ") + ")"
}

func TestReadSlurmConf(t *testing.T) {
	tests := []struct {
		name, text, want string
		gaps             []string
	}{
		{name: "the example of the manual page",
			text: "# Slurm's file\nSwitchName=s0 Nodes=dev[0-5]\nSwitchName=s1 Nodes=dev[6-11]\nSwitchName=s2 Nodes=dev[12-17]\nSwitchName=s3 Switches=s[0-2]\n",
			want: "s3(s0(dev[0-5]) s1(dev[6-11]) s2(dev[12-17]))"},
		{name: "parents first, keys in any case, spaces, quotes, speeds, a line that goes on",
			text: "switchname = top SWITCHES=\"a,b\" LinkSpeed=100\nSwitchName=a \\\n  Nodes=n1 # the first\nSwitchName=b Nodes=n2\r\n",
			want: "top(a(n1) b(n2))"},
		{name: "no switch joins them", text: "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n",
			want: "(a(n1) b(n2))", gaps: []string{"no switch joins a,b"}},
		{name: "spines with the same leaves are one, and so are the cores above them",
			text: "SwitchName=l1 Nodes=n1\nSwitchName=l2 Nodes=n2\nSwitchName=l3 Nodes=n3\n" +
				"SwitchName=s1 Switches=l[1-2]\nSwitchName=s2 Switches=l[2,1]\nSwitchName=t1 Switches=l3\n" +
				"SwitchName=c1 Switches=s1,t1\nSwitchName=c2 Switches=s2,t1\n",
			want: "c1(s1(l1(n1) l2(n2)) t1(l3(n3)))",
			gaps: []string{"switch s2 has the children of s1: taken for one", "switch c2 has the children of c1: taken for one"}},
		{name: "rails", text: "SwitchName=r0 Nodes=n[1-4]\nSwitchName=r1 Nodes=n[3-6] LinkSpeed=100G\nSwitchName=r2 Nodes=n[5-6]\nSwitchName=top Switches=r[0-2],gone\nSwitchName=gone\n",
			want: "top(r0(n[1-4]) r1(n[5-6]))",
			gaps: []string{"n[3-4]: below r0 and r1, placed below r0", "n[5-6]: below r1 and r2, placed below r1", "without nodes: r2,gone"}},
		{name: "a switch below two", text: "SwitchName=s Nodes=n1\nSwitchName=x Nodes=n2\nSwitchName=t Switches=s\nSwitchName=u Switches=s,x\n",
			want: "(t(s(n1)) u(x(n2)))", gaps: []string{"s: below t and u, placed below t", "no switch joins t,u"}},
		{name: "a switch alone after the empty one", text: "SwitchName=a\nSwitchName=b Nodes=n1\n", want: "b(n1)", gaps: []string{"without nodes: a"}},
		{name: "nothing", text: "SwitchName=a\n", want: "()", gaps: []string{"no nodes"}},
		{name: "rings", text: "RingName=r0 Nodes=n[1-8]\nRingName=r1 Nodes=n[9-16]\n", want: "(r0(n[1-8]) r1(n[9-16]))",
			gaps: []string{"no switch joins r[0-1]", "rings: distances between the nodes of a ring are unknown"}},
		{name: "blocks, one of them empty, which counts",
			text: "BlockName=b1 Nodes=a[1-2]\nBlockName=b2\nBlockName=b3 Nodes=c[1-2]\nBlockName=b4 Nodes=d[1-2]\nBlockSizes=2,4\n",
			want: "(b1-b2(b1(a[1-2])) b3-b4(b3(c[1-2]) b4(d[1-2])))", gaps: []string{"without nodes: b2"}},
		{name: "blocks", text: "BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=n[5-8]\n", want: "(b1(n[1-4]) b2(n[5-8]))"},
		{name: "one block", text: "BlockName=b1 Nodes=n[1-4]\nBlockSizes=4\n", want: "b1(n[1-4])"},
		{name: "blocks that are aggregated, the last alone",
			text: "BlockName=b1 Nodes=a[1-2]\nBlockName=b2 Nodes=b[1-2]\nBlockName=b3 Nodes=c[1-2]\nBlockName=b4 Nodes=d[1-2]\nBlockName=b5 Nodes=e[1-2]\nBlockSizes=2,4,8\n",
			want: "(b1-b4(b1-b2(b1(a[1-2]) b2(b[1-2])) b3-b4(b3(c[1-2]) b4(d[1-2]))) b5(e[1-2]))"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got := testutil.Must(files.ReadSlurmConf(strings.NewReader(tc.text), "topology.conf"))(t)
			if s := outline(got.Root); s != tc.want {
				t.Errorf("tree %s, want %s", s, tc.want)
			}
			if d := cmp.Diff(tc.gaps, got.Gaps); d != "" {
				t.Errorf("gaps (-want +got):\n%s", d)
			}
		})
	}
}

func TestReadConfRefuses(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	tests := []struct{ name, text string }{
		{"nothing", "# only a comment\n"},
		{"both", "SwitchName=s Nodes=n1\nBlockName=b Nodes=n2\n"},
		{"another key", "SwitchName=s Nodes=n1\nIncludes=x\n"},
		{"another key of a switch", "SwitchName=s Node=n1\n"},
		{"no value", "SwitchName=s Nodes\n"},
		{"a key twice", "SwitchName=s Nodes=n1 nodes=n2\n"},
		{"a list as a name", "SwitchName=s[1-2] Nodes=n1\n"},
		{"nodes and switches", "SwitchName=s Nodes=n1 Switches=t\n"},
		{"nodes without names", "SwitchName=s Nodes=all\n"},
		{"a broken list", "\nSwitchName=s Nodes=n[1-\n"},
		{"a broken list of switches", "SwitchName=s Switches=t[\n"},
		{"a switch twice", "SwitchName=s Nodes=n1\nSwitchName=s Nodes=n2\n"},
		{"no such child", "SwitchName=s Switches=t\n"},
		{"a circle", "SwitchName=a Switches=b\nSwitchName=b Switches=c\nSwitchName=c Switches=a\n"},
		{"a cycle next to a tree", "SwitchName=r Nodes=n1\nSwitchName=a Switches=a\n"},
		{"block sizes that are none", "BlockName=b Nodes=n1\nBlockSizes=1,x\n"},
		{"block sizes that do not double", "BlockName=b Nodes=n1\nBlockSizes=2,6\n"},
		{"block sizes twice", "BlockSizes=1\nBlockSizes=2\nBlockName=b Nodes=n1\n"},
		{"a block too small", "BlockName=a Nodes=n[1-2]\nBlockName=b Nodes=n3\nBlockSizes=2\n"},
	}
	for _, tc := range tests {
		_, err := files.ReadSlurmConf(strings.NewReader(tc.text), "t.conf")
		golden(tc.name, err)
	}
}

// slurmTree returns a tree whose switches have both nodes and switches directly below them. Slurm does not
// allow that. Its leaf switches have different depths.
func slurmTree() topology.Tree {
	sw := func(name string, children ...topology.Vertex) topology.Vertex {
		return topology.Vertex{Kind: topology.Switch, Name: name, Confidence: 1, Children: children}
	}
	node := func(name string) topology.Vertex {
		return topology.Vertex{Kind: topology.Node, Name: name, Children: []topology.Vertex{{Kind: topology.Core, Name: "core0"}}}
	}
	return topology.Tree{Root: sw("s1", node("n1"), node("n2"),
		sw("s2", node("n3"), node("n4"), sw("s3", node("n5"), node("n6"))), sw("s4", node("n7"), node("n8")))}
}

func TestWriteSlurm(t *testing.T) {
	tree := slurmTree()
	text, _ := write(t, &tree, files.WriteOptions{Format: files.Tree})
	testutil.CheckGolden(t, "tree.conf", []byte(text))
	again := read(t, text, "tree.conf")
	want := "s1(s2(s3(n[5-6]) s2-nodes(n[3-4])) s4(n[7-8]) s1-nodes(n[1-2]))"
	if got := outline(again.Root); got != want {
		t.Errorf("read back as %s, want %s", got, want)
	}

	text, gaps := write(t, &tree, files.WriteOptions{Format: files.Blocks})
	testutil.CheckGolden(t, "block.conf", []byte(text))
	wantGaps := []string{
		"the nodes next to the switches below s1 are a block", "the nodes next to the switches below s2 are a block",
		"the switches 1 above the blocks have not all the same power of two of them: left out",
	}
	if d := cmp.Diff(wantGaps, gaps); d != "" {
		t.Errorf("gaps (-want +got):\n%s", d)
	}

	text, _ = write(t, &tree, files.WriteOptions{Format: files.YAML})
	testutil.CheckGolden(t, "topology.yaml", []byte(text))
}

// FuzzReadConf checks that a tree that ReadSlurmConf accepts is the same after it is written and read
// again.
func FuzzReadConf(f *testing.F) {
	f.Add("SwitchName=a Nodes=n[1-3]\nSwitchName=b Nodes=m\nSwitchName=c Switches=a,b\n")
	f.Add("BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockName=b3 Nodes=n[5-6]\nBlockSizes=2,4\n")
	f.Add("SwitchName=a Nodes=n[1-3]\nSwitchName=b Nodes=n[2-4]\nSwitchName=c\nSwitchName=d Switches=[a-c]\nSwitchName=e Switches=a")
	f.Add("SwitchName=a Switches=b \\\n\nSwitchName=b Switches=a")
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := files.ReadSlurmConf(strings.NewReader(text), "t.conf")
		if err != nil || len(tree.Switches()) == 0 {
			return
		}
		var b bytes.Buffer
		if _, err := files.Write(&b, &tree, files.WriteOptions{Format: files.Tree}); err != nil {
			t.Fatalf("%q was read and cannot be written: %v", text, err)
		}
		written := b.String()
		again, err := files.ReadSlurmConf(&b, "t.conf")
		if err != nil || outline(again.Root) != outline(tree.Root) {
			t.Errorf("%q is %s, written %q is %s, %v", text, outline(tree.Root), written, outline(again.Root), err)
		}
	})
}
