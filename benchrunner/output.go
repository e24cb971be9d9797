package benchrunner

import (
	"regexp"
	"slices"
	"strings"
)

// Lines returns the complete lines of standard output as the ranks printed them, without
// the tags and time stamps that launchers add. It leaves out a last line without a line
// end, which was truncated by a crash or a full disk.
func (o Output) Lines() []string {
	lines := strings.Split(string(o.Stdout), "\n")
	lines = lines[:len(lines)-1]
	for i, line := range lines {
		lines[i] = untagged(strings.TrimRight(line, "\r"))
	}
	return lines
}

var (
	// Open MPI: [1,0]<stdout>:text, [prterun-n1-5@1,0]<stdout>: text, possibly with a time
	// stamp.
	openMPITag = regexp.MustCompile(`^[^<>]*<std(out|err|diag)>: ?`)
	// MPICH's -l: [0] text, with another [0] wherever the rank wrote part of a line.
	hydraTag = regexp.MustCompile(`\[[0-9]+\] `)
	// Slurm's -l: 0: text.
	srunTag = regexp.MustCompile(`^ *[0-9]+: `)
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

// LastMessage returns the last non-empty line of standard error, else of standard output,
// "" if both are empty. It ignores Slurm's comments on the end of the program if there is
// any other line.
func (o Output) LastMessage() string {
	for _, text := range [][]byte{o.Stderr, o.Stdout} {
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		ofSlurm := ""
		for _, line := range slices.Backward(lines) {
			line = strings.TrimSpace(untagged(line))
			switch {
			case strings.Trim(line, "-=* ") == "" || strings.HasPrefix(line, placementMark):
			case !slurmForm.MatchString(line):
				return line
			case ofSlurm == "" && strings.Contains(line, ": error: "):
				ofSlurm = line
			}
		}
		if ofSlurm != "" {
			return ofSlurm
		}
	}
	return ""
}

// FirstMessage returns the first non-empty line of standard error, "" if there is none.
// Later lines are often complaints of launchers.
func (o Output) FirstMessage() string {
	for line := range strings.Lines(string(o.Stderr)) {
		line = strings.TrimSpace(untagged(strings.TrimSpace(line)))
		if strings.Trim(line, "-=* ") != "" && !strings.HasPrefix(line, placementMark) {
			return line
		}
	}
	return ""
}

var slurmForm = regexp.MustCompile(`^(srun|slurmstepd)(-[^ :]+)?: `)

var refusals = []struct {
	form *regexp.Regexp
	text string // refers to groups of the form
}{
	// Open MPI prints this and then uses its own choice, with exit code 0.
	{regexp.MustCompile(`(?s)An invalid value was supplied for an enum variable.*?Variable\s*: (\S+).*?Value\s*: ([^\n]*)`), "Open MPI has no value $2 for $1 and ran its own choice"},
	{regexp.MustCompile(`An invalid value was supplied for an enum variable`), "Open MPI refused an algorithm and ran its own choice"},
	// MPICH prints this and fails, or uses its own choice if MPIR_CVAR_COLLECTIVE_FALLBACK
	// is print.
	{regexp.MustCompile(`([A-Z][a-z_]+ [a-z_]+ cannot be applied)`), "MPICH: $1"},
	{regexp.MustCompile(`(User set collective algorithm is not usable)`), "MPICH: $1"},
	{regexp.MustCompile(`(Invalid MPIR_CVAR_\w+ value \([^)\n]*\))`), "MPICH: $1"},
}

// Refusal returns the library's message that it does not run the requested algorithm, from
// either stream, "" if there is none. Exit codes do not show this.
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
