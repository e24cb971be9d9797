package coll

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Order says in which order ranks are assigned to the nodes of a launch.
type Order string

// The orders of ranks. On a single node both orders are the same.
const (
	Block  Order = "block"  // fills one node after another
	Cyclic Order = "cyclic" // assigns one rank to each node in turn
)

// Orders returns all orders.
func Orders() []Order { return []Order{Block, Cyclic} }

// ParseOrder returns the order with the name s. If there is none, the error lists all orders.
func ParseOrder(s string) (Order, error) {
	if o := Order(s); slices.Contains(Orders(), o) {
		return o, nil
	}
	return "", fmt.Errorf("order %q: want %s or %s", s, Block, Cyclic)
}

// Placement describes where the ranks of a measurement ran. It is zero if the placement is unknown, or if
// there was only one node.
type Placement struct {
	Order    Order `json:"order,omitzero"`    // order of ranks over the nodes; empty if unknown
	Switches int   `json:"switches,omitzero"` // number of leaf switches with ranks; zero when unknown
	Least    int   `json:"least,omitzero"`    // number of ranks below the switch with the fewest ranks
	Most     int   `json:"most,omitzero"`     // number of ranks below the switch with the most ranks
}

// Placements summarises the placements of a campaign's measurements. The results of the campaign apply to jobs with
// such placements.
type Placements struct {
	Order    Order      `json:"order,omitzero"`     // empty if unknown, or on one node
	PPN      []int      `json:"ppn"`                // ascending
	Switches []Switches `json:"switches,omitempty"` // by number of nodes, as far as they are known
}

// Switches says how many leaf switches the measurements on a given number of nodes used: the smallest and the
// largest number.
type Switches struct {
	Nodes int `json:"nodes"`
	Least int `json:"least"`
	Most  int `json:"most"`
}

// PlacementsOf summarises the placements of measurements. The order of ranks is that of the first
// measurement with a known order.
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

// Known reports whether the placements say anything about the order of ranks or about switches.
func (p Placements) Known() bool { return p.Order != "" || len(p.Switches) > 0 }

// String describes the placements, for example: "ranks in block order, 4 or 8 on a node; 2 nodes on 1
// switch, 4 on 1 to 2".
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

// Differ describes how the placement of a measurement differs from p. It returns "" if they do not differ,
// or if one of them is unknown.
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
