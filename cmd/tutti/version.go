package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"tutti/report"
)

// version is the version of the program. CHANGELOG.md describes its contents.
const version = "0.1.0"

// numericModules lists the numeric libraries whose versions can change results.
var numericModules = []string{"gonum.org/v1/gonum", "github.com/c-bata/goptuna"}

func versions() []report.Version {
	out := []report.Version{{Name: "tutti", Version: version}, {Name: "go", Version: runtime.Version()}}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return out
	}
	for _, name := range numericModules {
		for _, dep := range build.Deps {
			if dep.Path == name {
				out = append(out, report.Version{Name: name, Version: dep.Version})
			}
		}
	}
	return out
}

func versionCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the versions of tutti and its numeric libraries",
		Example: examples("tutti version --format json"),
		Args:    noArgs,
	}
	a.formatFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		return a.show(versions(), func() {
			for _, v := range versions() {
				fmt.Fprintln(a.stdout, v.Name, v.Version)
			}
		})
	}
	return cmd
}
