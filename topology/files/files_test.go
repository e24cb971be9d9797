package files_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/internal/testutil"
	"tutti/topology"
	"tutti/topology/files"
)

const conf = "SwitchName=top Switches=leaf[1-2]\nSwitchName=leaf1 Nodes=n[1-2]\nSwitchName=leaf2 Nodes=n[3-4]\n"

func read(t *testing.T, text, name string) topology.Tree {
	t.Helper()
	return testutil.Must(files.Read(strings.NewReader(text), name, ""))(t)
}

// write returns a tree in the format of the options, and the list of what the format cannot express.
func write(t *testing.T, tree *topology.Tree, opt files.WriteOptions) (string, []string) {
	t.Helper()
	var b bytes.Buffer
	gaps := testutil.Must(files.Write(&b, tree, opt))(t)
	return b.String(), gaps
}

// TestWriteAndRead checks every format that contains node names. A tree that is written and read again must
// be equal, also with the byte order mark of an editor.
func TestWriteAndRead(t *testing.T) {
	want := read(t, conf, "topology.conf")
	for format, name := range map[files.Format]string{files.JSON: "a.json", files.Tree: "a.conf", files.YAML: "A.YML"} {
		text, gaps := write(t, &want, files.WriteOptions{Format: format})
		if d := cmp.Diff(want, read(t, "\ufeff"+text, name)); gaps != nil || d != "" {
			t.Errorf("%s: %v (-want +got):\n%s", format, gaps, d)
		}
	}
}

func TestWrite(t *testing.T) {
	tree := read(t, conf, "topology.conf")
	for format, want := range map[files.Format]string{
		files.Blocks:  "BlockName=leaf1 Nodes=n[1-2]\nBlockName=leaf2 Nodes=n[3-4]\nBlockSizes=2\n",
		files.MPICH:   "# rank: group id, switch id, port number\n0: 2 1 1\n1: 1 0 0\n",
		files.Runtime: "tutti-topology 1\nn1 top leaf1\nn2 top leaf1\nn3 top leaf2\nn4 top leaf2\n",
	} {
		if got, _ := write(t, &tree, files.WriteOptions{Format: format, Nodes: []string{"n4", "n1"}}); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", format, got, want)
		}
	}
	if _, err := files.Write(&bytes.Buffer{}, &tree, files.WriteOptions{Format: "dot"}); err == nil {
		t.Error("dot was written")
	}
	node := topology.Tree{Root: topology.Vertex{Kind: topology.Node, Name: "n1"}}
	for _, format := range files.Formats()[1:] {
		for _, tree := range []topology.Tree{{}, node} {
			if _, err := files.Write(&bytes.Buffer{}, &tree, files.WriteOptions{Format: format}); !errors.Is(err, topology.ErrTree) {
				t.Errorf("%s of %v: %v", format, tree, err)
			}
		}
	}
}

// TestReadNode checks that Read names a node after its file if the file contains no host name.
func TestReadNode(t *testing.T) {
	const text = `<topology><object type="Machine"><object type="Core"><object type="PU" os_index="0"/></object></object></topology>`
	if tree := read(t, text, "nodes/n7.xml"); tree.Root.Name != "n7" || tree.Root.Kind != topology.Node {
		t.Errorf("%v, want node n7", &tree.Root)
	}
}

func TestReadRefuses(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	for _, tc := range []struct{ name, text, topology string }{
		{"coords", "", ""},
		{"a.txt", "slurm_load_topo error\n", ""},
		{"a.conf", "SwitchName=s Nodes=n Switches=t\n", ""},
		{"a.json", "{", ""},
		{"a.xml", "{", ""},
		{"a.yaml", "- topology: a\n  flat: true\n- topology: b\n  flat: true\n", ""},
		{"a.csv", "a,b,seconds\nn1,n1,1\n", ""},
		{"a.csv", "a,b,seconds\nn1,n2,0\n", ""},
		{"a.csv", "a,b,seconds\nn1,n2,1\nn1,n3,1\nn1,n4,1\n", ""},
		{"a.csv", "a,b\n", ""},
		{"a.yaml", "- topology: a\n  flat: true\n", "c"},
	} {
		_, err := files.Read(strings.NewReader(tc.text), tc.name, tc.topology)
		golden(fmt.Sprintf("%s of %q", tc.name, tc.text), err)
	}
}

// TestReadPairs checks that a table of measured times yields two leaf switches of four nodes.
func TestReadPairs(t *testing.T) {
	for _, times := range []int{1, 4} {
		text := "a,b,seconds\n"
		for k := range times {
			for i := range 8 {
				for j := range i {
					seconds := 2e-6
					if i%2 != j%2 {
						seconds = 3e-6
					}
					text += fmt.Sprintf("n%d,n%d,%g\n", i, j, seconds*(1+0.01*float64((i+2*j+3*k)%3)))
				}
			}
		}
		tree := read(t, text, "pairs.csv")
		if d := cmp.Diff([][]string{{"n1", "n3", "n5", "n7"}, {"n0", "n2", "n4", "n6"}}, tree.Switches()); d != "" {
			t.Errorf("measured %d times (-want +got):\n%s", times, d)
		}
	}
}

func ExampleWrite() {
	tree, err := files.Read(strings.NewReader(conf), "topology.conf", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := files.Write(os.Stdout, &tree, files.WriteOptions{Format: files.Blocks}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// BlockName=leaf1 Nodes=n[1-2]
	// BlockName=leaf2 Nodes=n[3-4]
	// BlockSizes=2
}
