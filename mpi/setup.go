package mpi

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/renameio/v2"

	"tutti/coll"
	"tutti/internal/lazyregexp"
)

// ErrSetup is the error for settings that a shell snippet or a module file cannot express.
var ErrSetup = errors.New("bad settings")

// Setting is an environment variable that makes a library read a selection file.
type Setting struct{ Name, Value string }

// Setup is the environment in which a library uses a selection. It can be written as a snippet for POSIX
// shells, and as an environment module.
type Setup struct {
	Remarks  []string  // comments, a line each
	Settings []Setting // for jobs of every layout that has no settings of its own
	Layouts  []LayoutSettings
	Lists    []string // colon-separated list variables: the new value precedes the old one
	Files    []string // variables that name a file: if a file is not readable, a warning replaces the settings

	Prereq   []string // environment modules that must be loaded before the module with the settings
	Conflict string   // environment module that must not be loaded together with it; "" for none

	// Order is the order of ranks during the measurements, or empty if it is unknown. A warning appears in
	// a Slurm job that has another order.
	Order coll.Order
}

// LayoutSettings holds the settings for jobs of one layout.
type LayoutSettings struct {
	Layout   coll.Layout
	Settings []Setting
}

// For returns the settings for jobs of a layout: the layout's own ones if it has any, otherwise Settings.
func (s Setup) For(l coll.Layout) []Setting {
	for _, own := range s.Layouts {
		if own.Layout == l {
			return own.Settings
		}
	}
	return s.Settings
}

// Distinct returns the different sets of settings, those for jobs of the given layout first.
func (s Setup) Distinct(first coll.Layout) [][]Setting {
	out := [][]Setting{s.For(first)}
	for _, set := range s.all() {
		if !slices.ContainsFunc(out, func(o []Setting) bool { return slices.Equal(o, set) }) {
			out = append(out, set)
		}
	}
	return out
}

// The environment variables in which Slurm describes the layout of a job. They are unset outside of jobs.
// If the nodes of a job have different numbers of ranks, tasksVar holds a list, which matches no layout.
const (
	nodesVar = "SLURM_JOB_NUM_NODES"
	ppnVar   = "SLURM_NTASKS_PER_NODE" // only if it was requested
	tasksVar = "SLURM_TASKS_PER_NODE"  // 4, 4(x2) for two nodes, 4(x2),3
)

const shellCase = `case "${` + nodesVar + `:-}x${` + ppnVar + `:-${` + tasksVar + `:-}}" in`

// spellings returns the two texts that stand for a layout in a case statement of the shell. The first
// applies if ppnVar is set or there is one node. The second comes from tasksVar and applies to several
// nodes.
func spellings(l coll.Layout) [2]string {
	return [2]string{l.String(), fmt.Sprintf("%s(x%d)", l, l.Nodes)}
}

var variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// check returns an error for settings that cannot be written. A value may contain any byte except NUL.
func (s Setup) check() error {
	for _, r := range s.Remarks {
		if strings.ContainsFunc(r, unicode.IsControl) || !utf8.ValidString(r) {
			return fmt.Errorf("%w: remark %q: want one line of text", ErrSetup, r)
		}
	}
	seen := map[coll.Layout]bool{}
	for _, l := range s.Layouts {
		if seen[l.Layout] || l.Layout.Nodes < 1 || l.Layout.PPN < 1 {
			return fmt.Errorf("%w: layout %s: want each once, with nodes and ranks", ErrSetup, l.Layout)
		}
		seen[l.Layout] = true
	}
	for _, set := range s.all() {
		names := map[string]bool{}
		for _, x := range set {
			if !variableName.MatchString(x.Name) || names[x.Name] {
				return fmt.Errorf("%w: variable %q: want letters, digits and _, each variable once", ErrSetup, x.Name)
			}
			if strings.IndexByte(x.Value, 0) >= 0 {
				return fmt.Errorf("%w: %s=%q: a variable holds no NUL", ErrSetup, x.Name, x.Value)
			}
			names[x.Name] = true
		}
	}
	return nil
}

