package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"

	"tutti/internal/config"
)

func (a *app) initCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a commented campaign file",
		Long: `init writes a campaign file with every key that serves the runner, its meaning and
its default. It does not overwrite a file. - writes to standard output.`,
		Example: indent("tutti init night.yaml", "tutti init night.yaml --runner slurm", "tutti init -"),
		Args:    arguments(0, 1, "one file"),
	}
	kind := cmd.Flags().String("runner", config.Replay, "`KIND` of runner to write it for: "+strings.Join(config.Kinds(), ", "))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !slices.Contains(config.Kinds(), *kind) {
			return usageError(cmd, fmt.Errorf("--runner %q: want one of %s", *kind, strings.Join(config.Kinds(), ", ")))
		}
		path := "campaign.yaml"
		if len(args) == 1 {
			path = args[0]
		}
		if path == "-" {
			_, err := fmt.Fprint(a.stdout, config.Template(*kind))
			return err
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			return withCode(codeOutput, fmt.Errorf("%s exists already and is left alone", path))
		}
		if err != nil {
			return withCode(codeOutput, err)
		}
		_, err = f.WriteString(config.Template(*kind))
		if err = errors.Join(err, f.Close()); err != nil {
			return withCode(codeOutput, err)
		}
		fmt.Fprintf(a.stdout, "%s written; edit it, then: tutti tune -c %s\n", path, shellWord(path))
		return nil
	}
	return cmd
}

// shellWord quotes a path for a shell when it needs it.
func shellWord(s string) string { return shellescape.Quote(s) }
