package pairs

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"path/filepath"
	"strconv"

	"tutti/campaign/export"
	"tutti/topology/discover"
)

// Names of files in the folder of a discovery.
const (
	TreeFile       = "topology.json"
	LatencyFile    = "latency.csv"   // pairs of nodes, empty messages
	BandwidthFile  = "bandwidth.csv" // pairs of nodes, large messages
	CoresFile      = "cores.csv"     // pairs of ranks inside nodes
	ParametersFile = "plogp.json"
)

// Write writes the files of a discovery to a folder, each of them atomically. Tables have one row for each
// measured pair. Times are round-trip times in seconds.
func (f *Found) Write(dir string) error {
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{TreeFile, f.Tree.Write},
		{LatencyFile, func(w io.Writer) error { return f.writeNodes(w, small) }},
		{BandwidthFile, func(w io.Writer) error { return f.writeNodes(w, large) }},
		{CoresFile, f.writeCores},
		{ParametersFile, f.writeParameters},
	} {
		if err := export.WriteFile(filepath.Join(dir, file.name), file.write); err != nil {
			return err
		}
	}
	return nil
}

// small and large return the shortest and the median round-trip time of a pair, with small and with large
// messages.
func small(p discover.Measurement) (least, median float64) { return p.Small, p.SmallMedian }
func large(p discover.Measurement) (least, median float64) { return p.Large, p.LargeMedian }

func (f *Found) writeNodes(w io.Writer, of func(discover.Measurement) (least, median float64)) error {
	t := csv.NewWriter(w)
	rows := [][]string{{"a", "b", "seconds", "median", "job", "pass"}}
	for _, s := range f.launches {
		for _, p := range s.PairsOf(discover.Between) {
			least, median := of(p)
			rows = append(rows, []string{p.A.Host, p.B.Host, decimal(least), decimal(median), s.job, strconv.Itoa(p.Pass)})
		}
	}
	return t.WriteAll(rows)
}

func (f *Found) writeCores(w io.Writer) error {
	t := csv.NewWriter(w)
	rows := [][]string{{"host", "rank_a", "core_a", "rank_b", "core_b", "seconds", "median", "large", "large_median", "job", "pass"}}
	for _, s := range f.launches {
		for _, p := range s.PairsOf(discover.Inside) {
			rows = append(rows, []string{
				p.A.Host, strconv.Itoa(p.A.Rank), strconv.Itoa(p.A.Core), strconv.Itoa(p.B.Rank), strconv.Itoa(p.B.Core),
				decimal(p.Small), decimal(p.SmallMedian), decimal(p.Large), decimal(p.LargeMedian), s.job, strconv.Itoa(p.Pass),
			})
		}
	}
	return t.WriteAll(rows)
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'g', 9, 64) }

func (f *Found) writeParameters(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(append([]discover.ClassParameters{}, f.Parameters...))
}
