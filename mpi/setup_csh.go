package mpi

import (
	"fmt"
	"slices"
	"strings"
)

// Csh returns a snippet that csh and tcsh can source, with the meaning of that of Shell. The error matches ErrSetup if a
// value has a character that csh cannot quote: one that is not printable ASCII, or an exclamation mark.
func (s Setup) Csh() ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	for _, x := range slices.Concat(s.all()...) {
		if strings.ContainsFunc(x.Value, func(r rune) bool { return r < ' ' || r > '~' || r == '!' }) {
			return nil, fmt.Errorf("%w: %s=%q: csh passes on printable ASCII without exclamation marks alone", ErrSetup, x.Name, x.Value)
		}
	}
	var b strings.Builder
	for _, r := range s.Remarks {
		fmt.Fprintf(&b, "# %s\n", strings.TrimRight(r, `\`)) // a backslash would continue the comment
	}
	if s.Order != "" {
		fmt.Fprintf(&b, "if ( $?%[1]s ) then\nif ( \"$%[1]s\" !~ %[2]s* ) %[3]s\nendif\n", orderVar, s.Order, cshWarning(warning(s.Order)))
	}
	if len(s.Layouts) == 0 {
		b.WriteString(s.setenvs(s.Settings))
		return []byte(b.String()), nil
	}
	for _, name := range s.partial() {
		fmt.Fprintf(&b, "unsetenv %s\n", name)
	}
	b.WriteString("set tutti_nodes = ''\nset tutti_ppn = ''\n")
	for _, v := range []struct{ local, name string }{{"tutti_nodes", nodesVar}, {"tutti_ppn", tasksVar}, {"tutti_ppn", ppnVar}} { // the last one outranks, as in Shell
		fmt.Fprintf(&b, "if ( $?%[2]s ) then\nset %[1]s = \"$%[2]s\"\nendif\n", v.local, v.name)
	}
	b.WriteString("switch (\"${tutti_nodes}x${tutti_ppn}\")\n")
	for _, l := range s.Layouts {
		names := spellings(l.Layout)
		fmt.Fprintf(&b, "case %s:\ncase %s:\n%sbreaksw\n", shellQuote(names[0]), shellQuote(names[1]), s.setenvs(l.Settings))
	}
	fmt.Fprintf(&b, "default:\n%sendsw\nunset tutti_nodes tutti_ppn\n", s.setenvs(s.Settings))
	return []byte(b.String()), nil
}

// setenvs returns settings as lines of csh.
func (s Setup) setenvs(settings []Setting) string {
	var b strings.Builder
	var files []string
	for _, x := range settings {
		if slices.Contains(s.Files, x.Name) {
			files = append(files, shellQuote(x.Value))
		}
		if slices.Contains(s.Lists, x.Name) {
			fmt.Fprintf(&b, "if ( ! $?%[1]s ) setenv %[1]s ''\nif ( \"$%[1]s\" == '' ) then\nsetenv %[1]s %[2]s\nelse\nsetenv %[1]s %[2]s\":$%[1]s\"\nendif\n", x.Name, shellQuote(x.Value))
			continue
		}
		fmt.Fprintf(&b, "setenv %s %s\n", x.Name, shellQuote(x.Value))
	}
	if len(files) == 0 {
		return b.String()
	}
	return fmt.Sprintf("if ( %s ) then\n%selse\n%s %s\nendif\n",
		eachFile("-r %[1]s && ! -z %[1]s", files), &b, cshWarning(notUsable), strings.Join(files, " "))
}

// cshWarning returns a command that prints a text, and its further arguments, as lines to standard error, which csh itself
// cannot do. The text must not contain quotes.
func cshWarning(text string) string {
	return `/bin/sh -c 'printf "%s\n" "$@" >&2' sh ` + "'" + text + "'"
}
