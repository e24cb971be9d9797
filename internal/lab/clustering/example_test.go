package clustering_test

import (
	"fmt"
	"math/rand/v2"

	"tutti/internal/lab/clustering"
	"tutti/topology/discover"
)

// times returns round trips between 8 nodes, 4 on each of 2 switches, with 3 % noise.
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

func ExampleAgglomerate() {
	rows, err := discover.Profile(times(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	tree, err := clustering.Agglomerate(rows, discover.Ward)
	fmt.Println(tree.Cut(2), err)
	// Output: [0 0 0 0 1 1 1 1] <nil>
}

func ExampleKMedoids() {
	m, err := clustering.KMedoids(times(1), 2)
	fmt.Println(m.Labels, err)
	// Output: [0 0 0 0 1 1 1 1] <nil>
}

func ExampleSpectral() {
	labels, eigenvalues, err := clustering.Spectral(times(1), 2)
	fmt.Println(labels, len(eigenvalues), err)
	// Output: [0 0 0 0 1 1 1 1] 2 <nil>
}

func ExampleHDBSCAN() {
	fmt.Println(clustering.HDBSCAN(times(1), 3, clustering.Mass))
	// Output: [0 0 0 0 1 1 1 1] <nil>
}

func ExampleSSSTree() {
	depths, err := clustering.SSSTree(times(1), 0.45)
	fmt.Println(depths[0], err)
	// Output: [0 0 0 0 1 1 1 1] <nil>
}

func ExampleSearch() {
	m := times(1)
	low, high, err := clustering.Range(m)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, score, err := clustering.Search(low, high, clustering.Points, func(x float64) (float64, error) {
		labels, err := clustering.Components(m, x)
		if err != nil {
			return 0, err
		}
		return clustering.Accuracy(labels, discover.Labels{0, 0, 0, 0, 1, 1, 1, 1})
	})
	fmt.Println(score, err)
	// Output: 1 <nil>
}
