package discover_test

import (
	"fmt"
	"math/rand/v2"

	"tutti/topology/discover"
)

// times returns round trips between 8 nodes on 2 leaf switches, with 3 % noise.
func times(seed uint64) discover.Matrix {
	rng := rand.New(rand.NewPCG(seed, 1))
	rows := make([][]float64, 8)
	for i := range rows {
		for j := range i {
			seconds := 2.78e-6
			if i/4 == j/4 {
				seconds = 2.18e-6
			}
			rows[i] = append(rows[i], seconds*(1+0.03*rng.NormFloat64()))
		}
	}
	m, err := discover.NewMatrix(rows)
	if err != nil {
		panic(err)
	}
	return m
}

func ExampleFindLevels() {
	found, err := discover.FindLevels(times(1), times(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range found.Levels {
		fmt.Printf("%v, %.1f µs within, %.1f µs between\n", l.Labels, l.Seconds*1e6, found.Seconds*1e6)
	}
	// Output: [0 0 0 0 1 1 1 1], 2.2 µs within, 2.8 µs between
}
