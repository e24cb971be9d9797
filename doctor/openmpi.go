package doctor

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tutti/mpi"
	"tutti/mpi/openmpi"
)

// ompiInfo is what ompi_info --parsable tells of collectives.
type ompiInfo struct {
	version    string                    // of Open MPI
	checks     string                    // of arguments: never, always or runtime
	tuned      map[string]map[int]string // collective to number to name of its algorithm
	components map[string]bool           // of the coll framework
	priorities map[string]int            // by component
}

var tunedForm = regexp.MustCompile(`^mca:coll:tuned:param:coll_tuned_([a-z_]+)_algorithm:enumerator:value:([0-9]{1,4}):([A-Za-z0-9_-]{1,64})$`)

// parseOmpiInfo reads the lines of ompi_info --parsable; what it does not know it
// passes over.
func parseOmpiInfo(text string) ompiInfo {
	info := ompiInfo{tuned: map[string]map[int]string{}, components: map[string]bool{}, priorities: map[string]int{}}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if v, is := strings.CutPrefix(line, "ompi:version:full:"); is {
			info.version = printable(v)
		}
		if v, is := strings.CutPrefix(line, "option:mpi-param-check:"); is {
			info.checks = printable(v)
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
		i.components[printable(component)] = true
	}
	if v, is := strings.CutPrefix(rest, "param:coll_"+component+"_priority:value:"); is {
		if n, err := strconv.Atoi(v); err == nil {
			i.priorities[printable(component)] = n
		}
	}
}

// above returns the components that outrank coll/tuned for the collectives of
// whole programs, ascending.
func (i ompiInfo) above() []string {
	mine, known := i.priorities["tuned"]
	if !known {
		mine = 30 // as Open MPI ships it
	}
	var out []string
	for _, name := range []string{"acoll", "adapt", "cuda", "han", "hcoll", "ucc", "xhc"} {
		if i.components[name] && i.priorities[name] > mine {
			out = append(out, name)
		}
	}
	return out
}

// examineOpenMPI asks the ompi_info beside the compiler.
func (x *examiner) examineOpenMPI(ctx context.Context, lib *Library, c *Check) {
	tool := lookIn(slices.Concat(lib.bins(), x.path()), "ompi_info")
	if tool == "" {
		c.Details = append(c.Details, "no ompi_info beside the compiler: its algorithms are not known")
		*c = c.with(Warning, "apt-get install openmpi-bin, or put its bin folder on the PATH")
		return
	}
	info := x.askOmpiInfo(ctx, tool)
	if info.version == "" || len(info.tuned) == 0 {
		c.Details = append(c.Details, tool+" does not tell the algorithms of coll/tuned")
		*c = c.with(Warning, "try it by hand: "+tool+" --param coll tuned --level 9")
		return
	}
	if info.version != lib.Version {
		c.Details = append(c.Details, fmt.Sprintf("%s is of Open MPI %s: its algorithms are not known", tool, info.version))
		*c = c.with(Warning, "put the bin folder of Open MPI "+lib.Version+" first on the PATH")
		return
	}
	lib.Checks = map[string]string{"never": "off", "always": "on", "runtime": "on"}[info.checks]
	cat, _ := mpi.Near(openmpi.Library.Releases(), lib.Version)
	if cat == nil {
		c.Details = append(c.Details, "no list of algorithms is near this version")
		*c = c.with(Warning, "use Open MPI 4.1 or newer")
		return
	}
	var listed int
	lib.Catalogue = cat.Version
	lib.Absent, lib.Unlisted, listed = compareOpenMPI(cat, info.tuned)
	lib.describe(listed, c)
	if above := info.above(); len(above) > 0 {
		c.Details = append(c.Details, "coll/"+strings.Join(above, ", coll/")+" outranks coll/tuned: tutti turns it off where it tunes")
	} else {
		c.Details = append(c.Details, "nothing outranks coll/tuned")
	}
}

// askOmpiInfo asks for the build and for the parameters of collectives.
func (x *examiner) askOmpiInfo(ctx context.Context, tool string) ompiInfo {
	build := x.run(ctx, command{args: []string{tool, "--parsable"}, limit: x.limits.ask})
	params := x.run(ctx, command{args: []string{tool, "--parsable", "--param", "coll", "all", "--level", "9"}, limit: x.limits.ask})
	return parseOmpiInfo(build.Stdout + "\n" + params.Stdout)
}
