package doctor

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"
)

// prepare takes over what a campaign gives its benchmarks: what the modules and the
// lines of bash make of the environment, run here as jobs run them, and its variables.
func (x *examiner) prepare(ctx context.Context) {
	n := x.options.Needs
	if n == nil {
		return
	}
	x.setUp(ctx, n)
	x.environ = append(x.environ, n.Env...)
	if n.Bin != "" {
		x.environ = append(x.environ, "PATH="+n.Bin+":"+x.getenv("PATH"))
	}
}

// setUp runs the modules and the lines of bash of a campaign and keeps the environment
// that they leave.
func (x *examiner) setUp(ctx context.Context, n *Needs) {
	if len(n.Modules)+len(n.Setup) == 0 {
		return
	}
	bash := cmp.Or(x.look("bash"), "/bin/bash")
	r := x.run(ctx, command{args: []string{bash, "-c", setUpScript(n)}, dir: x.options.Dir, limit: x.limits.compile})
	environ := strings.Split(strings.TrimSuffix(r.Stdout, "\x00"), "\x00")
	switch {
	case r.TimedOut:
		x.add(need("set-up", Warning, "run its lines by hand", "runner.modules and runner.setup do not end here within "+x.limits.compile.String()))
	case r.Err != nil || len(environ) < 2:
		x.add(need("set-up", Warning, "run its lines by hand; what works on the nodes only is not seen here", "runner.modules and runner.setup do not work here: "+r.said()))
	default:
		x.environ = quiet(environ)
		x.add(need("set-up", OK, "", "runner.modules and runner.setup work here"))
	}
}

// setUpScript prints the environment behind the set-up, each variable with a zero byte
// behind it; whatever the set-up prints goes to standard error.
func setUpScript(n *Needs) string {
	var b strings.Builder
	b.WriteString("exec 3>&1 1>&2\n")
	if len(n.Modules) > 0 {
		b.WriteString("if ! type module >/dev/null 2>&1; then\n" +
			"for file in /etc/profile.d/modules.sh /etc/profile.d/lmod.sh /etc/profile.d/z00_lmod.sh; do\n" +
			"if [ -r \"$file\" ]; then . \"$file\"; fi\ndone\nfi\n")
	}
	for _, m := range n.Modules {
		b.WriteString("module load " + shellescape.Quote(m) + " || exit 1\n")
	}
	for _, line := range n.Setup {
		b.WriteString(line + "\n")
	}
	b.WriteString("command -p env -0 >&3\n")
	return b.String()
}

// envOf returns the variables that a campaign gives the programs of a library.
func (n *Needs) envOf(library string) []string {
	if n == nil {
		return nil
	}
	i := slices.IndexFunc(n.Libraries, func(l NeededLibrary) bool { return l.Name == library })
	if i < 0 {
		return nil
	}
	return n.Libraries[i].Env
}

// envFor returns the variables that a campaign gives a program that it names.
func (n *Needs) envFor(program string) []string {
	if n == nil {
		return nil
	}
	for _, l := range n.Libraries {
		if real(program) == real(l.Benchmark) || strings.HasPrefix(real(program), real(l.Benchmark)+"/") {
			return l.Env
		}
	}
	return nil
}
