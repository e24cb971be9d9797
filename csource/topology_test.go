package csource_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tutti/internal/testutil"
	"tutti/topology"
)

// TestTopologyPlace checks that the runtime library and topology.Names have one rule for the names of nodes.
func TestTopologyPlace(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "place")
	args := []string{"-std=c11", "-D_GNU_SOURCE", "-Iruntime", "-Icvar", "-Ipolicy", "-Icollectives", "-o", program, "testdata/place.c", "runtime/topology.c"}
	if said, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	hosts := []string{"n1", "n1.a", "n1.b", "n1.c", "n2", "n2.a", "n12", "n", "N1", "N2.A"}
	for _, nodes := range [][]string{{"n1", "n2"}, {"n1.a", "n2.a"}, {"n1.a", "n1.b"}, {"n1", "n1.a"}, {"n1.a", "n1.b", "n1"}, {"n12.a", "n2"}, {"N1", "n2.A"}} {
		file := filepath.Join(dir, "topology")
		testutil.NoError(t, os.WriteFile(file, []byte("tutti-topology 1\n"+strings.Join(nodes, " s\n")+" s\n"), 0o600))
		out, err := exec.Command(program, append([]string{file}, hosts...)...).Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", nodes, err, out)
		}
		names := topology.NamesOf(nodes)
		for i, place := range strings.Fields(string(out)) {
			want, known := -1, false
			if name, ok := names.Find(hosts[i]); ok {
				want, known = slices.Index(nodes, name), true
			}
			if place != strconv.Itoa(want) {
				t.Errorf("nodes %v: place of %s is %s, want %d (found by topology.Names: %t)", nodes, hosts[i], place, want, known)
			}
		}
	}
}
