package benchrunner

import (
	"fmt"
	"strings"

	"al.essio.dev/pkg/shellescape"
)

// findModuleCommand defines the shell function "module" if the shell does not have it. It looks first in the
// installation that the environment names, then in the places where Linux packages install it.
const findModuleCommand = `for tutti_file in ${MODULESHOME:+"$MODULESHOME/init/bash"} ${LMOD_PKG:+"$LMOD_PKG/init/bash"} \
	/etc/profile.d/modules.sh /etc/profile.d/lmod.sh /etc/profile.d/z00_lmod.sh; do
	if type module >/dev/null 2>&1; then break; fi
	if [ -r "$tutti_file" ]; then . "$tutti_file"; fi
done`

// LoadModules returns lines of bash that load environment modules, in the given order. The shell ends with
// exit code 1 if a module cannot be loaded. Without modules there are no lines.
func LoadModules(modules []string) string {
	if len(modules) == 0 {
		return ""
	}
	lines := []string{findModuleCommand}
	for _, m := range modules {
		m = shellescape.Quote(m)
		lines = append(lines, fmt.Sprintf("module load %s || { echo module load %s did not work; exit 1; }", m, m))
	}
	return strings.Join(lines, "\n")
}
