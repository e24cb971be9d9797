package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"tutti/coll"
	"tutti/mpi"
	"tutti/mpi/libraries"
)

func rulesCommand(a *app) *cobra.Command {
	return verbs(&cobra.Command{
		Use:   "rules",
		Short: "Check, show, compare and join selection files",
		Long: `rules reads the selection files of MPI libraries, from wherever they come: rules of
Open MPI's coll/tuned (version 1, version 2, JSON) and coll/han, selection trees of
MPICH and its device ch4 in JSON, and tables of the runtime library.`,
		Example: examples("tutti rules check /etc/openmpi/tuned.rules --for openmpi=5.0.7"),
	}, rulesCheckCommand(a), rulesShowCommand(a), rulesDiffCommand(a), rulesJoinCommand(a))
}

// releaseFlag adds the flag --for, which names the release that is to load a selection file.
func releaseFlag(cmd *cobra.Command, value *string) {
	cmd.Flags().StringVar(value, "for", "", "`LIBRARY[=VERSION[:PATH]]` that loads the file, PATH being libmpich.so; default: the first release that tutti was tried with and that has the format")
	completeReleases(cmd, "for", libraries.RuleLibraries())
}

// readRules reads a selection file for the value of --for.
func readRules(cmd *cobra.Command, path, release string) (*mpi.RuleFile, error) {
	f, err := libraries.ReadRules(path, release)
	switch {
	case err != nil && strings.HasPrefix(err.Error(), "--for"):
		return nil, usageError(cmd, err)
	case err != nil:
		return nil, withCode(codeInput, err)
	}
	return f, nil
}

func rulesCheckCommand(a *app) *cobra.Command {
	var release string
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Find errors in selection files, and what the library does then",
		Long: `check reads selection files as a release of the library reads them. It prints, each
with its line:

  error        the library ignores the whole file, or aborts with it
  harm         valid programs abort, hang or compute wrong results with this rule
  unreachable  no call can reach this rule
  note         anything else that is worth knowing

Libraries report few of these faults. Open MPI ignores a file with an error, prints
nothing, and selects as shipped. The exit code is 3 if there is an error or harm.`,
		Example: examples(
			"tutti rules check /etc/openmpi/tuned.rules --for openmpi=5.0.7",
			"tutti rules check tree.json --for mpich=4.2.3:/opt/mpich/lib/libmpich.so",
			"tutti rules check results/demo/*.rules --format json"),
		Args:              arguments(1, -1, "one selection file or more"),
		ValidArgsFunction: completeFiles,
	}
	releaseFlag(cmd, &release)
	a.formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var files []checkedFile
		bad := false
		for _, path := range args {
			f, err := readRules(cmd, path, release)
			if err != nil {
				return err
			}
			files = append(files, checkedFile{path, f})
			bad = bad || len(f.Of(mpi.FindingError))+len(f.Of(mpi.FindingHarm)) > 0
		}
		err := a.show(files, func() {
			for _, f := range files {
				a.printCheck(f)
			}
		})
		if err == nil && bad {
			return withCode(codeInput, errBadRules)
		}
		return err
	}
	return cmd
}

// checkedFile is the result of a check.
type checkedFile struct {
	File string `json:"file"`
	*mpi.RuleFile
}

func (a *app) printCheck(f checkedFile) {
	a.printFit("%s: %s", f.File, f.Format)
	a.printWrapped(f.Effect + ".")
	if f.Activation != "" {
		a.printWrapped("To load it: " + f.Activation + ".")
	}
	a.printFindings(f)
	var counts []string
	for _, kind := range mpi.FindingKinds() {
		if n := len(f.Of(kind)); n > 0 {
			counts = append(counts, countOf(n, kind))
		}
	}
	if len(counts) == 0 {
		counts = []string{"nothing found"}
	}
	a.printFit("%s: %s", f.File, strings.Join(counts, ", "))
}

// countOf returns a number of findings of a kind, such as "2 notes".
func countOf(n int, kind mpi.FindingKind) string {
	if kind == mpi.FindingError || kind == mpi.FindingNote {
		return plural(n, string(kind))
	}
	return fmt.Sprintf("%d %s", n, kind)
}

// printFindings prints the findings by line. Findings that differ in the line alone are on one line.
func (a *app) printFindings(f checkedFile) {
	type same struct {
		kind mpi.FindingKind
		text string
	}
	lines := map[same][]string{}
	for _, x := range f.Findings {
		lines[same{x.Kind, x.Text}] = append(lines[same{x.Kind, x.Text}], fmt.Sprint(x.Line))
	}
	for _, x := range f.Findings {
		at := lines[same{x.Kind, x.Text}]
		if len(at) == 0 {
			continue // printed with the first one
		}
		delete(lines, same{x.Kind, x.Text})
		place, more := f.File, ""
		if x.Line > 0 {
			place += ":" + at[0]
		}
		const most = 8
		if n := len(at); n > most {
			more = fmt.Sprintf(" (also at lines %s and %d more)", strings.Join(at[1:most], ", "), n-most)
		} else if n > 1 {
			more = fmt.Sprintf(" (also at %s %s)", map[bool]string{true: "line", false: "lines"}[n == 2], strings.Join(at[1:], ", "))
		}
		a.printFit("%s: %s: %s%s", place, x.Kind, x.Text, more)
	}
}

// listedRules is the result of show without points.
type listedRules struct {
	File string `json:"file"`
	*mpi.RuleFile
	Listing []mpi.ListedRule `json:"listing"`
}

func (a *app) printHead(path string, f *mpi.RuleFile) {
	a.printFit("%s: %s; %s", path, f.Format, f.Effect)
}

func (a *app) showListing(path string, f *mpi.RuleFile, collectives []coll.Collective) error {
	listing := slices.DeleteFunc(slices.Clone(f.Listing), func(r mpi.ListedRule) bool {
		c, err := coll.ParseCollective(r.Collective)
		return err == nil && !slices.Contains(collectives, c)
	})
	return a.show(listedRules{path, f, listing}, func() {
		rows := make([]table.Row, len(listing))
		for i, r := range listing {
			rows[i] = table.Row{r.Line, r.Collective, r.Algorithm, strings.Join(r.Rule, ", ")}
		}
		a.printHead(path, f)
		a.printTable(table.Row{"line", "collective", "algorithm", "serves"}, rows)
	})
}
