package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"tutti/coll"
	"tutti/selection"
)

// Schema is the version of the form.
const Schema = 1

// ErrDocument reports text that is no selection, or one that contradicts itself.
var ErrDocument = errors.New("not a selection")

// Document is the selection of a campaign.
type Document struct {
	Schema    int       `json:"schema"`
	Campaign  string    `json:"campaign"`
	Machine   string    `json:"machine"`
	Libraries []Library `json:"libraries"`
}

// Library is what one release of a library is told.
type Library struct {
	Library     string       `json:"library"`
	Version     string       `json:"version"`
	Measured    string       `json:"measured_version"`
	Left        int          `json:"left"` // points left to the library: the release lacks what is fast there
	Collectives []Collective `json:"collectives"`

	Placement *coll.Placements `json:"placement,omitempty"` // that it holds for; null when unknown
}

// Collective has the points of one collective, in order, and its trees.
type Collective struct {
	Collective coll.Collective `json:"collective"`
	Points     []Point         `json:"points"`
	Tree       *selection.Tree `json:"tree"` // for everybody; null where only layouts have one
	Layouts    []Layout        `json:"layouts"`
}

// Layout has the tree for jobs of one layout.
type Layout struct {
	coll.Layout
	Tree *selection.Tree `json:"tree"`
}

// Point is what is selected at one point of the grid. Slowdowns are predicted,
// against the fastest prediction there; null where there is none.
type Point struct {
	Nodes     int            `json:"nodes"`
	PPN       int            `json:"ppn"`
	MsgBytes  int64          `json:"msg_bytes"`
	Size      int64          `json:"size"` // what the library's rules compare, and the trees
	Algorithm coll.Algorithm `json:"algorithm"`
	Slowdown  *float64       `json:"predicted_slowdown"`
	Default   *float64       `json:"default_slowdown"` // of the library's own choice
}

// NewCollective gathers the rows of one collective with what a selection selects there.
func NewCollective(rows []selection.Row, sel selection.Selection, size func(coll.Point) int64) Collective {
	c := Collective{Collective: rows[0].Point.Collective, Layouts: []Layout{}}
	c.Tree = selection.TreeOf(sel.Trees, c.Collective)
	for _, l := range sel.Layouts {
		if t := selection.TreeOf(l.Trees, c.Collective); t != nil {
			c.Layouts = append(c.Layouts, Layout{l.Layout, t})
		}
	}
	for _, r := range rows {
		alg, _ := sel.Select(r.Point)
		c.Points = append(c.Points, Point{
			Nodes: r.Point.Nodes, PPN: r.Point.PPN, MsgBytes: r.Point.MsgBytes, Size: size(r.Point),
			Algorithm: alg, Slowdown: slowdown(r, alg), Default: slowdown(r, coll.Default),
		})
	}
	return c
}

func slowdown(r selection.Row, alg coll.Algorithm) *float64 {
	loss, ok := r.Loss(alg)
	if !ok {
		return nil
	}
	loss++
	return &loss
}

// Select returns what the trees select: for a communicator as large as a job of the
// layout, with a message size in the measure of the library.
func (c Collective) Select(l coll.Layout, size int64) coll.Algorithm {
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

// Bytes returns the document as JSON, the same for the same document.
func (d Document) Bytes() ([]byte, error) {
	d.Schema = Schema
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	err := e.Encode(d)
	return b.Bytes(), err
}

// Parse reads a document and replays it: at each point, the trees must select what
// the point says. The error matches ErrDocument.
func Parse(text []byte) (Document, error) {
	var d Document
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return Document{}, fmt.Errorf("%w: %w", ErrDocument, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Document{}, fmt.Errorf("%w: more text after it", ErrDocument)
	}
	if d.Schema != Schema {
		return Document{}, fmt.Errorf("%w: schema %d: want %d", ErrDocument, d.Schema, Schema)
	}
	for _, lib := range d.Libraries {
		for _, c := range lib.Collectives {
			if err := c.check(); err != nil {
				return Document{}, fmt.Errorf("%w: %s %s %s: %w", ErrDocument, lib.Library, lib.Version, c.Collective, err)
			}
		}
	}
	return d, nil
}

func (c Collective) check() error {
	if _, err := coll.ParseCollective(string(c.Collective)); err != nil {
		return err
	}
	if slices.ContainsFunc(c.Layouts, func(l Layout) bool { return l.Tree == nil }) {
		return errors.New("a layout without a tree")
	}
	for _, p := range c.Points {
		l := coll.Layout{Nodes: p.Nodes, PPN: p.PPN}
		if p.Nodes < 1 || p.PPN < 1 || p.Nodes > math.MaxInt32 || p.PPN > math.MaxInt32 || p.MsgBytes < 0 || p.Size < 0 {
			return fmt.Errorf("point %s %d B: want nodes, ranks and sizes", l, p.MsgBytes)
		}
		if got := c.Select(l, p.Size); got != p.Algorithm {
			return fmt.Errorf("point %s %d B: the trees select %v: want %v", l, p.MsgBytes, got, p.Algorithm)
		}
	}
	return nil
}
