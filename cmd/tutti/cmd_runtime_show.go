package main

import (
	"cmp"
	"fmt"
	"os"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"tutti/coll"
	"tutti/mpi/libtutti"
)

func (a *app) runtimeShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "show TABLE",
		Short:   "Say what a table selects where",
		Long:    "Reads a table as the library in an application does, and says what it selects.",
		Example: indent("tutti runtime show tuned/tutti.table"),
		Args:    arguments(1, 1, "one table"),
		RunE: func(_ *cobra.Command, args []string) error {
			t, err := readTable(args[0])
			if err != nil {
				return err
			}
			a.showTable(t)
			return nil
		},
	}
}

// readTable reads a table of the library inside applications.
func readTable(path string) (libtutti.Table, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return libtutti.Table{}, err
	}
	t, err := libtutti.Parse(text)
	if err != nil {
		return libtutti.Table{}, withCode(codeInput, fmt.Errorf("%s: %w", path, err))
	}
	return t, nil
}

func (a *app) showTable(t libtutti.Table) {
	if t.For != "" {
		fmt.Fprintf(a.stdout, "for %s alone\n", t.For)
	}
	var rows []table.Row
	for _, r := range t.Rules {
		rows = append(rows, table.Row{r.Collective, between(r.Ranks, number), between(r.PPN, number), cmp.Or(string(r.Order), "any"), between(r.Bytes, coll.FormatBytes), r.Algorithm})
	}
	a.printTable(table.Row{"collective", "ranks", "per node", "order", "bytes", "algorithm"}, rows)
	for _, m := range t.Mixes {
		fmt.Fprintf(a.stdout, "explores %s on %s ranks, %s per node, %s: %d algorithms\n",
			m.Collective, between(m.Ranks, number), between(m.PPN, number), between(m.Bytes, coll.FormatBytes), len(m.Choices))
	}
}

func number(n int64) string { return fmt.Sprint(n) }

func between(r libtutti.Range, format func(int64) string) string {
	if r.Low == r.High {
		return format(r.Low)
	}
	return format(r.Low) + " to " + format(r.High)
}
