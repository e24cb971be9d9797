package local

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tutti/benchrunner"
	"tutti/internal/infile"
	"tutti/internal/lazyregexp"
	"tutti/topology"
)

// maxHostsFile is the largest size of a file of nodes, in bytes: 65536 nodes of 256 ranks with names of 64 letters.
const maxHostsFile = 1 << 30

// nodesFile is the file in the folder of a job that names the nodes of an allocation, a line each.
const nodesFile = "nodes"

// managers lists the workload managers whose jobs have a file of nodes, with the variables of the job's ID and of the
// file. PBS and LSF write a line for each rank.
var managers = []struct{ id, file string }{{"PBS_JOBID", "PBS_NODEFILE"}, {"LSB_JOBID", "LSB_DJOB_HOSTFILE"}}

// NewHosts returns a scheduler for the nodes in a file, whose lines name a node each. A line may list several nodes in
// Slurm's notation, as n[1-4]. Numbers of ranks behind the name are ignored: slots=8 of Open MPI, :8 of MPICH. If a file
// repeats its nodes, a line stands for a rank. `id` identifies the allocation. Launchers get the nodes from variables.
func NewHosts(environ []string, id, path string) (*Scheduler, error) {
	text, err := infile.Read(path, maxHostsFile)
	if err != nil {
		return nil, fmt.Errorf("nodes of the allocation: %w", err)
	}
	nodes, ranks, err := parseHosts(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("nodes of %s: %w", path, err)
	}
	a := &allocation{id: id, environ: environ, nodes: nodes}
	opt := Options{Nodes: len(nodes), PPN: ranks}
	return &Scheduler{opt: opt, environ: without(environ, stepPrefixes), host: host, allocation: a}, nil
}

// hostsLine matches a line: a list of nodes, :RANKS of MPICH, and settings of MPICH and Open MPI, as slots=8.
var hostsLine = lazyregexp.New(`^([^\s:]+)(?::[0-9]+)?(?:\s+[A-Za-z_-]+\s*=\s*\S+)*$`)

// parseHosts returns the nodes of a file in the order of the file, and the smallest number of lines of a node. The number
// is 0, for unknown, if each node has one line.
func parseHosts(text string) (nodes []string, ranks int, err error) {
	lines := map[string]int{}
	for number, line := range slices.Collect(strings.Lines(text)) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		m := hostsLine.FindStringSubmatch(line)
		if m == nil {
			return nil, 0, fmt.Errorf("line %d: %q: want the name of one node, or a list as n[1-4], perhaps with the number of ranks, as n1:8 or n1 slots=8", number+1, line)
		}
		here, err := topology.Hosts(m[1])
		if err != nil {
			return nil, 0, fmt.Errorf("line %d: %w", number+1, err)
		}
		for _, n := range here {
			name := strings.ToLower(n) // DNS knows one case
			if lines[name]++; lines[name] == 1 {
				nodes = append(nodes, n)
			}
		}
	}
	if len(nodes) == 0 {
		return nil, 0, fmt.Errorf("no nodes: want the name of a node on each line")
	}
	least, most := math.MaxInt, 0
	for _, n := range lines {
		least, most = min(least, n), max(most, n)
	}
	if most == 1 {
		least = 0
	}
	return nodes, least, nil
}

// fromManager returns the allocation of PBS or LSF that the environment describes. It returns nil if there is none.
func fromManager(environ []string, env map[string]string) (*Scheduler, error) {
	for _, m := range managers {
		if file := env[m.file]; file != "" {
			return NewHosts(environ, cmp.Or(env[m.id], file), file)
		}
	}
	return nil, nil
}

// nodeVariables writes the nodes of an allocation into the folder of a job. It returns the variables by which the script of
// the job and launchers find them. It returns nothing for an allocation of Slurm.
func (a *allocation) nodeVariables(dir string) ([]string, error) {
	if a == nil || a.nodes == nil {
		return nil, nil
	}
	path := filepath.Join(dir, nodesFile)
	if err := os.WriteFile(path, []byte(strings.Join(a.nodes, "\n")+"\n"), 0o666); err != nil {
		return nil, err
	}
	var out []string
	for _, name := range []string{"TUTTI_NODEFILE", "HYDRA_HOST_FILE", "OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile"} {
		out = append(out, name+"="+path)
	}
	return out, nil
}

// startScript returns the bash script that runs a job.
func (a *allocation) startScript() string {
	if a == nil || a.nodes == nil {
		return runText
	}
	return benchrunner.RemoteShell + runText
}
