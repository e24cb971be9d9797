package live

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"al.essio.dev/pkg/shellescape"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/mpi"
)

//go:embed job.sh.tmpl
var jobText string

// jobTemplate is the script of a job. Every value that may contain special characters passes through the
// template function "quote", or in comments through "comment".
var jobTemplate = template.Must(template.New("job.sh").Funcs(template.FuncMap{
	"quote":   shellescape.Quote,
	"comment": oneLine,
}).Parse(jobText))

type scriptData struct {
	Name, Dir, Program, Launcher, Binary string
	Grace, Moment                        int    // seconds
	StdoutBlocks, StderrBlocks           int    // KiB that are kept of each output
	LastBytes                            int    // and those that are kept of the end of a longer one
	TimeUp                               string // name of the file after which no launch but the first begins
	Modules                              string // lines that load modules
	Setup                                bool
	Srun                                 bool   // srun starts the launches
	Helpers                              string // names of programs that the launcher looks for
	Unset                                string // environment variables that the job removes
	SrunUnset, Overlap                   string // those that steps of srun remove, and the one that they set
	Launches                             []scriptLaunch
	Side                                 bool // launches run concurrently
	Switches                             bool // each launch uses switches of its own
	Nodes                                int  // of the job
}

type scriptLaunch struct {
	Number  int
	Seconds string
	Command string

	// The fields below are set only in concurrent launches.
	Nodes  int
	Suffix string // follows each node's name in the hosts file
	Slices string // indices of its groups as runs first:count first:count …
	After  string // numbers of the launches that must end before it begins
}

type job struct {
	coll.Job
	launches []launch
	script   string
	files    map[string][]byte // by path in the folder of the job
	private  bool              // the files may contain secrets of the campaign file
}

func launchDir(i int) string { return strconv.Itoa(i + 1) }

func (m *Machine) jobDir(name string) string { return filepath.Join(m.opt.Dir, "jobs", name) }

func (m *Machine) render(d plannedJob, name string) (job, error) {
	j := job{
		Job: coll.Job{
			Name: name, State: coll.JobIntended, Requests: d.carries(),
			Nodes: d.nodes, LimitSeconds: d.limit.Seconds(),
		},
		launches: slices.Clone(d.launches),
		files:    map[string][]byte{},
		private:  len(m.opt.Env)+len(m.opt.Setup) > 0,
	}
	data := scriptData{
		Name: name, Dir: m.jobDir(name), Program: m.opt.Program.Name(), Launcher: m.opt.Launcher.Name(),
		Grace: int(grace.Seconds()), Moment: int(killGrace.Seconds()), Modules: benchrunner.LoadModules(m.opt.Modules), Setup: len(m.opt.Setup) > 0,
		Srun: m.opt.Launcher.Name() == benchrunner.Srun, Unset: strings.Join(benchrunner.Unset(m.opt.Launcher.Name()), " "),
		SrunUnset: strings.Join(benchrunner.Unset(benchrunner.Srun), " "), Overlap: benchrunner.SrunOverlap,
		Helpers:      strings.Join(benchrunner.Helpers(m.opt.Launcher.Name()), " "),
		StdoutBlocks: maxStdout >> 10, StderrBlocks: maxStderr >> 10, LastBytes: lastBytes, TimeUp: timeUpFile,
		Side: runsConcurrently(j.launches, j.Nodes), Nodes: j.Nodes,
	}
	if data.Switches = data.Side && d.switches != nil; data.Switches {
		j.files["switches"] = switchesText(d.switches)
	}
	if data.Setup {
		j.files["setup.sh"] = []byte(setupText(m.opt.Setup))
	}
	for i := range j.launches {
		j.launches[i].Dir = filepath.Join(data.Dir, launchDir(i))
		c, err := m.command(j.launches[i].Launch, launchDir(i), j.files, data.Side)
		if err != nil {
			return job{}, fmt.Errorf("job %s: %w", name, err)
		}
		one := scriptLaunch{Number: i + 1, Seconds: seconds(j.launches[i].Limit), Command: shellescape.QuoteCommand(c.args)}
		if data.Side {
			at := d.places[i]
			one.Nodes, one.Suffix, one.Slices, one.After = j.launches[i].Layout.Nodes, c.suffix, slicesOf(at.Groups), numbersOf(at.After)
		}
		data.Launches, data.Binary = append(data.Launches, one), c.binary
	}
	var text strings.Builder
	if err := jobTemplate.Execute(&text, data); err != nil {
		return job{}, fmt.Errorf("job %s: %w", name, err)
	}
	j.script = text.String()
	j.files["job.sh"] = []byte(j.script)
	return j, nil
}

