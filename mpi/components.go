package mpi

import (
	"maps"
	"strconv"
	"strings"
)

// ComponentTool is the program of Open MPI that lists its components.
const ComponentTool = "ompi_info"

// ComponentLister is the command that lists Open MPI's components of collectives, with their parameters.
var ComponentLister = []string{ComponentTool, "--parsable", "--param", "coll", "all", "--level", "9"}

// Components are the components of collectives that an Open MPI has. For each one they have its parameters by name, without
// the prefix coll_COMPONENT_.
type Components map[string]map[string]string

// ReadComponents reads the output of ComponentLister and ignores other lines. A component without a version is not there.
func ReadComponents(listing string) Components {
	out, present := Components{}, map[string]bool{}
	for line := range strings.Lines(listing) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "mca:coll:")
		name, rest, _ := strings.Cut(rest, ":")
		if !ok {
			continue
		}
		present[name] = present[name] || strings.HasPrefix(rest, "version:")
		if out[name] == nil {
			out[name] = map[string]string{}
		}
		if param, value, ok := strings.Cut(strings.TrimPrefix(rest, "param:coll_"+name+"_"), ":value:"); ok {
			out[name][param] = value
		}
	}
	maps.DeleteFunc(out, func(name string, _ map[string]string) bool { return !present[name] })
	return out
}

// Priority returns the priority of a component. It returns false if none is listed.
func (c Components) Priority(name string) (int, bool) {
	n, err := strconv.Atoi(c[name]["priority"])
	return n, err == nil
}
