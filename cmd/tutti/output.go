package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"golang.org/x/term"

	"tutti/coll"
	"tutti/mpi/libraries"
	"tutti/report"
)

// show prints a value as JSON if --format asks for it. Otherwise it calls the function `text`, which prints the value
// for people.
func (a *app) show(v any, text func()) error {
	if a.format == formatJSON {
		return report.WriteJSON(unconverted(a.stdout), v)
	}
	text()
	return nil
}

// warn prints warnings to standard error. The summary of a campaign does not repeat them.
func (a *app) warn(warnings []string) {
	printWarnings(a.stderr, warnings)
	a.warned = append(a.warned, warnings...)
}

// announceAfter is the time after which a command says what it works on. It is half of the longest silence that users
// should meet, 2 s.
const announceAfter = time.Second

// announce prints a line to standard error if that is a terminal and the work takes longer than announceAfter. The
// caller must call the result at the end of the work.
func (a *app) announce(text string) (done func()) {
	if !onTerminal(a.stderr) {
		return func() {}
	}
	var once sync.Mutex // orders the line before or after the end of the work
	ended := false
	timer := time.AfterFunc(announceAfter, func() {
		once.Lock()
		defer once.Unlock()
		if !ended {
			a.printLine(text)
		}
	})
	return func() {
		once.Lock()
		defer once.Unlock()
		ended = true
		timer.Stop()
	}
}

func onTerminal(w io.Writer) bool {
	f, ok := ownFile(w).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// fit breaks the lines of a text between words at terminalWidth columns if w is a terminal. Logs keep one line for each
// message.
func fit(w io.Writer, text string) string {
	if !onTerminal(w) {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(report.Wrap(line, terminalWidth))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// printStopped prints that a command was interrupted, and the command that goes on with it, on a line of its own.
func (a *app) printStopped(openJobs, again string) {
	a.printLine("tutti: stopped; everything measured is in the journal." + openJobs + " Resume with:")
	fmt.Fprintf(a.stderr, "  %s\n", again)
}

// printFit prints a line on standard output, in lines of at most terminalWidth columns on a terminal.
func (a *app) printFit(format string, values ...any) {
	fmt.Fprintln(a.stdout, fit(a.stdout, fmt.Sprintf(format, values...)))
}

// printTable prints a header and rows in the style that all tables of tutti have.
func (a *app) printTable(header table.Row, rows []table.Row, numbers ...int) {
	fmt.Fprintln(a.stdout, report.TableWithin(a.width(), header, rows, numbers...))
}

// width returns the width of tables and maps on standard output: terminalWidth on a terminal, else 0, which is no limit.
func (a *app) width() int {
	if onTerminal(a.stdout) {
		return terminalWidth
	}
	return 0
}

// plural returns a number with its noun in the right form, for example "1 node" or "4 nodes".
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// printWrapped prints a text in lines of at most terminalWidth columns.
func (a *app) printWrapped(text string) { fmt.Fprint(a.stdout, report.Wrap(text, terminalWidth)) }

// printWarnings prints one line for each kind of warning: the first warning of this kind, and how many more
// there are. Two warnings are of one kind if they differ only in numbers and in names of libraries, collectives
// and algorithms.
func printWarnings[T any](w io.Writer, warnings []T) {
	var kinds []string
	same := map[string][]string{}
	for _, x := range warnings {
		text := fmt.Sprint(x)
		kind := variablePart().ReplaceAllString(text, "*")
		if same[kind] == nil {
			kinds = append(kinds, kind)
		}
		same[kind] = append(same[kind], text)
	}
	for _, kind := range kinds {
		more := ""
		if n := len(same[kind]) - 1; n > 0 {
			more = fmt.Sprintf(" (and %d more like this)", n)
		}
		fmt.Fprintln(w, fit(w, fmt.Sprintf("warning: %s%s", same[kind][0], more)))
	}
}

// variablePart matches the numbers and names in which warnings of one kind may differ.
var variablePart = sync.OnceValue(func() *regexp.Regexp {
	var names []string
	for _, c := range coll.Collectives() {
		names = append(names, string(c))
		for _, lib := range libraries.All() {
			names = append(names, lib.Facts().Name)
			for _, release := range lib.Releases() {
				for _, e := range release.Entries(c) {
					names = append(names, regexp.QuoteMeta(e.Name))
				}
			}
		}
	}
	return regexp.MustCompile(`\b(?:` + strings.Join(names, "|") + `)\b(?:\([^)]*\))?|[0-9][0-9.e+-]*(?:x[0-9]+)?`)
})
