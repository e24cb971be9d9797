package libtutti

import (
	"fmt"
	"slices"

	"tutti/coll"
)

// OrderTable is a table together with the order of ranks for which it was tuned.
type OrderTable struct {
	Order coll.Order
	Table Table
}

// Join returns a table with the rules of all given tables, each for the order of its table. Ranks may have both
// orders, for example on one node. Then the first table that has a rule counts.
//
// The error matches ErrTable if two tables have the same order, if tables are for different MPI libraries, if a
// table already has orders or lists of algorithms to explore, or if the result is too long.
func Join(tables ...OrderTable) (Table, error) {
	var out Table
	for i, d := range tables {
		own := func(r Rule) bool { return r.Order != "" }
		switch {
		case slices.ContainsFunc(tables[:i], func(o OrderTable) bool { return o.Order == d.Order }):
			return Table{}, fmt.Errorf("%w to be joined: two are for %s order", ErrTable, d.Order)
		case d.Table.For != tables[0].Table.For:
			return Table{}, fmt.Errorf("%w to be joined: for %s order it is for the MPI library %q, for %s order for %q", ErrTable,
				d.Order, d.Table.For, tables[0].Order, tables[0].Table.For)
		case slices.ContainsFunc(d.Table.Rules, own):
			return Table{}, fmt.Errorf("%w to be joined: that for %s order has rules for an order", ErrTable, d.Order)
		case len(d.Table.Mixes) > 0:
			return Table{}, fmt.Errorf("%w to be joined: that for %s order explores, and mixes have no order", ErrTable, d.Order)
		}
		out.For = d.Table.For
		for _, r := range d.Table.Rules {
			r.Order = d.Order
			out.Rules = append(out.Rules, r)
		}
	}
	if _, err := Parse(out.Bytes()); err != nil {
		return Table{}, fmt.Errorf("the joined table: %w", err)
	}
	return out, nil
}
