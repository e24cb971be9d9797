package main

import (
	"bytes"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"tutti/campaign/assembly"
	"tutti/doctor"
)

// quickFile is the campaign file that tutti quick makes: what the machine decides. All
// else is at its default.
type quickFile struct {
	Name        string         `yaml:"name"`
	Machine     string         `yaml:"machine"`
	Output      string         `yaml:"output"`
	Libraries   []quickLibrary `yaml:"libraries"`
	Collectives []string       `yaml:"collectives,flow"`
	Grid        struct {
		Nodes []int    `yaml:"nodes,flow"`
		PPN   []int    `yaml:"ppn,flow"`
		Sizes []string `yaml:"sizes,flow"`
	} `yaml:"grid"`
	Runner struct {
		Kind string `yaml:"kind"`
	} `yaml:"runner"`
	Stop struct {
		WallTime string `yaml:"wall_time"`
	} `yaml:"stop"`
}

type quickLibrary struct {
	Name         string   `yaml:"name"`
	Version      string   `yaml:"version"`
	Path         string   `yaml:"path,omitempty"`
	Benchmark    string   `yaml:"benchmark"`
	Launcher     string   `yaml:"launcher"`
	LauncherPath string   `yaml:"launcher_path,omitempty"`
	PMI          string   `yaml:"pmi,omitempty"`
	Env          []string `yaml:"env,omitempty"`
}

// newQuickFile is the file for a library at a place. It lies in the folder of the
// results, and the benchmark beside it.
func newQuickFile(host string, at assembly.Place, with doctor.Launchable, o quickOptions) quickFile {
	f := quickFile{
		Name: "quick", Machine: host, Output: ".", Collectives: o.collectives,
		Libraries: []quickLibrary{{
			Name: with.Library.Family, Version: with.Library.Catalogue, Path: with.Library.File.Path,
			Benchmark: "tutti-native-" + with.Library.Family,
			Launcher:  with.Launcher, LauncherPath: with.Path, PMI: with.PMI, Env: with.Env,
		}},
	}
	f.Grid.Nodes, f.Grid.PPN = nodeCounts(at.Nodes), rankCounts(at.Cores)
	f.Grid.Sizes = []string{"8B", "64B", "512B", "4KiB", "32KiB", "256KiB", "1MiB"}
	f.Runner.Kind, f.Stop.WallTime = at.Kind, o.wallTime.String()
	return f
}

// nodeCounts are the powers of two up to a number of nodes, and that number.
func nodeCounts(most int) []int {
	var out []int
	for n := 1; n < most; n *= 2 {
		out = append(out, n)
	}
	return append(out, most)
}

// rankCounts are a quarter, half and all of the cores of a node, 2 at least, since one
// rank alone talks to nobody.
func rankCounts(cores int) []int {
	return slices.Compact([]int{max(2, cores/4), max(2, cores/2), max(2, cores)})
}

// text is the file as it is kept.
func (f quickFile) text() (string, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Made by tutti quick: what it found here. All other keys are at their defaults;\n# tutti init --runner %s writes them all.\n", f.Runner.Kind)
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(f); err != nil {
		return "", err
	}
	return b.String(), e.Close()
}