func (s Setup) all() [][]Setting {
	var out [][]Setting
	for _, l := range s.Layouts {
		out = append(out, l.Settings)
	}
	return append(out, s.Settings)
}

// partial returns the names of the variables that only some layouts set, sorted. For all other layouts
// these variables must be unset.
func (s Setup) partial() []string {
	count := map[string]int{}
	for _, x := range slices.Concat(s.all()...) {
		count[x.Name]++
	}
	maps.DeleteFunc(count, func(_ string, n int) bool { return n > len(s.Layouts) })
	return slices.Sorted(maps.Keys(count))
}

// Shell returns a snippet that any POSIX shell can source, even under set -eu. If some layouts have their
// own settings, the snippet reads the layout from the environment variables of the Slurm job. Outside of
// jobs, the settings without a layout apply.
func (s Setup) Shell() ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, r := range s.Remarks {
		fmt.Fprintf(&b, "# %s\n", r)
	}
	if s.Order != "" {
		fmt.Fprintf(&b, "case \"${%s:-%s}\" in %[2]s*) ;; *) echo '%[3]s' >&2 ;; esac\n", orderVar, s.Order, warning(s.Order))
	}
	if len(s.Layouts) == 0 {
		b.Write(s.exports(s.Settings))
		return b.Bytes(), nil
	}
	if names := s.partial(); len(names) > 0 {
		fmt.Fprintf(&b, "unset %s\n", strings.Join(names, " "))
	}
	b.WriteString(shellCase + "\n")
	for _, l := range s.Layouts {
		names := spellings(l.Layout)
		fmt.Fprintf(&b, "'%s'|'%s')\n%s;;\n", names[0], names[1], s.exports(l.Settings))
	}
	fmt.Fprintf(&b, "*)\n%s;;\nesac\n", s.exports(s.Settings))
	return b.Bytes(), nil
}