// slicesOf returns a text with the indices of groups. Consecutive indices are written as first:count.
func slicesOf(groups []int) string {
	var runs []string
	for len(groups) > 0 {
		n := 1
		for n < len(groups) && groups[n] == groups[0]+n {
			n++
		}
		runs = append(runs, fmt.Sprintf("%d:%d", groups[0], n))
		groups = groups[n:]
	}
	return strings.Join(runs, " ")
}

func numbersOf(launches []int) string {
	var out []string
	for _, i := range launches {
		out = append(out, launchDir(i))
	}
	return strings.Join(out, " ")
}

// seconds formats a time limit for timeout(1). It is at least 0.001, because 0 would mean no limit.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(max(d.Seconds(), 0.001), 'f', 3, 64)
}

type launchCommand struct {
	args   []string
	binary string // path of the executable in the command
	suffix string // follows each node's name in the hosts file, if the launch runs concurrently
}

// command returns the command that starts a launch. It adds the files that the launch needs to the map `files`, whose keys
// are paths in the folder of the job. A concurrent launch gets its nodes from a file that the script writes.
func (m *Machine) command(s benchrunner.Launch, folder string, files map[string][]byte, concurrent bool) (launchCommand, error) {
	cmd, err := m.opt.Program.Command(s)
	if err != nil {
		return launchCommand{}, err
	}
	for name, content := range cmd.Files {
		files[filepath.Join(folder, name)] = content
	}
	cmd.Env = withFiles(slices.Concat(m.opt.Env, cmd.Env), s.Dir, folder, files)
	if err := checkVars(cmd.Env); err != nil {
		return launchCommand{}, err
	}
	c := launchCommand{binary: cmd.Executable()}
	files[filepath.Join(folder, variablesFile)] = variablesText(cmd.Env)
	hosts := ""
	if concurrent {
		hosts, c.suffix = filepath.Join(s.Dir, "hosts"), m.opt.Launcher.HostSuffix(s.Layout)
	}
	c.args = m.opt.Launcher.Args(s.Layout, cmd, hosts)
	for _, a := range slices.Concat(c.args, cmd.Args) {
		if strings.ContainsRune(a, 0) {
			return launchCommand{}, fmt.Errorf("argument %q has a zero byte", a)
		}
	}
	return c, nil
}

// variablesFile is the file in the folder of a launch that exports its environment variables. Only its owner may read
// it. In arguments of commands, every user of the node could read the values.
const variablesFile = "variables"

func variablesText(vars []mpi.Var) []byte {
	var b strings.Builder
	for _, v := range vars {
		fmt.Fprintf(&b, "export %s=%s\n", v.Name, shellescape.Quote(v.Value))
	}
	return []byte(b.String())
}

// withFiles adds the content of each variable that has a file to the map `files`, and sets the variable to
// the file's path. If several variables have the same name, the last one counts.
func withFiles(vars []mpi.Var, dir, folder string, files map[string][]byte) []mpi.Var {
	var out []mpi.Var
	for _, v := range vars {
		if v.File != nil {
			name := "var-" + v.Name
			files[filepath.Join(folder, name)] = v.File
			v.Value = filepath.Join(dir, name)
		}
		if i := slices.IndexFunc(out, func(o mpi.Var) bool { return o.Name == v.Name }); i >= 0 {
			out = slices.Delete(out, i, i+1)
		}
		out = append(out, v)
	}
	return out
}
