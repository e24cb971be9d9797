package cluster_test

import (
	"fmt"
	"math/rand/v2"

	"tutti/topology/cluster"
)

// times returns round trips of 2 leaf switches with 4 nodes each, 3 % noise.
func times(seed uint64) cluster.Matrix {
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
	m, err := cluster.New(rows)
	if err != nil {
		panic(err)
	}
	return m
}

func ExampleDiscover() {
	found, err := cluster.Discover(times(1), times(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range found.Levels {
		fmt.Printf("%v, %.1f µs within, %.1f µs between\n", l.Labels, l.Seconds*1e6, found.Seconds*1e6)
	}
	// Output: [0 0 0 0 1 1 1 1], 2.2 µs within, 2.8 µs between
}

func ExampleAgglomerate() {
	rows, err := cluster.Profile(times(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	tree, err := cluster.Agglomerate(rows, cluster.Ward)
	fmt.Println(tree.Cut(2), err)
	// Output: [0 0 0 0 1 1 1 1] <nil>
}

func ExampleKMedoids() {
	m, err := cluster.KMedoids(times(1), 2)
	fmt.Println(m.Labels, err)
	// Output: [0 0 0 0 1 1 1 1] <nil>
}

func ExampleSpectral() {
	labels, eigenvalues, err := cluster.Spectral(times(1), 2)
	fmt.Println(labels, len(eigenvalues), err)
	// Output: [0 0 0 0 1 1 1 1] 2 <nil>
}

func ExampleHDBSCAN() {
	fmt.Println(cluster.HDBSCAN(times(1), 3, cluster.Mass))
	// Output: [0 0 0 0 1 1 1 1] <nil>
}

func ExampleSSSTree() {
	depths, err := cluster.SSSTree(times(1), 0.45)
	fmt.Println(depths[0], err)
	// Output: [0 0 0 0 1 1 1 1] <nil>
}

func ExampleSearch() {
	m := times(1)
	low, high, err := m.Range()
	if err != nil {
		fmt.Println(err)
		return
	}
	_, score, err := cluster.Search(low, high, cluster.Points, func(x float64) (float64, error) {
		labels, err := cluster.Components(m, x)
		if err != nil {
			return 0, err
		}
		return cluster.Accuracy(labels, cluster.Labels{0, 0, 0, 0, 1, 1, 1, 1})
	})
	fmt.Println(score, err)
	// Output: 1 <nil>
}
