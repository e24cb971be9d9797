package imports

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

var quoted = regexp.MustCompile("`([^`]+)`")

// TestRoomsAreDescribed: docs/ARCHITECTURE.md names every room beside its rank, by its
// folder or the end of it, and nothing that is no room.
func TestRoomsAreDescribed(t *testing.T) {
	text := read(t, "docs/ARCHITECTURE.md")
	described := map[int][]string{}
	for line := range strings.Lines(text) {
		var rank int
		if _, err := fmt.Sscanf(line, "| %d |", &rank); err != nil {
			continue
		}
		cell := strings.Split(line, "|")[2]
		if strings.Contains(cell, "(") {
			continue // a function
		}
		for _, m := range quoted.FindAllStringSubmatch(line, -1) {
			described[rank] = append(described[rank], m[1])
		}
	}
	for folder, rank := range ranks {
		if strings.HasPrefix(folder, "internal/test/") || folder == "internal/imports" || strings.HasSuffix(folder, "/csel") || folder == "csource/test" {
			continue
		}
		if !slices.Contains(described[rank], folder) && !slices.Contains(described[rank], path.Base(folder)) {
			t.Errorf("docs/ARCHITECTURE.md does not describe %s beside rank %d", folder, rank)
		}
	}
}

// TestWayIsWalked: the functions on the way from a job's output to a leaf are there, at
// most twelve, none twice.
func TestWayIsWalked(t *testing.T) {
	_, way, found := strings.Cut(read(t, "docs/ARCHITECTURE.md"), "### From a job's output")
	if !found {
		t.Fatal("no way from a job's output")
	}
	way, _, _ = strings.Cut(way, "\n## ")
	step := regexp.MustCompile("(?m)^\\| [0-9]+ \\| `([^`]+)` ")
	var names []string
	for _, m := range step.FindAllStringSubmatch(way, -1) {
		if slices.Contains(names, m[1]) {
			t.Errorf("%s comes twice", m[1])
		}
		names = append(names, m[1])
		if !defined(t, m[1]) {
			t.Errorf("no function %s", m[1])
		}
	}
	if n := len(names); n < 6 || n > 12 {
		t.Errorf("%d steps, want 6 to 12", n)
	}
}

// defined reports whether some package defines pkg.Function, pkg.Type.Method or
// pkg.(*Type).Method.
func defined(t *testing.T, name string) bool {
	t.Helper()
	pkg, rest, _ := strings.Cut(name, ".")
	receiver, method, isMethod := cutLast(rest)
	form := `func ` + regexp.QuoteMeta(rest) + `\(`
	if isMethod {
		form = `func \([a-z]+ ` + regexp.QuoteMeta(strings.Trim(receiver, "()")) + `\) ` + regexp.QuoteMeta(method) + `\(`
	}
	found := false
	err := filepath.WalkDir(root, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) != ".go" || filepath.Base(filepath.Dir(file)) != pkg {
			return err
		}
		text, err := os.ReadFile(file)
		found = found || regexp.MustCompile(form).Match(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func cutLast(s string) (before, after string, found bool) {
	i := strings.LastIndex(s, ".")
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+1:], true
}

// TestMapHasEveryFolder: the README's map has a line for each folder at the top, and for
// nothing else.
func TestMapHasEveryFolder(t *testing.T) {
	if _, err := os.Stat(filepath.Join(root, ".git")); errors.Is(err, fs.ErrNotExist) {
		t.Skip("no checkout")
	}
	cmd := exec.Command("git", "ls-files")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for line := range strings.Lines(string(out)) {
		if folder, _, below := strings.Cut(strings.TrimSpace(line), "/"); below && folder[0] != '.' && !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	_, text, _ := strings.Cut(read(t, "README.md"), "## Where things are")
	text, _, _ = strings.Cut(text, "\n## ")
	var mapped []string
	for line := range strings.Lines(text) {
		if cells := strings.Split(line, "|"); len(cells) > 2 && quoted.MatchString(cells[1]) {
			mapped = append(mapped, quoted.FindStringSubmatch(cells[1])[1])
		}
	}
	slices.Sort(folders)
	if !slices.Equal(folders, mapped) {
		t.Errorf("README's map has %v\nwant %v", mapped, folders)
	}
	if n := len(folders); n > 24 {
		t.Errorf("%d folders at the top, want 24 at most", n)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
