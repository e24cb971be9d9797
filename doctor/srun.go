package doctor

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tutti/mpi"
)

var pluginForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,31}$`)

// parsePlugins reads srun --mpi=list: one name on each line of its own, in older
// releases behind "srun:".
func parsePlugins(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "srun:"))
		if pluginForm.MatchString(line) && !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return out
}

// trySrun tries the plugins of srun until one starts two processes.
func (x *examiner) trySrun(ctx context.Context, lib *Library) {
	path := x.look("srun")
	if path == "" {
		return
	}
	own := lib.launcher()
	plugins := slices.DeleteFunc(slices.Clone(own.PMI), func(name string) bool { return !slices.Contains(x.slurm.plugins, name) })
	if len(plugins) == 0 {
		x.add(Check{Launchers, "srun", Missing,
			[]string{fmt.Sprintf("%s: srun has %s only", lib.Name, orNone(x.slurm.plugins))},
			"start with the library's own launcher inside the job"})
		return
	}
	var failed []string
	for i, plugin := range plugins {
		t := trial{library: lib, launcher: "srun --mpi=" + plugin, args: x.srunArgs(path, plugin), env: x.launchEnv(lib), drop: inherited, slurm: true}
		if !x.options.Run {
			x.try(ctx, t, nil)
			return
		}
		v := pairingOf(x.run(ctx, t.command(x, lib.probe)))
		if v.State == OK || i == len(plugins)-1 {
			x.addSrun(t, v, failed)
			return
		}
		failed = append(failed, "--mpi="+plugin+" "+v.Text)
	}
}

func (x *examiner) addSrun(t trial, v pairing, failed []string) {
	t.state, t.hosts = v.State, v.Hosts
	x.tried = append(x.tried, t)
	where := ""
	if len(v.Hosts) > 0 {
		where = ", " + strings.Join(v.Hosts, ", ")
	}
	c := Check{Launchers, t.launcher, v.State, []string{t.library.Name + ": " + v.Text + where}, x.cureOfLaunch(t, v)}
	if v.State == Missing && !v.OneRank { // it may be the cluster's fault, or its load
		c.State = Warning
		if !strings.Contains(v.Text, "No such file") {
			c.Cure = "start with the library's own launcher inside the job"
		}
	}
	c.Details = append(c.Details, failed...)
	x.add(c)
}

// srunArgs asks for two processes on one node: inside an allocation as a step
// beside whatever runs there, outside as a job of a minute that does not wait.
func (x *examiner) srunArgs(path, plugin string) []string {
	args := []string{path, "--mpi=" + plugin, "--nodes=1", "--ntasks=2", "--input=none", "--time=1"}
	if x.slurm.job == "" {
		return append(args, "--immediate=10", "--job-name=tutti-doctor")
	}
	if mpi.AtLeast(x.slurm.version, 20, 11) {
		args = append(args, "--overlap")
	}
	return args
}

// inherited is what a job says of its steps; the check asks for what it wants.
var inherited = []string{
	"SLURM_NTASKS", "SLURM_NPROCS", "SLURM_NTASKS_PER_NODE", "SLURM_CPUS_PER_TASK", "SLURM_DISTRIBUTION", "SLURM_MPI_TYPE",
	"SLURM_HINT", "SLURM_EXACT", "SLURM_ARBITRARY",
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "no plugin"
	}
	return strings.Join(names, ", ")
}
