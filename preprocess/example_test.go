package preprocess_test

import (
	"fmt"
	"os"

	"tutti/coll"
	"tutti/preprocess"
)

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
