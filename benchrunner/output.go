package benchrunner

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strings"

	"tutti/internal/lazyregexp"
)

// Lines returns the complete lines of standard output, without the tags and time stamps that launchers add.
// It omits a last line without line end, because a crash or a full disk has truncated this line. One line at a time is in
// memory besides the output: a program may print millions of short lines.
func (o Output) Lines() iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range bytes.Lines(o.Stdout) {
			whole, ok := bytes.CutSuffix(line, []byte("\n"))
			if ok && !yield(untagged(strings.TrimRight(string(whole), "\r"))) {
				return
			}
		}
	}
}

var (
	// Tags of Open MPI, possibly with a time stamp: [1,0]<stdout>:text, [prterun-n1-5@1,0]<stdout>: text.
	openMPITag = lazyregexp.New(`^[^<>]*<std(out|err|diag)>: ?`)
	// MPICH's option -l prints [0] before each text that a rank writes, also in the middle of a line.
	hydraTag = lazyregexp.New(`\[[0-9]+\] `)
	// Slurm's -l: 0: text.
	srunTag = lazyregexp.New(`^ *[0-9]+: `)
)

func untagged(line string) string {
	if strings.Contains(line, "<std") {
		if at := openMPITag.FindStringIndex(line); at != nil {
			return line[at[1]:]
		}
	}
	if strings.HasPrefix(line, "[") {
		if at := hydraTag.FindStringIndex(line); at != nil && at[0] == 0 {
			return hydraTag.ReplaceAllString(line, "")
		}
	}
	if strings.Contains(line, ": ") {
		if at := srunTag.FindStringIndex(line); at != nil {
			return line[at[1]:]
		}
	}
	return line
}

// mostMessages is the number of bytes at the end of an output in which LastMessage looks.
const mostMessages = 1 << 20

// LastMessage returns the last line that says something about the failure, "" if there is none. It looks in
// standard error first, then in standard output. An error of Slurm about the end of the program counts only if
// there is no other line. Of the lines of hydra, which trace one error from its cause on, the first one counts. The help
// texts of Open MPI's launcher come then, and last what a shell says of a process that its launcher ended.
func (o Output) LastMessage() string {
	for _, text := range [][]byte{o.Stderr, o.Stdout} {
		text = bytes.TrimSpace(text)
		lines, help := WithoutHelp(strings.Split(string(text[max(0, len(text)-mostMessages):]), "\n"))
		ofSlurm, ofHydra, ofShell := "", "", ""
		for _, line := range slices.Backward(lines) {
			line = strings.TrimSpace(untagged(line))
			switch {
			case strings.Trim(line, "-=* ") == "" || strings.HasPrefix(line, placementMark):
			case hydraForm.MatchString(line):
				ofHydra = line
			case line == "Terminated" || line == "Killed":
				ofShell = line
			case !slurmForm.MatchString(line):
				return line
			case ofSlurm == "" && strings.Contains(line, ": error: "):
				ofSlurm = line
			}
		}
		if words := cmp.Or(ofHydra, ofSlurm, help, ofShell); words != "" {
			return words
		}
	}
	return ""
}

// mostHelp is the largest number of bytes of a help text in a message: its reason and its first remedies.
const mostHelp = 400

// WithoutHelp removes the help texts of Open MPI's launchers, which are between two rows of dashes. It also
// returns the first of these texts in one line. Of a long text it returns the first sentences.
func WithoutHelp(lines []string) (others []string, help string) {
	var words []string
	inside, texts := false, 0
	for _, line := range lines {
		switch {
		case len(line) > 60 && strings.Trim(line, "-") == "":
			if inside = !inside; inside {
				texts++
			}
		case !inside:
			others = append(others, line)
		case texts == 1:
			words = append(words, strings.Fields(line)...)
		}
	}
	help = strings.Join(words, " ")
	if len(help) > mostHelp {
		help = strings.ToValidUTF8(help[:mostHelp], "")
		if end := strings.LastIndex(help, ". "); end > 0 {
			help = help[:end+1]
		} else {
			help += " …"
		}
	}
	return others, help
}

// FirstMessage returns the first non-empty line of standard error, "" if there is none. Later lines often come
// from the launcher.
func (o Output) FirstMessage() string {
	for line := range strings.Lines(string(o.Stderr)) {
		line = strings.TrimSpace(untagged(strings.TrimSpace(line)))
		if strings.Trim(line, "-=* ") != "" && !strings.HasPrefix(line, placementMark) {
			return line
		}
	}
	return ""
}

var hydraForm = lazyregexp.New(`^\[(mpiexec|proxy:[0-9:]+)@[^]]*\] \S+ \([^)]*\): `)

var slurmForm = lazyregexp.New(`^(srun|slurmstepd)(-[^ :]+)?: `)

var refusals = []struct {
	form *lazyregexp.Regexp
	text string // the message; $1 and $2 are groups of the form
}{
	// Open MPI prints this message, chooses another algorithm and ends with exit code 0.
	{lazyregexp.New(`(?s)An invalid value was supplied for an enum variable.*?Variable\s*: (\S+).*?Value\s*: ([^\n]*)`), "Open MPI has no value $2 for $1 and ran its own choice"},
	{lazyregexp.New(`An invalid value was supplied for an enum variable`), "Open MPI refused an algorithm and ran its own choice"},
	// MPICH prints this message and fails. If MPIR_CVAR_COLLECTIVE_FALLBACK is print, MPICH does not fail
	// and chooses another algorithm.
	{lazyregexp.New(`([A-Z][a-z_]+ [a-z_]+ cannot be applied)`), "MPICH: $1"},
	{lazyregexp.New(`(User set collective algorithm is not usable)`), "MPICH: $1"},
	{lazyregexp.New(`(Invalid MPIR_CVAR_\w+ value \([^)\n]*\))`), "MPICH: $1"},
}

// Refusal returns the message with which the library refused to run the requested algorithm, "" if there is
// none. It searches standard error and standard output, because the exit code may be 0.
func (o Output) Refusal() string {
	for _, stream := range [][]byte{o.Stderr, o.Stdout} {
		for _, r := range refusals {
			if at := r.form.FindSubmatchIndex(stream); at != nil {
				return string(r.form.Expand(nil, []byte(r.text), stream, at))
			}
		}
	}
	return ""
}
