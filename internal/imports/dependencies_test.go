package imports

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestDependenciesAreListed checks that docs/DEPENDENCIES.md names each module that go.mod requires directly.
func TestDependenciesAreListed(t *testing.T) {
	text := read(t, "docs/DEPENDENCIES.md")
	version := regexp.MustCompile(`^v\d+$`)
	for line := range strings.Lines(read(t, "go.mod")) {
		f := strings.Fields(line)
		if len(f) != 2 || !strings.HasPrefix(line, "\t") {
			continue // not a direct requirement
		}
		module := f[0]
		name := path.Base(module)
		if version.MatchString(name) {
			name = path.Base(path.Dir(module))
		}
		if !strings.Contains(text, module) && !regexp.MustCompile(`(?m)^\|[^|]*, `+regexp.QuoteMeta(name)+` \|`).MatchString(text) {
			t.Errorf("docs/DEPENDENCIES.md does not list %s", module)
		}
	}
}
