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

// In a script, whatever is not a word of ours goes through quote, and into a
// comment through comment.
var jobTemplate = template.Must(template.New("job.sh").Funcs(template.FuncMap{
	"quote":   shellescape.Quote,
	"comment": oneLine,
}).Parse(jobText))

type scriptData struct {
	Name, Dir, Program, Launcher, Binary string
	Grace, Moment                        int // seconds
	Modules                              []string
	Setup                                bool
	Launches                             []scriptLaunch
	Side                                 bool // launches run side by side
	Switches                             bool // each on switches of its own
	Nodes                                int  // of the job
}

type scriptLaunch struct {
	Number  int
	Seconds string
	Command string

	// Of starts side by side.
	Nodes  int
	Suffix string // of the lines of its hosts file
	Slices string // its groups: first:number first:number …
	After  string // numbers of the starts that must have ended before it begins
}

// place says where and after which others a start runs.
func (s *scriptLaunch) place(at benchrunner.Place, nodes int, suffix string) {
	s.Nodes, s.Suffix, s.Slices, s.After = nodes, suffix, slicesOf(at.Groups), numbersOf(at.After)
}

// job is a draft with a name and all that its folder holds.
type job struct {
	coll.Job
	launches []launch
	script   string
	files    map[string][]byte // by path in the folder of the job
}

// launchDir is the folder of a start inside that of its job.
func launchDir(i int) string { return strconv.Itoa(i + 1) }

// jobDir is the folder of a job.
func (m *Machine) jobDir(name string) string { return filepath.Join(m.opt.Dir, "jobs", name) }

// render makes a job of a draft.
func (m *Machine) render(d plannedJob, name string) (job, error) {
	j := job{
		Job: coll.Job{
			Name: name, State: coll.JobIntended, Carries: d.carries(),
			Nodes: d.nodes, LimitSeconds: d.limit.Seconds(),
		},
		launches: slices.Clone(d.launches),
		files:    map[string][]byte{},
	}
	data := scriptData{
		Name: name, Dir: m.jobDir(name), Program: m.opt.Program.Name(), Launcher: m.opt.Launcher.Name(),
		Grace: int(grace.Seconds()), Moment: int(killGrace.Seconds()), Modules: m.opt.Modules, Setup: len(m.opt.Setup) > 0,
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
			one.place(d.places[i], j.launches[i].Layout.Nodes, c.suffix)
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

// slicesOf writes groups as runs of successive ones, first:number.
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

// numbersOf writes the numbers of starts.
func numbersOf(launches []int) string {
	var out []string
	for _, i := range launches {
		out = append(out, launchDir(i))
	}
	return strings.Join(out, " ")
}

// seconds is a limit for timeout(1), where zero would be none.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(max(d.Seconds(), 0.001), 'f', 3, 64)
}

// launchCommand is what a script runs for a start.
type launchCommand struct {
	args   []string
	binary string // the program in it
	suffix string // of the lines of its hosts file, when it runs beside others
}

// command returns what runs a start. The files of the start join files, by their path
// in the folder of the job. Beside others it has its nodes in a file that the script
// writes.
func (m *Machine) command(s benchrunner.Launch, folder string, files map[string][]byte, concurrent bool) (launchCommand, error) {
	cmd, err := m.opt.Program.Command(s)
	if err != nil {
		return launchCommand{}, err
	}
	for name, content := range cmd.Files {
		if !word.MatchString(name) || slices.Contains(ownFiles, name) || strings.HasPrefix(name, "var-") {
			return launchCommand{}, fmt.Errorf("program %s: file %q: want letters, digits and ._-, none of %s", m.opt.Program.Name(), name, strings.Join(ownFiles, " "))
		}
		files[filepath.Join(folder, name)] = content
	}
	launcher := withFiles(m.opt.Launcher.Env(), s.Dir, folder, files)
	cmd.Env = withFiles(slices.Concat(m.opt.Env, cmd.Env), s.Dir, folder, files)
	if err := checkVars(slices.Concat(launcher, cmd.Env)); err != nil {
		return launchCommand{}, err
	}
	c := launchCommand{args: []string{"env"}, binary: cmd.Executable()}
	for _, v := range slices.Concat(launcher, cmd.Env) {
		c.args = append(c.args, v.Name+"="+v.Value)
	}
	args := m.opt.Launcher.Args(s.Layout, cmd)
	if concurrent {
		args, c.suffix, err = m.opt.Launcher.(benchrunner.Placer).On(filepath.Join(s.Dir, "hosts"), s.Layout, cmd)
		if err != nil {
			return launchCommand{}, err
		}
	}
	c.args = append(c.args, args...)
	for _, a := range slices.Concat(c.args, cmd.Args) {
		if strings.ContainsRune(a, 0) {
			return launchCommand{}, fmt.Errorf("argument %q has a zero byte", a)
		}
	}
	if len(cmd.Args) == 0 {
		return launchCommand{}, fmt.Errorf("program %s: Command returned no argument", m.opt.Program.Name())
	}
	return c, nil
}

// ownFiles are what a start leaves in its folder.
var ownFiles = []string{"hosts", "stdout", "stderr", "begin", "end", "end.new"}

// withFiles gives variables with a file its path, and of each name the last.
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
