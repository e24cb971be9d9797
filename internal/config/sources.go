package config

import (
	"regexp"
	"slices"
	"strings"

	"tutti/mpi"
)

// WithSources returns settings that launches of a library have, with the true source of those in the environment: a key of
// the campaign, a module or the shell of tutti. `shell` is its environment, nil if launches do not get it, and `modules` has
// the module that sets a variable, by variable. If none of them sets the value, the source says after which keys the
// environment has it.
func (c *Campaign) WithSources(settings []mpi.SiteSetting, lib Library, shell []string, modules map[string]string) []mpi.SiteSetting {
	out := slices.Clone(settings)
	for i, s := range out {
		if as, ok := strings.CutPrefix(s.Source, mpi.FromEnvironment); ok {
			name := s.Name
			if other, found := strings.CutPrefix(as, " as "); found {
				name = other
			}
			out[i].Source = c.sourceOf(name, s.Value, lib, shell, modules) + as
		}
	}
	return out
}

func (c *Campaign) sourceOf(name, value string, lib Library, shell []string, modules map[string]string) string {
	setting := name + "=" + value
	argument := regexp.MustCompile(`(^|[\s=])(` + regexp.QuoteMeta(name) + "|" + regexp.QuoteMeta(mcaName(name)) + `)($|[\s=])`)
	word := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
	switch r := c.Runner; {
	case slices.ContainsFunc(lib.LauncherArgs, argument.MatchString):
		return "launcher_args"
	case slices.Contains(lib.Env, setting):
		return "libraries[].env"
	case slices.Contains(r.Env, setting):
		return "runner.env"
	case slices.ContainsFunc(r.Setup, word.MatchString):
		return "runner.setup"
	case modules[name] != "":
		return "module " + modules[name]
	case slices.Contains(shell, setting):
		return "environment of the shell"
	case len(r.Modules) > 0 && len(r.Setup) > 0:
		return mpi.FromEnvironment + " after runner.modules and runner.setup"
	case len(r.Modules) > 0:
		return mpi.FromEnvironment + " after runner.modules"
	case len(r.Setup) > 0:
		return mpi.FromEnvironment + " after runner.setup"
	}
	return mpi.FromEnvironment
}

// mcaName returns the name by which mpirun's option --mca sets a variable.
func mcaName(variable string) string {
	for _, prefix := range []string{"OMPI_MCA_", "PRTE_MCA_"} {
		if name, ok := strings.CutPrefix(variable, prefix); ok {
			return name
		}
	}
	return variable
}