// Module returns an environment module in Tcl, for Environment Modules and for Lmod. `about` is
// the line that the command "module whatis" prints. If a value is not printable ASCII, the error matches
// ErrSetup. Module systems would wrap its lines, or print its characters depending on the locale.
func (s Setup) Module(about string) ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if strings.ContainsFunc(about, unicode.IsControl) || !utf8.ValidString(about) {
		return nil, fmt.Errorf("%w: %q: want one line of text", ErrSetup, about)
	}
	for _, x := range slices.Concat(s.all()...) {
		if strings.ContainsFunc(x.Value, func(r rune) bool { return r < ' ' || r > '~' }) {
			return nil, fmt.Errorf("%w: %s=%q: module files pass on printable ASCII alone", ErrSetup, x.Name, x.Value)
		}
	}
	var b strings.Builder
	b.WriteString("#%Module1.0\n")
	for _, r := range s.Remarks {
		// A comment in Tcl that ends in a backslash would continue on the next line.
		fmt.Fprintf(&b, "# %s\n", strings.TrimRight(r, `\`))
	}
	fmt.Fprintf(&b, "module-whatis %s\n", tclWord(about))
	if s.Conflict != "" {
		fmt.Fprintf(&b, "conflict %s\n", tclWord(s.Conflict))
	}
	for _, module := range s.Prereq {
		fmt.Fprintf(&b, "prereq %s\n", tclWord(module))
	}
	if s.Order != "" {
		fmt.Fprintf(&b, `if {[info exists ::env(%[1]s)] && ![string match "%[2]s*" $::env(%[1]s)] && [module-info mode load]} {
    puts stderr "%[3]s"
}
`, orderVar, s.Order, warning(s.Order))
	}
	if len(s.Layouts) == 0 {
		b.WriteString(s.tcl(s.Settings, ""))
		return []byte(b.String()), nil
	}
	fmt.Fprintf(&b, `set tutti_nodes ""
set tutti_ppn ""
if {[info exists ::env(%[1]s)]} { set tutti_nodes $::env(%[1]s) }
foreach tutti_name {%[2]s %s} {
    if {$tutti_ppn eq "" && [info exists ::env($tutti_name)]} { set tutti_ppn $::env($tutti_name) }
}
`, nodesVar, ppnVar, tasksVar)
	b.WriteString("switch -exact -- \"${tutti_nodes}x${tutti_ppn}\" {\n")
	for _, l := range s.Layouts {
		names := spellings(l.Layout)
		fmt.Fprintf(&b, "    %s - %s {\n%s    }\n", tclWord(names[0]), tclWord(names[1]), s.tcl(l.Settings, "        "))
	}
	fmt.Fprintf(&b, "    default {\n%s    }\n}\n", s.tcl(s.Settings, "        "))
	return []byte(b.String()), nil
}

// notUsable is the warning that precedes the paths of the files. An empty file, such as a copy on a full disk,
// would make MPICH crash.
const notUsable = "tutti: nothing is set and the MPI library keeps its defaults, because a file is missing, empty or not readable:"

// exports returns settings as lines of a POSIX shell script. A value may contain any character except NUL.
func (s Setup) exports(settings []Setting) []byte {
	var b bytes.Buffer
	var files []string
	for _, x := range settings {
		if slices.Contains(s.Files, x.Name) {
			files = append(files, shellQuote(x.Value))
		}
		behind := ""
		if slices.Contains(s.Lists, x.Name) {
			behind = fmt.Sprintf(`"${%[1]s:+:$%[1]s}"`, x.Name)
		}
		fmt.Fprintf(&b, "export %s=%s%s\n", x.Name, shellQuote(x.Value), behind)
	}
	if len(files) == 0 {
		return b.Bytes()
	}
	return fmt.Appendf(nil, "if %s; then\n%selse\nprintf '%%s\\n' '%s' %s >&2\nfi\n",
		eachFile("[ -r %[1]s ] && [ -s %[1]s ]", files), &b, notUsable, strings.Join(files, " "))
}

// eachFile returns the text of a condition that is true if all files meet it. `format` is the condition
// for one file, in which %[1]s stands for the file's name.
func eachFile(format string, files []string) string {
	conditions := make([]string, len(files))
	for i, f := range files {
		conditions[i] = fmt.Sprintf(format, f)
	}
	return strings.Join(conditions, " && ")
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// tcl returns settings as lines of a module. Loading checks that the files can be read and are not empty. Unloading
// removes the settings without this check.
func (s Setup) tcl(settings []Setting, indent string) string {
	var b strings.Builder
	var files []string
	for _, x := range settings {
		if slices.Contains(s.Files, x.Name) {
			files = append(files, tclWord(x.Value))
		}
		command := "setenv"
		if slices.Contains(s.Lists, x.Name) {
			command = "prepend-path"
		}
		fmt.Fprintf(&b, "%s%s %s %s\n", indent, command, x.Name, tclWord(x.Value))
	}
	if len(files) == 0 {
		return b.String()
	}
	return fmt.Sprintf("%[1]sif {![module-info mode load] || %[2]s} {\n%[3]s%[1]s} else {\n%[1]sputs stderr [join [list %[4]s %[5]s] \\n]\n%[1]s}\n",
		indent, eachFile("[file readable %[1]s] && [file size %[1]s]", files), &b, tclWord(notUsable), strings.Join(files, " "))
}

// tclWord quotes a text for Tcl. It also escapes braces, because Tcl counts braces inside a block.
func tclWord(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`).Replace(s) + `"`
}

// orderVar is the environment variable in which Slurm stores the order of ranks that a job requested. Its
// values are block, block:cyclic, cyclic, plane=4 and so on.
const orderVar = "SLURM_DISTRIBUTION"

// warning returns the text of the warning that is printed in a Slurm job with another order of ranks than `o`. It has no
// characters that are special in shells or Tcl.
func warning(o coll.Order) string {
	return fmt.Sprintf("tutti: these settings hold for ranks in %s order, this job has another one (%s)", o, orderVar)
}

// WriteFile replaces a file atomically and makes it readable for all users. A job that loads an incomplete
// selection file would stop.
func WriteFile(path string, content []byte) error {
	err := renameio.WriteFile(path, content, 0o644)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err // without the name of the temporary file
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
