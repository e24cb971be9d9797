package csource_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"tutti/csource"
	"tutti/internal/testutil"
)

// strictFlags make every warning an error.
var strictFlags = []string{"-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"}

// objectFolders maps each compiler to the folder that runtimeObjects returned for it.
var objectFolders = struct {
	sync.Mutex
	folders map[string]string
}{folders: map[string]string{}}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, folder := range objectFolders.folders {
		os.RemoveAll(folder)
	}
	os.Exit(code)
}

// runtimeObjects returns a folder with the source and the object files of the runtime library. The library
// is compiled once for each MPI library, without optimization. The compiler must give no warning.
func runtimeObjects(t *testing.T, m mpiOf) string {
	t.Helper()
	testutil.BuildProgram(t, m.Toolchain, csource.Pair) // skips where the library is missing
	objectFolders.Lock()
	defer objectFolders.Unlock()
	if folder, known := objectFolders.folders[m.Compiler]; known {
		return folder
	}
	folder := testutil.Must(os.MkdirTemp("", "tutti-objects-"))(t)
	objectFolders.folders[m.Compiler] = folder
	args := testutil.Must(csource.Runtime.Unpack(folder, "libtutti.so"))(t)
	var sources []string
	for _, a := range args {
		if strings.HasSuffix(a, ".c") {
			sources = append(sources, a)
		}
	}
	var all sync.WaitGroup
	for share := range slices.Chunk(sources, (len(sources)+runtime.NumCPU()-1)/runtime.NumCPU()) {
		all.Go(func() {
			if said, err := compileIn(folder, m.Compiler, append(share, append(strictFlags, "-std=c11", "-O0", "-fPIC", "-c")...)...); err != nil {
				t.Errorf("%v\n%s", err, said)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return folder
}

// runtimeLibrary returns the path of the runtime library. In short and in full test runs (see
// testutil.NeedAllCases) the library is built as users build it. In other runs it is linked from the files of
// runtimeObjects.
func runtimeLibrary(t *testing.T, m mpiOf) string {
	t.Helper()
	if testing.Short() || testutil.AllCases() {
		return testutil.BuildProgram(t, m.Toolchain, csource.Runtime)
	}
	objects := runtimeObjects(t, m)
	library := filepath.Join(t.TempDir(), "libtutti.so")
	args := append([]string{"-shared", "-o", library}, objectsIn(t, objects)...)
	if said, err := compileIn(objects, m.Compiler, append(args, "-lm")...); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return library
}

func compileIn(folder, compiler string, args ...string) ([]byte, error) {
	cmd := exec.Command(compiler, args...)
	cmd.Dir = folder
	return cmd.CombinedOutput()
}

// buildChanged replaces texts in one file of the runtime library. The texts come in pairs, before and after. It
// builds the library and returns its path.
func buildChanged(t *testing.T, m mpiOf, file string, pairs ...string) string {
	t.Helper()
	objects := runtimeObjects(t, m)
	text := string(testutil.Must(os.ReadFile(filepath.Join(objects, file)))(t))
	for pair := range slices.Chunk(pairs, 2) {
		if !strings.Contains(text, pair[0]) {
			t.Fatalf("no %q in %s", pair[0], file)
		}
		text = strings.Replace(text, pair[0], pair[1], 1)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, file)
	testutil.NoError(t, os.WriteFile(path, []byte(strings.Replace(text, "\n", "\n#include <unistd.h>\n", 1)), 0o666))
	library := filepath.Join(dir, "libtutti.so")
	args := []string{"-std=c11", "-O0", "-fPIC", "-shared", "-I.", "-o", library, path}
	for _, object := range objectsIn(t, objects) {
		if object != strings.TrimSuffix(file, ".c")+".o" {
			args = append(args, object)
		}
	}
	if said, err := compileIn(objects, m.Compiler, append(args, "-lm")...); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return library
}

func objectsIn(t *testing.T, folder string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.o"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d object files, %v", len(paths), err)
	}
	for i, path := range paths {
		paths[i] = filepath.Base(path)
	}
	return paths
}

// buildInside compiles a C file with a main function and links it with the files of the runtime library. In
// full test runs (see testutil.NeedAllCases) it enables the address and undefined-behavior sanitizers.
func buildInside(t *testing.T, m mpiOf, file string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	source := testutil.Must(filepath.Abs(file))(t)
	objects := runtimeObjects(t, m)
	args := append(objectsIn(t, objects), "-O0")
	if testutil.AllCases() {
		args = []string{"-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"}
		sources := testutil.Must(filepath.Glob(filepath.Join(objects, "*.c")))(t)
		args = append(args, sources...)
	}
	args = append(args, "-std=c11", "-I.", "-o", program, source, "-lm")
	if said, err := compileIn(objects, m.Compiler, args...); err != nil {
		t.Fatalf("%s: %v\n%s", m.Compiler, err, said)
	}
	return program
}

// requireChecked fails the test if the program "check" found a wrong result, or if it counted fewer cases
// than `least`.
func requireChecked(t *testing.T, said string, least int) {
	t.Helper()
	var cases, wrong int
	at := strings.Index(said, " cases, ")
	if _, err := fmt.Sscanf(said[strings.LastIndexByte(said[:max(at, 0)], '\n')+1:], "%d cases, %d wrong", &cases, &wrong); err != nil || wrong > 0 || cases < least {
		t.Errorf("%d wrong of %d cases, want %d at least; %v\n%s", wrong, cases, least, err, said)
	}
}

// TestLiveRepository checks that every algorithm computes the result that MPI requires, in every form of a
// call, on communicators of one to five ranks. The environment variable CHECK may list more numbers of
// elements to test.
func TestLiveRepository(t *testing.T) {
	counts := append([]string{"1", "+"}[:cases(2)], strings.Fields(os.Getenv("CHECK"))...)
	for _, m := range someMPIs() {
		t.Run(m.Compiler, func(t *testing.T) {
			testutil.BuildProgram(t, m.Toolchain, csource.Pair) // skips where the library is missing
			program := buildInside(t, m, "conformance/check.c")
			env := []string{"ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0"} // because a library is preloaded
			requireChecked(t, testutil.RunProgram(t, env, m.Launcher, append([]string{"-n", "5", program, "split"}, counts...)...), 750*len(counts))
		})
	}
}

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

// TestUserExample checks that the documentation shows the same example of an algorithm that other tests
// compile.
func TestUserExample(t *testing.T) {
	page := string(testutil.Must(os.ReadFile("../docs/how-to/own-algorithms.md"))(t))
	dir := t.TempDir()
	testutil.Must(testutil.UserLibrary.Unpack(dir, "user.so"))(t)
	text := string(testutil.Must(os.ReadFile(filepath.Join(dir, "user.c")))(t))
	if _, code, ok := strings.Cut(text, "*/\n"); !ok || !strings.Contains(page, code) {
		t.Error("docs/how-to/own-algorithms.md differs from internal/testutil/programs/user.c")
	}
}
