package openmpi

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/mpi"
)

type ompiInfo struct {
	version    string                    // of Open MPI
	checks     string                    // of arguments: on, off, or empty when it does not say
	tuned      map[string]map[int]string // collective to number to name of its algorithm
	components map[string]bool           // of the coll framework
	priorities map[string]int            // by component
}

var (
	fullForm  = regexp.MustCompile(`^ompi:version:full:([0-9][0-9A-Za-z.+-]{0,63})$`)
	checkForm = regexp.MustCompile(`^option:mpi-param-check:(never|always|runtime)$`)
	tunedForm = regexp.MustCompile(`^mca:coll:tuned:param:coll_tuned_([a-z_]+)_algorithm:enumerator:value:([0-9]{1,4}):([A-Za-z0-9_-]{1,64})$`)
)

func ask(ctx context.Context, tools mpi.Tools, path string) ompiInfo {
	return parseOmpiInfo(tools.Ask(ctx, path, "--parsable") + "\n" + tools.Ask(ctx, path, "--parsable", "--param", "coll", "all", "--level", "9"))
}

func (i ompiInfo) listing() map[coll.Collective][]mpi.Entry {
	out := map[coll.Collective][]mpi.Entry{}
	for _, c := range coll.Collectives() {
		names := i.tuned[string(c)]
		for _, id := range slices.Sorted(maps.Keys(names)) {
			if id > 0 { // 0 is no algorithm
				out[c] = append(out[c], mpi.Entry{Name: names[id], ID: id})
			}
		}
	}
	return out
}

// besides is the path of a library's file. As mpi.Tools, it finds the programs next to this library, and those
// on the PATH.
type besides string

func (file besides) Find(name string) string {
	path := filepath.Join(filepath.Dir(string(file)), "..", "bin", name)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	path, _ = exec.LookPath(name)
	return path
}

// Ask implements mpi.Tools.
func (besides) Ask(ctx context.Context, path string, args ...string) string {
	out, _ := exec.CommandContext(ctx, path, args...).Output() // what it did not print is missing
	return string(out)
}

func parseOmpiInfo(text string) ompiInfo {
	info := ompiInfo{tuned: map[string]map[int]string{}, components: map[string]bool{}, priorities: map[string]int{}}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if m := fullForm.FindStringSubmatch(line); m != nil {
			info.version = m[1]
		}
		if m := checkForm.FindStringSubmatch(line); m != nil {
			info.checks = "on"
			if m[1] == "never" {
				info.checks = "off"
			}
		}
		if rest, is := strings.CutPrefix(line, "mca:coll:"); is {
			info.seeColl(line, rest)
		}
	}
	return info
}

func (i *ompiInfo) seeColl(line, rest string) {
	if m := tunedForm.FindStringSubmatch(line); m != nil {
		id, err := strconv.Atoi(m[2])
		if err != nil {
			return
		}
		if i.tuned[m[1]] == nil {
			i.tuned[m[1]] = map[int]string{}
		}
		i.tuned[m[1]][id] = m[3]
		return
	}
	component, rest, more := strings.Cut(rest, ":")
	if !more || component == "base" {
		return
	}
	if strings.HasPrefix(rest, "version:") {
		i.components[component] = true
	}
	if v, is := strings.CutPrefix(rest, "param:coll_"+component+"_priority:value:"); is {
		if n, err := strconv.Atoi(v); err == nil {
			i.priorities[component] = n
		}
	}
}

// above returns the components that have a higher priority than coll/tuned, in ascending order of priority.
// It considers only components for the collectives of whole programs.
func (i ompiInfo) above() []string {
	mine, known := i.priorities["tuned"]
	if !known {
		mine = 30 // as Open MPI ships it
	}
	var out []string
	for _, r := range componentsAbove {
		if i.components[r.component] && i.priorities[r.component] > mine {
			out = append(out, r.component)
		}
	}
	slices.Sort(out)
	return out
}
