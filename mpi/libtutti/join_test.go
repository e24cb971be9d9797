package libtutti

import (
	"errors"
	"math"
	"slices"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
)

// one returns a table that selects the named algorithm for all broadcasts.
func one(name string) Table {
	all := Range{1, math.MaxInt32}
	return Table{Rules: []Rule{{Scope: Scope{Collective: coll.Bcast, Ranks: all, PPN: all, Bytes: Range{0, maxBytes}}, Algorithm: coll.Algorithm{Name: name}}}}
}

// TestJoin checks a joined table. For each order it must select the same as the table of this order, and
// for other orders nothing. It must stay the same when it is formatted and parsed.
func TestJoin(t *testing.T) {
	joined := testutil.Must(Join(OrderTable{coll.Block, one("binomial")}, OrderTable{coll.Cyclic, one("two_level")}))(t)
	read := testutil.Must(Parse(joined.Bytes()))(t)
	for _, tc := range []struct {
		orders []coll.Order
		want   string
	}{
		{[]coll.Order{coll.Block}, "binomial"}, {[]coll.Order{coll.Cyclic}, "two_level"}, {coll.Orders(), "binomial"}, {nil, coll.Default.Name},
	} {
		if got := read.Select(coll.Bcast, 16, 4, 1024, tc.orders...); got.Name != tc.want {
			t.Errorf("ranks in order %v: %v, want %s", tc.orders, got, tc.want)
		}
	}
}

func TestJoinRefuses(t *testing.T) {
	other, exploring := one("binomial"), one("binomial")
	other.For = "MPI 2"
	exploring.Mixes = []Mix{{Scope: Everywhere(coll.Bcast), Choices: []Choice{{Weight: 1, Algorithm: coll.Algorithm{Name: "binomial"}}}}}
	long := Table{Rules: slices.Repeat(one("binomial").Rules, maxLines/2)}
	joined := testutil.Must(Join(OrderTable{coll.Block, one("binomial")}))(t)
	for name, tables := range map[string][]OrderTable{
		"one order twice":     {{coll.Block, one("binomial")}, {coll.Block, one("two_level")}},
		"two MPI libraries":   {{coll.Block, one("binomial")}, {coll.Cyclic, other}},
		"an order of its own": {{coll.Cyclic, joined}},
		"exploring":           {{coll.Cyclic, exploring}},
		"too many lines":      {{coll.Block, long}, {coll.Cyclic, long}},
	} {
		if _, err := Join(tables...); !errors.Is(err, ErrTable) {
			t.Errorf("%s: %v, want ErrTable", name, err)
		}
	}
}
