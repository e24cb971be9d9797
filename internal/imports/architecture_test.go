package imports

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tutti/internal/testutil"
)

const root = "../.."

// TestPackagesAreDescribed checks that docs/ARCHITECTURE.md names each folder of the tiers.
func TestPackagesAreDescribed(t *testing.T) {
	text := read(t, "docs/ARCHITECTURE.md")
	for _, tier := range tiers {
		for _, folder := range tier.folders {
			if !strings.Contains(text, "`"+folder+"`") && !strings.HasPrefix(folder, "internal/") {
				t.Errorf("docs/ARCHITECTURE.md does not describe %s", folder)
			}
		}
	}
}

// TestWayToLeaf checks the list in docs/ARCHITECTURE.md that leads from a job's output to a leaf of the selection's
// decision tree. The list must have 6 to 12 functions, each of which must exist and occur only once.
func TestWayToLeaf(t *testing.T) {
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
		if !isDefined(t, m[1]) {
			t.Errorf("no function %s", m[1])
		}
	}
	if n := len(names); n < 6 || n > 12 {
		t.Errorf("%d steps, want 6 to 12", n)
	}
}

// isDefined reports whether some package defines pkg.Function, pkg.Type.Method or
// pkg.(*Type).Method.
func isDefined(t *testing.T, name string) bool {
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
	testutil.NoError(t, err)
	return found
}

func cutLast(s string) (before, after string, found bool) {
	i := strings.LastIndex(s, ".")
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+1:], true
}

func read(t *testing.T, name string) string {
	t.Helper()
	text := testutil.Must(os.ReadFile(filepath.Join(root, name)))(t)
	return string(text)
}
