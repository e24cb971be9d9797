package libtutti

import (
	"fmt"
	"slices"

	"tutti/coll"
)

// Dealt is a table that was tuned for one order of the ranks.
type Dealt struct {
	Order coll.Order
	Table Table
}

// Join returns a table that selects for each order what the table of it does. Where ranks
// have two orders, as on one node, the first table that has a rule counts.
//
// It returns an error matching ErrTable for two tables of one order, for different MPI
// libraries, and for a table with an order of its own or with calls to explore.
func Join(tables ...Dealt) (Table, error) {
	var out Table
	for i, d := range tables {
		own := func(r Rule) bool { return r.Order != "" }
		switch {
		case slices.ContainsFunc(tables[:i], func(o Dealt) bool { return o.Order == d.Order }):
			return Table{}, fmt.Errorf("%w of its own: two are for %s order", ErrTable, d.Order)
		case d.Table.For != tables[0].Table.For:
			return Table{}, fmt.Errorf("%w to be joined: for %s order it is for the MPI library %q, for %s order for %q", ErrTable,
				d.Order, d.Table.For, tables[0].Order, tables[0].Table.For)
		case slices.ContainsFunc(d.Table.Rules, own):
			return Table{}, fmt.Errorf("%w of one order: that for %s has rules for an order already", ErrTable, d.Order)
		case len(d.Table.Mixes) > 0:
			return Table{}, fmt.Errorf("%w of one order: that for %s explores, and what is explored knows no order", ErrTable, d.Order)
		}
		out.For = d.Table.For
		for _, r := range d.Table.Rules {
			r.Order = d.Order
			out.Rules = append(out.Rules, r)
		}
	}
	return out, nil
}
