package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"tutti/internal/testutil"
)

// TestReference checks that the generated reference of all commands is up to date.
func TestReference(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Commands\n\nGenerated from the help texts: `go test ./cmd/tutti -run Reference -update`.\n\n")
	root := rootCommand(&app{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}})
	var list func(cmd *cobra.Command)
	list = func(cmd *cobra.Command) {
		if cmd.HasAvailableSubCommands() && cmd.Name() != "completion" {
			for _, sub := range cmd.Commands() {
				list(sub)
			}
			return
		}
		if cmd.Name() != "help" {
			writeCommand(&b, cmd)
		}
	}
	for _, g := range root.Groups() {
		fmt.Fprintf(&b, "# %s\n\n", strings.TrimSuffix(g.Title, ":"))
		for _, cmd := range root.Commands() {
			if cmd.GroupID == g.ID {
				list(cmd)
			}
		}
	}
	b.WriteString("# Other\n\n")
	for _, cmd := range root.Commands() {
		if cmd.GroupID == "" {
			list(cmd)
		}
	}
	testutil.CheckGolden(t, "../../../docs/reference/commands.md", []byte(strings.TrimRight(b.String(), "\n")+"\n"))
}

// writeCommand writes the section of one command: usage, help, flags and examples.
func writeCommand(b *strings.Builder, cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	fmt.Fprintf(b, "## %s\n\n%s.\n\n    %s\n\n", cmd.CommandPath(), cmd.Short, cmd.UseLine())
	if long := strings.TrimSpace(wrapDescription(cmd.Long)); long != "" && cmd.Name() != "completion" {
		fmt.Fprintf(b, "```text\n%s\n```\n\n", long)
	}
	if flags := strings.TrimRight(cmd.NonInheritedFlags().FlagUsagesWrapped(80)+cmd.InheritedFlags().FlagUsagesWrapped(80), "\n"); flags != "" {
		fmt.Fprintf(b, "```text\n%s\n```\n\n", flags)
	}
	if cmd.Example != "" {
		fmt.Fprintf(b, "Examples:\n\n```sh\n%s\n```\n\n", strings.ReplaceAll(strings.TrimPrefix(cmd.Example, "  "), "\n  ", "\n"))
	}
}

// TestSpackPackage checks that the Spack package names the current version and the required
// release of Go.
func TestSpackPackage(t *testing.T) {
	recipe := string(readFile(t, "../../contrib/spack/packages/tutti/package.py"))
	mod := testutil.Must(os.ReadFile("../../go.mod"))(t)
	needs := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(mod)
	for _, want := range []string{
		fmt.Sprintf("version(%q)", version), fmt.Sprintf("dev-build tutti@%s\n", version), fmt.Sprintf(`depends_on("go@%s:", type="build")`, needs[1]),
	} {
		if !strings.Contains(recipe, want) {
			t.Errorf("the Spack package has no %s", want)
		}
	}
}

// TestREADMEDemo runs the campaign of make demo, and compares what it prints with the README.
func TestREADMEDemo(t *testing.T) {
	testutil.NeedAllCases(t)
	root := testutil.Root(t)
	t.Chdir(t.TempDir())
	printed, _ := mustTutti(t, codeDone, "tune", "-c", filepath.Join(root, "configs", "demo.yaml"), "--out", "results/demo")
	if _, shown, _ := strings.Cut(string(readFile(t, filepath.Join(root, "README.md"))), "$ make demo\n"); !strings.HasPrefix(shown, printed+"```\n") {
		t.Errorf("the README shows\n%s\nwhere make demo has\n%s", shown, printed)
	}
}
