package nccl

import (
	_ "embed"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/mpi"
	"tutti/selection"
)

// Libraries returns NCCL and RCCL.
func Libraries() []mpi.Library { return []mpi.Library{nvidia, amd} }

var (
	nvidia = library{name: "nccl", title: "NCCL", plugin: "libnccl-tuner-example.so", columns: 10}
	amd    = library{name: "rccl", title: "RCCL", columns: 12, skips: true}
)

// library is one of the two dialects.
type library struct {
	name, title string
	plugin      string // that reads the file; "" if the library reads it itself
	columns     int    // most columns that its reader knows; RCCL's newer ones add partitionMode and localGroup
	skips       bool   // its reader skips rows with unknown names, and -1 is one; NCCL's takes them for names that it knows
}

//go:embed algorithms.csv
var table string

var releases = mpi.Table(table, mpi.Rules{Lookup: checkParams})

// protocols are those of NCCL_PROTO. maxChannels is MAXCHANNELS of both libraries.
var protocols = []string{"ll", "ll128", "simple"}

const maxChannels = 256

// checkParams implements mpi.Rules.Lookup. A candidate has a protocol and a number of channels.
func checkParams(c *mpi.Catalogue, collective coll.Collective, _ mpi.Entry, alg coll.Algorithm) error {
	proto, _ := alg.Param("proto")
	text, _ := alg.Param("channels")
	channels, err := strconv.Atoi(text)
	if !slices.Contains(protocols, proto) || err != nil || channels < 1 || channels > maxChannels {
		return fmt.Errorf("%s %s %s %s: %w: want channels of 1 to %d and proto of %s, as ring(channels=8,proto=ll)",
			c.Library, c.Version, collective, alg, mpi.ErrUnknown, maxChannels, strings.Join(protocols, ", "))
	}
	return nil
}

// configVariable names the tuner file, pluginVariable the plugin that reads it.
const (
	configVariable = "NCCL_TUNER_CONFIG_FILE"
	pluginVariable = "NCCL_TUNER_PLUGIN"
)

func (l library) fileName() string { return l.name + ".tuner.csv" }

func (l library) snippet() string { return l.name + ".env" }

func (l library) Facts() mpi.Facts {
	return mpi.Facts{
		Name: l.name, Title: l.title, Family: l.name,
		Files:    []string{l.fileName(), l.snippet(), mpi.CshName(l.snippet())},
		Launcher: mpi.Launcher{Kind: "mpirun", Program: "mpirun"},
		Install:  mpi.Install{Compilers: []string{"mpicc"}},
		Bands:    math.MaxInt,
	}
}

func (l library) Releases() []*mpi.Catalogue {
	return slices.DeleteFunc(slices.Clone(releases()), func(c *mpi.Catalogue) bool { return c.Library != l.name })
}

// Size implements mpi.Library. The libraries count the larger of what a rank sends and receives, as nccl-tests do.
func (l library) Size(p coll.Point) int64 {
	bytes := p.Count() * p.Collective.ElementBytes()
	if p.Collective.PerRank() {
		bytes *= int64(p.Ranks())
	}
	return bytes
}

// Recognise implements mpi.Library. Programs load these libraries next to an MPI library.
func (library) Recognise([]byte) string { return "" }

func (l library) Open(cat *mpi.Catalogue, _ string) (mpi.Build, error) { return build{l, cat}, nil }

type build struct {
	library
	cat *mpi.Catalogue
}

func (b build) Catalogue() *mpi.Catalogue { return b.cat }

func (b build) Merge(rows []selection.Row, maxLoss float64) (selection.Selection, error) {
	sel, err := mpi.MergeWhole(rows, b.Size, maxLoss, math.MaxInt)
	if err != nil {
		return selection.Selection{}, fmt.Errorf("%s: %w", b.name, err)
	}
	return sel, nil
}

// Export implements mpi.Build. Only jobs of tuned layouts have settings.
func (b build) Export(sel selection.Selection, dir string) (mpi.Export, error) {
	file := "# " + strings.Join(columnNames[:10], ",") + "\n"
	s := mpi.Setup{Files: []string{configVariable}, Remarks: []string{
		"Settings of " + b.title + " " + b.cat.Version + ", for jobs of the tuned layouts.",
		"Calls of other collectives lose the library's own choice with this file" + map[bool]string{true: ": the plugin gives them one channel.", false: ": its built-in table has no effect."}[b.plugin != ""],
		"Written from its documentation and replayed at every tuned point, but not tried on a real " + b.title + ".",
	}}
	for _, l := range sel.Layouts {
		for _, t := range l.Trees {
			rows, err := b.rows(l.Layout, t)
			if err != nil {
				return mpi.Export{}, fmt.Errorf("%s %s: %w", b.name, t.Collective, err)
			}
			file += rows
		}
		set := []mpi.Setting{{Name: configVariable, Value: filepath.Join(dir, b.fileName())}}
		if b.plugin != "" {
			set = append(set, mpi.Setting{Name: pluginVariable, Value: b.plugin})
		}
		s.Layouts = append(s.Layouts, mpi.LayoutSettings{Layout: l.Layout, Settings: set})
	}
	x := mpi.Export{Setup: s, Snippet: b.snippet()}
	if len(sel.Layouts) == 0 {
		x.Stale = []string{b.fileName()}
		return x, nil
	}
	x.Files = []mpi.File{{Name: b.fileName(), Content: []byte(file), Comment: mpi.HashComment}}
	return x, nil
}

// rows returns the rows of a collective for jobs of a layout. They cover all sizes.
func (b build) rows(l coll.Layout, t *selection.Tree) (string, error) {
	var out strings.Builder
	low := int64(0)
	bands := t.Comms[0].PPNs[0].Bands
	for i, band := range bands {
		if band.Algorithm.IsDefault() && low == 0 {
			continue // sizes below the tuned ones
		}
		if _, err := b.cat.Lookup(t.Collective, band.Algorithm); err != nil {
			return "", err
		}
		high := band.UpTo
		if i == len(bands)-1 {
			high = math.MaxInt64
		}
		proto, _ := band.Algorithm.Param("proto")
		channels, _ := band.Algorithm.Param("channels")
		fmt.Fprintf(&out, "%s,%d,%d,%s,%s,%s,%d,%d,-1,-1\n", names[t.Collective], low, high, band.Algorithm.Name, proto, channels, l.Nodes, l.Ranks())
		low = high + 1
	}
	return out.String(), nil
}

func (b build) Replay(x mpi.Export, sel selection.Selection, rows []selection.Row) error {
	for _, r := range rows {
		want, _ := sel.Select(r.Point)
		got := coll.Default
		if text := x.Loaded(r.Point.Layout(), configVariable); text != nil {
			got, _ = b.parse(text).choose(b.Size(r.Point), r.Point)
		}
		if got != want {
			return fmt.Errorf("%s: %v: the file selects %v: want %v", b.name, r.Point, got, want)
		}
	}
	return nil
}
