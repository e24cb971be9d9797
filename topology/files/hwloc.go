package files

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"tutti/topology"
)

type document struct {
	XMLName xml.Name `xml:"topology"`
	Objects []object `xml:"object"`
}

type object struct {
	Type    string   `xml:"type,attr"`
	OSIndex string   `xml:"os_index,attr"`
	Depth   string   `xml:"depth,attr"` // level of a cache in hwloc 1
	Infos   []info   `xml:"info"`
	Objects []object `xml:"object"`
}

type info struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// These values stand for hwloc objects that do not become a vertex.
const (
	through = topology.Kind("through") // the object's children belong to its parent
	ignored = topology.Kind("ignored") // the object and its children are ignored
)

var meaning = map[string]topology.Kind{
	"Package": topology.Socket, "Socket": topology.Socket,
	"Die": topology.Die, "NUMANode": topology.NUMA, "Group": topology.NUMA,
	"L5Cache": topology.Cache, "L4Cache": topology.Cache, "L3Cache": topology.Cache,
	"L2Cache": topology.Cache, "L1Cache": topology.Cache, "Cache": topology.Cache,
	"Core": topology.Core, "PU": topology.Thread,
	"L3iCache": through, "L2iCache": through, "L1iCache": through, "System": through,
	"Bridge": ignored, "PCIDev": ignored, "OSDev": ignored, "Misc": ignored, "MemCache": ignored,
}

// ReadHwloc reads the hwloc XML of one node. Errors begin with the name `file`. The node gets the host name in the
// file. If the file has none, the node gets the given name.
//
// Sockets, NUMA nodes, dies, caches, cores and hardware threads become vertices. The name of a thread is pu and
// the operating system's number. Other vertices are named by kind and number. A NUMA node, die or cache is
// omitted if it is an only child or has a single core.
//
// ReadHwloc returns an error if it does not know the type of an object, or if the machine has no hardware
// threads or no name.
func ReadHwloc(r io.Reader, file, name string) (topology.Vertex, error) {
	d := xml.NewDecoder(r)
	var doc document
	if err := d.Decode(&doc); err != nil {
		line, _ := d.InputPos()
		return topology.Vertex{}, fmt.Errorf("%s:%d: %w", file, line, err)
	}
	node, err := machine(doc, name)
	if err != nil {
		return topology.Vertex{}, fmt.Errorf("%s: %w", file, err)
	}
	return node, nil
}

func machine(doc document, name string) (topology.Vertex, error) {
	if len(doc.Objects) != 1 || doc.Objects[0].Type != "Machine" {
		return topology.Vertex{}, errors.New("want one object of type Machine")
	}
	top := doc.Objects[0]
	if i := slices.IndexFunc(top.Infos, func(i info) bool { return i.Name == "HostName" && i.Value != "" }); i >= 0 {
		name = top.Infos[i].Value
	}
	b := builder{count: map[string]int{}}
	children, err := b.below(top)
	if err != nil {
		return topology.Vertex{}, err
	}
	node := topology.Vertex{Kind: topology.Node, Name: name, Confidence: 1, Children: children}
	if b.count[string(topology.Thread)] == 0 {
		return topology.Vertex{}, errors.New("no PU in it")
	}
	if name == "" {
		return topology.Vertex{}, errors.New("no info HostName: want a name for the node")
	}
	t := topology.Tree{Root: node}
	return node, t.Check()
}

// builder creates the vertices of one node. It counts the vertices of each name, in order to number them.
type builder struct{ count map[string]int }

func (b *builder) below(o object) ([]topology.Vertex, error) {
	var out []topology.Vertex
	for _, c := range o.Objects {
		vertices, err := b.vertices(c)
		if err != nil {
			return nil, err
		}
		out = append(out, vertices...)
	}
	if len(out) == 1 && skipped(out[0]) {
		return out[0].Children, nil
	}
	return out, nil
}

// skipped reports whether an object of this kind gets no vertex where it is the only child of its parent.
func skipped(v topology.Vertex) bool {
	return v.Kind == topology.NUMA || v.Kind == topology.Die || v.Kind == topology.Cache
}

// vertices returns the vertex for an object. If the object's kind has no vertex, it returns the vertices of its
// children, or none.
func (b *builder) vertices(o object) ([]topology.Vertex, error) {
	kind, known := meaning[o.Type]
	switch {
	case !known:
		return nil, fmt.Errorf("object type %s: want one of %s", o.Type, strings.Join(slices.Sorted(maps.Keys(meaning)), ", "))
	case kind == ignored:
		return nil, nil
	case kind == topology.Thread:
		b.count[string(kind)]++
		return []topology.Vertex{{Kind: kind, Name: "pu" + o.OSIndex, Confidence: 1}}, nil
	}
	name := b.name(kind, o)
	children, err := b.below(o)
	switch {
	case err != nil || len(children) == 0: // hwloc 2 lists a NUMA node next to its cores
		return nil, err
	case kind == through || kind == topology.NUMA && o.Type == "Group" && !hasMemory(o):
		return children, nil
	case skipped(topology.Vertex{Kind: kind}) && len(children) == 1 && children[0].Kind == topology.Core:
		return children, nil
	}
	b.count[name]++
	return []topology.Vertex{{Kind: kind, Name: fmt.Sprintf("%s%d", name, b.count[name]-1), Confidence: 1, Children: children}}, nil
}

func (b *builder) name(kind topology.Kind, o object) string {
	if kind != topology.Cache {
		return string(kind)
	}
	if o.Type == "Cache" {
		return "L" + o.Depth + "-"
	}
	return strings.TrimSuffix(o.Type, "Cache") + "-"
}

func hasMemory(o object) bool {
	return slices.ContainsFunc(o.Objects, func(c object) bool { return c.Type == "NUMANode" && len(c.Objects) == 0 })
}
