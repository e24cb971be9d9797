package csource_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/csource"
	"tutti/internal/testutil"
)

// TestLiveUsers checks that the conformance program tests algorithms of users, that one line reports each wrong
// object, and that a table selects algorithms of users. If their object is missing, the MPI library runs its own.
func TestLiveUsers(t *testing.T) {
	for _, m := range someMPIs() {
		t.Run(m.Compiler, func(t *testing.T) {
			object := testutil.BuildProgram(t, m.Toolchain, testutil.UserLibrary)
			var paths, want []string
			for _, w := range testutil.WrongObjects(t, object) {
				paths, want = append(paths, w.Path), append(want, w.Want)
			}
			if testutil.AllCases() {
				other := mpis()[map[string]int{"mpicc.mpich": 1}[m.Compiler]]
				paths = append(paths, testutil.BuildProgram(t, other.Toolchain, testutil.UserLibrary))
				want = append(want, "it is built for another MPI library")
			}
			program := ""
			if testutil.AllCases() {
				program = testutil.BuildProgram(t, m.Toolchain, csource.Conformance) // as users build it
			} else {
				program = buildInside(t, m, "conformance/check.c")
			}
			variable := "TUTTI_ALGORITHMS=" + strings.Join(append(paths, object), ":")
			said := testutil.RunProgram(t, []string{variable}, m.Launcher, "-n", "4", program, "split", "1", "+")
			requireChecked(t, said, 40)
			for _, text := range want {
				if strings.Count(said, text) != 1 {
					t.Errorf("%d lines with %q, want 1:\n%s", strings.Count(said, text), text, said)
				}
			}
			if strings.Count(said, "tutti: ") != len(want) {
				t.Errorf("want %d lines:\n%s", len(want), said)
			}

			served := testutil.BuildProgram(t, m.Toolchain, testutil.ServedProgram)
			table := sealTable("tutti-table 1\nbcast ranks 1-4 ppn 1-4 bytes 0-9999 user.star(segsize=64)\n")
			for object, want := range map[string]string{object: "user.star(segsize=64) 6\n", "": "user.star(segsize=64) is in no object that TUTTI_ALGORITHMS names: the MPI library serves its calls\n"} {
				if said := testutil.RunProgram(t, append(tableEnv(t, m, table, runtimeLibrary(t, m)), "TUTTI_ALGORITHMS="+object), m.Launcher, "-n", "2", served, "1000", "9"); !strings.Contains(said, want) {
					t.Errorf("with the object %q, want %q:\n%s", object, want, said)
				}
			}
		})
	}
}

// TestUserExample checks that the documentation has the tested example of an algorithm.
func TestUserExample(t *testing.T) {
	page := string(testutil.Must(os.ReadFile("../docs/how-to/own-algorithms.md"))(t))
	dir := t.TempDir()
	testutil.Must(testutil.UserLibrary.Unpack(dir, "user.so"))(t)
	text := string(testutil.Must(os.ReadFile(filepath.Join(dir, "user.c")))(t))
	if _, code, ok := strings.Cut(text, "*/\n"); !ok || !strings.Contains(page, code) {
		t.Error("docs/how-to/own-algorithms.md differs from internal/testutil/programs/user.c")
	}
}
