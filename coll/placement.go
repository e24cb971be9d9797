package coll

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Order is how ranks are dealt to the nodes of a start.
type Order string

// The orders. On one node they are the same.
const (
	Block  Order = "block"  // the first ranks on the first node, as many as it takes, then the next node
	Cyclic Order = "cyclic" // one rank to each node in turn
)

// Orders returns the known orders.
func Orders() []Order { return []Order{Block, Cyclic} }

// ParseOrder returns the order called s. The error names what is allowed.
func ParseOrder(s string) (Order, error) {
	for _, o := range Orders() {
		if string(o) == s {
			return o, nil
		}
	}
	return "", fmt.Errorf("order %q: want %s or %s", s, Block, Cyclic)
}

// Placement is how the ranks of a measurement lay on the machine. The zero value: it is
// not known, or there was one node.
type Placement struct {
	Order    Order `json:"order,omitzero"`    // over the nodes; empty when unknown
	Switches int   `json:"switches,omitzero"` // leaf switches with a rank below them; zero when unknown
	Least    int   `json:"least,omitzero"`    // ranks below the switch with the fewest of them
	Most     int   `json:"most,omitzero"`     // ranks below the switch with most of them
}

// Placements is what the placements of measurements have in common: for which jobs they
// hold.
type Placements struct {
	Order    Order      `json:"order,omitzero"`     // empty when unknown, or where there was one node
	PPN      []int      `json:"ppn"`                // ascending
	Switches []Switches `json:"switches,omitempty"` // by number of nodes; those of which they are known
}

// Switches says over how many leaf switches as many nodes lay, at least and at most.
type Switches struct {
	Nodes int `json:"nodes"`
	Least int `json:"least"`
	Most  int `json:"most"`
}

// PlacementsOf gathers those of measurements. The order is that of the first that has one.
func PlacementsOf(measured []Measurement) Placements {
	p := Placements{PPN: []int{}}
	for _, m := range measured {
		p.Order = cmp.Or(p.Order, m.Placement.Order)
		if at, known := slices.BinarySearch(p.PPN, m.PPN); !known {
			p.PPN = slices.Insert(p.PPN, at, m.PPN)
		}
		if n := m.Placement.Switches; n > 0 {
			at, known := p.find(m.Nodes)
			if !known {
				p.Switches = slices.Insert(p.Switches, at, Switches{m.Nodes, n, n})
			}
			s := &p.Switches[at]
			s.Least, s.Most = min(s.Least, n), max(s.Most, n)
		}
	}
	return p
}

func (p Placements) find(nodes int) (at int, known bool) {
	return slices.BinarySearchFunc(p.Switches, nodes, func(s Switches, n int) int { return cmp.Compare(s.Nodes, n) })
}

// Known reports whether anything is known beside the ranks of a node.
func (p Placements) Known() bool { return p.Order != "" || len(p.Switches) > 0 }

// String says them in words: "ranks in block order, 4 or 8 on a node; 2 nodes on 1 switch,
// 4 on 1 to 2".
func (p Placements) String() string {
	var ppn []string
	for _, n := range p.PPN {
		ppn = append(ppn, strconv.Itoa(n))
	}
	text := "ranks"
	if p.Order != "" {
		text += " in " + string(p.Order) + " order"
	}
	text += fmt.Sprintf(", %s on a node", strings.Join(ppn, " or "))
	for i, s := range p.Switches {
		if i == 0 {
			text += fmt.Sprintf("; %d nodes on %s", s.Nodes, s.words())
		} else {
			text += fmt.Sprintf(", %d on %s", s.Nodes, s.span())
		}
	}
	return text
}

// span is the number or the range.
func (s Switches) span() string {
	if s.Least == s.Most {
		return strconv.Itoa(s.Most)
	}
	return fmt.Sprintf("%d to %d", s.Least, s.Most)
}

func (s Switches) words() string {
	if s.Most == 1 {
		return "1 switch"
	}
	return s.span() + " switches"
}

// Differ says in what a measurement lay otherwise than these, empty when it did not, or
// where one of the two is not known.
func (p Placements) Differ(m Measurement) string {
	if p.Order != "" && m.Placement.Order != "" && m.Placement.Order != p.Order {
		return fmt.Sprintf("ranks in %s order, not %s", m.Placement.Order, p.Order)
	}
	at, known := p.find(m.Nodes)
	if n := m.Placement.Switches; known && n > 0 {
		if s := p.Switches[at]; n < s.Least || n > s.Most {
			return fmt.Sprintf("%d nodes on %s, not on %s", m.Nodes, Switches{Least: n, Most: n}.words(), s.span())
		}
	}
	return ""
}
