package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"tutti/report"
)

// version of the program; the changelog says what is in it.
const version = "0.3.0"

// numeric libraries whose version can change a figure.
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

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the versions of tutti and what it computes with",
		Example: indent("tutti version --output json"),
		Args:    noArgs,
	}
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkOutput(cmd, *output); err != nil {
			return err
		}
		if *output == "json" {
			return json.NewEncoder(a.stdout).Encode(versions())
		}
		for _, v := range versions() {
			fmt.Fprintln(a.stdout, v.Name, v.Version)
		}
		return nil
	}
	return cmd
}
