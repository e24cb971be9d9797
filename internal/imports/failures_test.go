package imports

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tutti/internal/testutil"
)

var (
	testsOfPackages = regexp.MustCompile("((?:[\\w/]+, )*[\\w/]+) ((?:`(?:Test|Fuzz)\\w+(?:/[\\w-]+)?`(?: \\(\\*long\\*\\))?(?:, )?)+)")
	testName        = regexp.MustCompile("`((?:Test|Fuzz)\\w+)")
)

// TestFailuresHaveTests checks that each test that docs/reference/failures.md names exists in a package that it names.
func TestFailuresHaveTests(t *testing.T) {
	tests := 0
	for line := range strings.Lines(read(t, "docs/reference/failures.md")) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if !strings.HasPrefix(line, "| ") || len(cells) < 4 {
			continue
		}
		for _, m := range testsOfPackages.FindAllStringSubmatch(cells[len(cells)-1], -1) {
			text := testFilesOf(t, strings.Split(m[1], ", "))
			for _, name := range testName.FindAllStringSubmatch(m[2], -1) {
				if tests++; !strings.Contains(text, "func "+name[1]+"(") {
					t.Errorf("no test %s in %s", name[1], m[1])
				}
			}
		}
	}
	if tests < 80 {
		t.Errorf("%d tests, want more", tests)
	}
}

// testFilesOf returns the text of all test files of the packages, which are named by their path below the root or below
// benchrunner.
func testFilesOf(t *testing.T, packages []string) string {
	t.Helper()
	var text strings.Builder
	for _, pkg := range packages {
		for _, folder := range []string{"", "benchrunner"} {
			for _, file := range testutil.Must(filepath.Glob(filepath.Join(root, folder, pkg, "*_test.go")))(t) {
				text.Write(testutil.Must(os.ReadFile(file))(t))
			}
		}
	}
	return text.String()
}
