package selection

import (
	"bytes"
	"encoding/json"
	"fmt"

	"tutti/coll"
)

// DocumentSchema is the version of the format of documents.
const DocumentSchema = 1

// Document is the selection of a campaign, written as JSON for people and scripts. It has the algorithm and
// the predicted slowdowns at each grid point, and trees for all other points. Each point also has the message
// size that the library's rules compare with their limits (PointDocument.Size). Readers can therefore use a
// tree without knowing how the library computes this size.
type Document struct {
	Schema    int               `json:"schema"`
	Campaign  string            `json:"campaign"`
	Machine   string            `json:"machine"`
	Libraries []LibraryDocument `json:"libraries"`
}

// LibraryDocument is the selection for one release of a library.
type LibraryDocument struct {
	Library     string               `json:"library"`
	Version     string               `json:"version"`
	Measured    string               `json:"measured_version"`
	Left        int                  `json:"left"` // number of points with the library's default, because the release does not have the algorithm
	Collectives []CollectiveDocument `json:"collectives"`

	Placement *coll.Placements `json:"placement,omitempty"` // placement of the measurements; null if unknown
}

// CollectiveDocument is the selection for one collective. It has the points in order, and the trees.
type CollectiveDocument struct {
	Collective coll.Collective  `json:"collective"`
	Points     []PointDocument  `json:"points"`
	Tree       *Tree            `json:"tree"` // applies to layouts without their own tree; null if there is none
	Layouts    []LayoutDocument `json:"layouts"`
}

// LayoutDocument is one layout with its own tree. The tree applies only to jobs of this layout.
type LayoutDocument struct {
	coll.Layout
	Tree *Tree `json:"tree"`
}

// PointDocument is the selection at one point of the grid. Slowdowns are relative to the fastest prediction
// at the point. A slowdown without a prediction is null.
type PointDocument struct {
	coll.Point
	Size      int64          `json:"size"` // the message size with which the library's rules and the trees work
	Algorithm coll.Algorithm `json:"algorithm"`
	Slowdown  *float64       `json:"predicted_slowdown"`
	Default   *float64       `json:"default_slowdown"` // of the library's own choice
}

// NewCollectiveDocument returns the document of one collective. The function `size` returns the message size
// that the library computes for its rules.
func NewCollectiveDocument(rows []Row, sel Selection, size func(coll.Point) int64) CollectiveDocument {
	c := CollectiveDocument{Collective: rows[0].Point.Collective, Layouts: []LayoutDocument{}}
	c.Tree = TreeOf(sel.Trees, c.Collective)
	for _, l := range sel.Layouts {
		if t := TreeOf(l.Trees, c.Collective); t != nil && t != c.Tree {
			c.Layouts = append(c.Layouts, LayoutDocument{l.Layout, t})
		}
	}
	for _, r := range rows {
		alg, _ := sel.Select(r.Point)
		c.Points = append(c.Points, PointDocument{
			Point: r.Point, Size: size(r.Point),
			Algorithm: alg, Slowdown: slowdown(r, alg), Default: slowdown(r, coll.Default),
		})
	}
	return c
}

func slowdown(r Row, alg coll.Algorithm) *float64 {
	if loss, ok := r.Loss(alg); ok {
		return new(loss + 1)
	}
	return nil
}

// Select returns the algorithm that the trees select in a job of the given layout, on a communicator with all
// ranks of the job. `size` is the message size that the library computes for its rules.
func (c CollectiveDocument) Select(l coll.Layout, size int64) coll.Algorithm {
	t := c.Tree
	for _, own := range c.Layouts {
		if own.Layout == l {
			t = own.Tree
		}
	}
	if t == nil {
		return coll.Default
	}
	alg, _ := t.Lookup(l.Ranks(), l.PPN, size)
	return alg
}

// Bytes returns the document as JSON. Equal documents have equal bytes. The error names a point at which the
// trees do not select the stated algorithm.
func (d Document) Bytes() ([]byte, error) {
	for _, lib := range d.Libraries {
		for _, c := range lib.Collectives {
			if err := c.check(); err != nil {
				return nil, fmt.Errorf("selection: %s %s %s: %w", lib.Library, lib.Version, c.Collective, err)
			}
		}
	}
	d.Schema = DocumentSchema
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	err := e.Encode(d)
	return b.Bytes(), err
}

// check returns an error unless the trees select the stated algorithm at each point.
func (c CollectiveDocument) check() error {
	for _, p := range c.Points {
		l := coll.Layout{Nodes: p.Nodes, PPN: p.PPN}
		if got := c.Select(l, p.Size); got != p.Algorithm {
			return fmt.Errorf("point %s %d B: the trees select %v: want %v", l, p.MsgBytes, got, p.Algorithm)
		}
	}
	return nil
}
