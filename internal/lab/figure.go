package lab

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Figure is a table of results with a picture of them.
type Figure struct {
	Name   string
	Title  string
	Header []string
	Rows   [][]string
	Panels []Panel
}

var drawers = []struct {
	name string
	draw func(context.Context, []Set, []uint64, Options) (Figure, error)
}{
	{"fig3", fig3.draw}, {"fig4", fig4.draw}, {"fig5", fig5.draw}, {"fig7", fig7.draw}, {"fig8", fig8}, {"fig9", fig9}, {"fig10", fig10}, {"table4", table4},
	{"iota5.2", iota52}, {"iota5.3", iota53},
}

// FigureNames returns the names of the figures that Draw makes. Their numbers are those in Wilkins et al.
// (ExaMPI 2021); those that begin with "iota" are Steiner's (TU Wien 2023).
func FigureNames() []string {
	names := make([]string, len(drawers))
	for i, d := range drawers {
		names[i] = d.name
	}
	return names
}

// CheckFigure returns an error unless Draw makes a figure with this name. The error lists the valid names.
func CheckFigure(name string) error {
	if !slices.Contains(FigureNames(), name) {
		return fmt.Errorf("figure %q: want one of %s", name, strings.Join(FigureNames(), ", "))
	}
	return nil
}

// Draw makes a figure. It averages over data sets and seeds. Each figure has its own scaling. The figures
// "fig10" and "table4" also have their own stopping criteria, and use one data set and the first seed.
func Draw(ctx context.Context, name string, sets []Set, seeds []uint64, opt Options) (Figure, error) {
	if err := cmp.Or(CheckFigure(name), opt.Validate()); err != nil {
		return Figure{}, err
	}
	if len(sets) == 0 || len(seeds) == 0 {
		return Figure{}, fmt.Errorf("%s: want at least one set of recorded data and a seed", name)
	}
	at := slices.Index(FigureNames(), name)
	f, err := drawers[at].draw(ctx, sets, seeds, opt)
	if err != nil {
		return Figure{}, fmt.Errorf("%s: %w", name, err)
	}
	f.Name = name
	return f, nil
}

// WriteCSV writes the table.
func (f Figure) WriteCSV(w io.Writer) error {
	return csv.NewWriter(w).WriteAll(append([][]string{f.Header}, f.Rows...))
}
