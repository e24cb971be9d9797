package preprocess_test

import (
	"fmt"
	"os"
	"path/filepath"

	"tutti/coll"
	"tutti/preprocess"
)

// Invalid rows are ignored, and a warning counts them.
func ExampleReadTable() {
	text := "collective,algorithm,nodes,ppn,msg_bytes,time_us\n" +
		"bcast,binomial,16,4,1024,12.5\n" +
		"bcast,linear,16,4,1024,1 ms\n"
	path, done, err := temporary(text)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer done()
	table, err := preprocess.ReadTable(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range table.Measurements() {
		fmt.Println(m.Candidate, m.Seconds)
	}
	fmt.Println(table.Warnings)
	// Output:
	// bcast 16x4 1KiB binomial 1.25e-05
	// [1 x bad number, first at line 3: bad number: time_us "1 ms": want microseconds without a unit]
}

// Points that an application calls often get a large weight. Each call counts for the nearest point of the
// grid.
func ExampleCallWeights() {
	path, done, err := temporary("collective,nodes,ppn,msg_bytes,calls\nbcast,4,2,8,900\nbcast,4,2,900,100\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer done()
	trace, err := preprocess.ReadTrace(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	points, err := coll.Grid{Nodes: []int{4}, PPN: []int{2}, MsgBytes: []int64{8, 1024}}.Points(coll.Bcast)
	if err != nil {
		fmt.Println(err)
		return
	}
	weights, far, ok := preprocess.CallWeights(points, trace)
	fmt.Println(points, weights, far, ok)
	// Output: [bcast 4x2 8B bcast 4x2 1KiB] [1.8 0.2] 0 true
}

// Recorded names of algorithms are translated to the names of a library.
func ExampleReadNames() {
	path, done, err := temporary("collective,recorded,library,algorithm\nbcast,binomial_tree,openmpi,binomial\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer done()
	names, err := preprocess.ReadNames(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	recorded := []coll.Measurement{measured(point(2, 1, 8), "binomial_tree", 1e-6), measured(point(2, 1, 8), "unheard_of", 1e-6)}
	translated, dropped := names.Translate(recorded, "openmpi")
	fmt.Println(translated[0].Algorithm, dropped)
	// Output: binomial 1
}

// A summary has one line for each algorithm.
func ExampleSummary() {
	frame := preprocess.Summary([]coll.Measurement{
		measured(point(2, 1, 8), "binomial", 1e-6),
		measured(point(4, 1, 8), "binomial", 3e-6),
		measured(point(2, 1, 8), "chain", 4e-6),
	})
	if err := frame.WriteCSV(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// collective,algorithm,points,min_us,median_us,max_us,cost_s
	// bcast,binomial,2,1.000000,2.000000,3.000000,2.000000
	// bcast,chain,1,4.000000,4.000000,4.000000,1.000000
}

// temporary writes text to a temporary file and returns the file's path. The function done removes the
// file.
func temporary(text string) (path string, done func(), err error) {
	dir, err := os.MkdirTemp("", "tutti")
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join(dir, "in.csv")
	return path, func() { os.RemoveAll(dir) }, os.WriteFile(path, []byte(text), 0o600)
}
