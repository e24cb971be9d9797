package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/internal/testutil"
	"tutti/topology"
	"tutti/topology/files"
)

// outlineNode formats a vertex as name(children).
func outlineNode(v topology.Vertex) string {
	var below []string
	for _, c := range v.Children {
		below = append(below, outlineNode(c))
	}
	if below == nil {
		return v.Name
	}
	return v.Name + "(" + strings.Join(below, " ") + ")"
}

func TestReadHwloc(t *testing.T) {
	tests := []struct{ file, name, want string }{
		{"epyc.xml", "n1", "n1(socket0(die0(L3-0(core0(pu0 pu1) core1(pu2 pu3)) L3-1(core2(pu4 pu5) core3(pu6 pu7))) " +
			"die1(L3-2(core4(pu8 pu9) core5(pu10 pu11)) L3-3(core6(pu12 pu13) core7(pu14 pu15)))) " +
			"socket1(die2(L3-4(core8(pu16 pu17) core9(pu18 pu19)) L3-5(core10(pu20 pu21) core11(pu22 pu23))) " +
			"die3(L3-6(core12(pu24 pu25) core13(pu26 pu27)) L3-7(core14(pu28 pu29) core15(pu30 pu31)))))"},
		{"groups.xml", "n1", "n1(socket0(numa0(core0(pu0) core1(pu1)) numa1(core2(pu2) core3(pu3))))"},
		{"hwloc1.xml", "n1", "n1(socket0(numa0(core0(pu0) core1(pu1)) numa1(core2(pu2) core3(pu3))) socket1(numa2(core4(pu4) core5(pu5)) numa3(core6(pu6) core7(pu7))))"},
		{"vm.xml", "another", "vm(socket0(core0(pu0) core1(pu1)))"},
	}
	for _, tc := range tests {
		f := testutil.Must(os.Open(filepath.Join("testdata", tc.file)))(t)
		got, err := files.ReadHwloc(f, tc.file, tc.name)
		f.Close()
		if s := outlineNode(got); s != tc.want || err != nil {
			t.Errorf("%s: %s, %v, want %s", tc.file, s, err, tc.want)
		}
	}
}

// TestReadNamesHost checks that a node has the host name in its file, and the file's name if there is none.
func TestReadNamesHost(t *testing.T) {
	const pu = `<object type="PU" os_index="0"/></object></topology>`
	for text, want := range map[string]string{
		`<topology><object type="Machine"><info name="HostName" value="n7.site"/>` + pu: "n7.site",
		`<topology><object type="Machine">` + pu:                                        "part0",
	} {
		if got, err := files.Read(strings.NewReader(text), "/data/part0.xml", ""); err != nil || got.Root.Name != want {
			t.Errorf("%q, %v, want %s", got.Root.Name, err, want)
		}
	}
}

func TestReadHwlocRefuses(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	const pu = `<object type="PU" os_index="0"/>`
	tests := []struct{ name, text string }{
		{"nothing", ""},
		{"broken", "<topology>\n<object type=\"Machine\">\n</topology>"},
		{"something else", "<html></html>"},
		{"no machine", "<topology/>"},
		{"a type it does not know", `<topology><object type="Machine"><object type="Quantum"/></object></topology>`},
		{"nothing that runs anything", `<topology><object type="Machine"><object type="Core"/></object></topology>`},
		{"no name", `<topology><object type="Machine">` + pu + `</object></topology>`},
	}
	for _, tc := range tests {
		_, err := files.ReadHwloc(strings.NewReader(tc.text), "n.xml", "")
		golden(tc.name, err)
	}
}

func FuzzReadHwloc(f *testing.F) {
	for _, file := range []string{"groups.xml", "hwloc1.xml", "vm.xml"} {
		text := testutil.Must(os.ReadFile(filepath.Join("testdata", file)))(f)
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		node, err := files.ReadHwloc(strings.NewReader(text), "n.xml", "n")
		if err != nil {
			return
		}
		tree := topology.Tree{Root: node}
		if err := tree.Check(); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}
