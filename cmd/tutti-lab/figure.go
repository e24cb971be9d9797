package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tutti/campaign/export"
	"tutti/internal/lab"
)

func (a *app) figureCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "figure NAME --data FILE",
		Short: "Draw a figure of the papers on recorded data",
		Long: `figure draws a figure of Wilkins et al., "A FACT-based Approach" (ExaMPI 2021), or of
Steiner's thesis on IOTA (TU Wien 2023), on recorded data, and prints its table:
` + strings.Join(lab.FigureNames(), ", ") + `.`,
		Example: indent("tutti-lab figure fig3 --data data/simgrid/C_bcast.csv --out results/figures"),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError(cmd, fmt.Errorf("want one of %s", strings.Join(lab.FigureNames(), ", ")))
			}
			return nil
		},
	}
	var from replayInput
	opt := lab.DefaultOptions()
	from.addFlags(cmd.Flags(), 5)
	replayFlags(cmd.Flags(), &opt)
	launch := launchFlags(cmd.Flags(), &opt.Launch)
	out := cmd.Flags().String("out", "results/figures", "folder for the figure as CSV and PNG")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		err := cmp.Or(lab.CheckFigure(args[0]), from.validate(), launch())
		if err == nil {
			err = opt.Validate()
		}
		if err != nil {
			return usageError(cmd, err)
		}
		sets, err := a.load(from)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(*out, 0o777); err != nil {
			return err
		}
		f, err := lab.Draw(cmd.Context(), args[0], sets, from.seedList(), opt)
		if err != nil {
			return err
		}
		return a.writeFigure(f, *out)
	}
	return cmd
}

func (a *app) writeFigure(f lab.Figure, dir string) error {
	var table bytes.Buffer
	for _, file := range []struct {
		suffix string
		write  func(io.Writer) error
	}{
		{".csv", func(w io.Writer) error { return f.WriteCSV(io.MultiWriter(w, &table)) }}, {".png", f.WritePNG},
	} {
		path := filepath.Join(dir, f.Name+file.suffix)
		if err := export.WriteFile(path, file.write); err != nil {
			return err
		}
		fmt.Fprintln(a.stderr, path)
	}
	_, err := a.stdout.Write(table.Bytes())
	return err
}
