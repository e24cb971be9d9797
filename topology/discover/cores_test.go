package discover_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/internal/lab/clustering"
	"tutti/internal/testutil"
	"tutti/topology/discover"
)

// known holds the true levels of some processors, as groups of the operating system's processor numbers.
// The core-to-core latencies are in the folder results of github.com/nviennot/core-to-core-latency. Linux
// numbers the cores of socket 0 first, then those of socket 1, then the second hardware thread of each
// core.
var known = []struct {
	file   string
	levels map[string]func(i int) int
}{
	{"Dual AMD EPYC 7742 64-Core Processor", threaded(128, part{"ccx", 4}, part{"socket", 64})},
	{"AMD EPYC 7773X", threaded(64, part{"ccx", 8})},
	{"AMD EPYC 7R13 48-Core Processor", threaded(96, part{"ccx", 8}, part{"socket", 48})},
	{"Dual Intel(R) Xeon Gold 6242 @ 2.8GHz", threaded(32, part{"socket", 16})},
	{"Dual Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", threaded(28, part{"socket", 14})},
	{"Dual Intel(R) Xeon(R) CPU E5-2630 v4 @ 2.20GHz", threaded(20, part{"socket", 10})},
	{"Dual Intel(R) Xeon(R) CPU E5-2690 0 @ 2.90GHz", threaded(16, part{"socket", 8})},
	{"Dual Intel(R) Xeon(R) CPU X5650  @ 2.67GHz", threaded(12, part{"socket", 6})},
	{"AMD Ryzen Threadripper 1950X", threaded(16, part{"ccx", 4}, part{"die", 8})},
	{"AMD Ryzen Threadripper 3960X, 3.80GHz, 24 Cores, Zen 2, 3rd Gen, 2019-Q4", threaded(24, part{"ccx", 3})},
	{"HiSilicon Kunpeng 920-6426 @ 2.6GHz", parts(part{"cluster", 4}, part{"die", 32})},
	{"Dual IBM Power7 8 cores@3.3 GHz 2010-Q1", parts(part{"socket", 8})},
	{"Dual Sun-Oracle SPARC T4 8 cores@2.85 GHz", parts(part{"socket", 8})},
	{"Intel(R) Xeon(R) CPU E5-2695 v4 @ 2.10GHz", threaded(36, part{"socket", 18})},
}

// part is one level of a processor: the name of its groups and the number of cores in each group.
type part struct {
	name  string
	cores int
}

func threaded(cores int, of ...part) map[string]func(i int) int {
	out := map[string]func(i int) int{"core": func(i int) int { return i % cores }}
	for _, p := range of {
		out[p.name] = func(i int) int { return i % cores / p.cores }
	}
	return out
}

func parts(of ...part) map[string]func(i int) int {
	out := map[string]func(i int) int{}
	for _, p := range of {
		out[p.name] = func(i int) int { return i / p.cores }
	}
	return out
}

// cores reads a matrix of core-to-core latencies from the folder that the environment variable CORES names.
// File names may have underscores instead of spaces.
func cores(t *testing.T, name string) discover.Matrix {
	t.Helper()
	folder := os.Getenv("CORES")
	if folder == "" {
		t.Skip("needs CORES=FOLDER, the results in a clone of github.com/nviennot/core-to-core-latency")
	}
	f, err := os.Open(filepath.Join(folder, name+".csv"))
	if os.IsNotExist(err) {
		f, err = os.Open(filepath.Join(folder, strings.ReplaceAll(name, " ", "_")+".csv"))
	}
	testutil.NoError(t, err)
	defer f.Close()
	return testutil.Must(discover.NewMatrix(testutil.ReadRows(t, f)))(t)
}

// TestCores compares the levels that are found with those of real processors. A minimum number of levels must be
// found exactly, both with a known and with an unknown number of groups.
func TestCores(t *testing.T) {
	withCount, withoutCount, all := 0, 0, 0
	for _, k := range known {
		m := cores(t, k.file)
		rows := discover.Profile(m)
		tree := discover.Agglomerate(rows, discover.Ward)
		found := testutil.Must(discover.FindLevelsUnconfirmed(m))(t)
		for name, group := range k.levels {
			truth := make(discover.Labels, m.Len())
			for i := range truth {
				truth[i] = group(i)
			}
			all++
			if clustering.Accuracy(tree.Cut(truth.Groups()), truth) == 1 {
				withCount++
			} else {
				t.Logf("%s: %s is another division", k.file, name)
			}
			if holds(t, found.Levels, truth) {
				withoutCount++
			} else {
				t.Logf("%s: %s is not among the levels of %v groups", k.file, name, groups(found.Levels))
			}
		}
	}
	t.Logf("of %d levels %d exact with the number of groups, %d without", all, withCount, withoutCount)
	if withCount < 29 || withoutCount < 27 {
		t.Errorf("%d and %d, want 29 and 27", withCount, withoutCount)
	}
}

// holds reports whether one of the found levels equals the true division into groups.
func holds(t testing.TB, found []discover.Level, truth discover.Labels) bool {
	t.Helper()
	for _, l := range found {
		if clustering.Accuracy(l.Labels, truth) == 1 {
			return true
		}
	}
	return false
}
