package benchrunner

import (
	_ "embed"
	"strings"

	"al.essio.dev/pkg/shellescape"
)

// loadFunction defines the shell function tutti_load, and the function "module" if the shell does not have it.
//
//go:embed modules.sh
var loadFunction string

// LoadModules returns lines of bash that load environment modules, in the given order. The shell ends with
// exit code 1 if a module is not loaded afterwards. Without modules there are no lines.
//
// The exit code of "module load" is not enough: Modules 3.2 returns 0 for a module that does not exist.
func LoadModules(modules []string) string {
	if len(modules) == 0 {
		return ""
	}
	lines := []string{strings.TrimSpace(loadFunction)}
	for _, m := range modules {
		lines = append(lines, "tutti_load "+shellescape.Quote(m))
	}
	return strings.Join(lines, "\n")
}
