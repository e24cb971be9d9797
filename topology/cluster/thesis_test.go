package cluster_test

import (
	"slices"
	"testing"

	"tutti/topology/cluster"
)

// method divides a matrix, given the number of groups or, where it does not take that,
// the parameter that is best for the true division.
type method struct {
	name string
	best func(m cluster.Matrix, truth cluster.Labels) (float64, error)
}

var methods = []method{
	{"k-medoids", static(func(m cluster.Matrix, k int) (cluster.Labels, error) {
		d, err := cluster.KMedoids(m, k)
		return d.Labels, err
	})},
	{"average", static(cutBy(cluster.Average, false))},
	{"complete", static(cutBy(cluster.Complete, false))},
	{"single", static(cutBy(cluster.Single, false))},
	{"ward on profiles", static(cutBy(cluster.Ward, true))},
	{"spectral", static(func(m cluster.Matrix, k int) (cluster.Labels, error) {
		labels, _, err := cluster.Spectral(m, k)
		return labels, err
	})},
	{"components", searched(func(m cluster.Matrix, x float64) ([]cluster.Labels, error) {
		labels, err := cluster.Components(m, x)
		return []cluster.Labels{labels}, err
	})},
	{"DBSCAN", searched(func(m cluster.Matrix, x float64) ([]cluster.Labels, error) {
		labels, err := cluster.DBSCAN(m, x, 2)
		return []cluster.Labels{labels}, err
	})},
	{"SSSTree", func(m cluster.Matrix, truth cluster.Labels) (float64, error) {
		return search(0, 5, cluster.Points, truth, func(x float64) ([]cluster.Labels, error) { return cluster.SSSTree(m, x) })
	}},
	{"HDBSCAN", func(m cluster.Matrix, truth cluster.Labels) (float64, error) {
		return search(1, float64(1+m.Len()/2), min(cluster.Points, m.Len()/2), truth, func(x float64) ([]cluster.Labels, error) {
			mass, err := cluster.HDBSCAN(m, int(x), cluster.Mass)
			if err != nil {
				return nil, err
			}
			leaves, err := cluster.HDBSCAN(m, int(x), cluster.Leaves)
			return []cluster.Labels{mass, leaves}, err
		})
	}},
}

func static(divide func(m cluster.Matrix, k int) (cluster.Labels, error)) func(cluster.Matrix, cluster.Labels) (float64, error) {
	return func(m cluster.Matrix, truth cluster.Labels) (float64, error) {
		labels, err := divide(m, truth.Groups())
		if err != nil {
			return 0, err
		}
		return cluster.Accuracy(labels, truth)
	}
}

func cutBy(by cluster.Linkage, rows bool) func(m cluster.Matrix, k int) (cluster.Labels, error) {
	return func(m cluster.Matrix, k int) (cluster.Labels, error) {
		d, err := tree(m, by, rows)
		if err != nil {
			return nil, err
		}
		return d.Cut(k), nil
	}
}

func searched(divide func(m cluster.Matrix, x float64) ([]cluster.Labels, error)) func(cluster.Matrix, cluster.Labels) (float64, error) {
	return func(m cluster.Matrix, truth cluster.Labels) (float64, error) {
		low, high, err := m.Range()
		if err != nil {
			return 0, err
		}
		return search(low, high, cluster.Points, truth, func(x float64) ([]cluster.Labels, error) { return divide(m, x) })
	}
}

// search returns the best accuracy over the parameter, of methods with several
// divisions that of the best.
func search(low, high float64, points int, truth cluster.Labels, divide func(x float64) ([]cluster.Labels, error)) (float64, error) {
	_, score, err := cluster.Search(low, high, points, func(x float64) (float64, error) {
		all, err := divide(x)
		if err != nil {
			return 0, err
		}
		best := 0.0
		for _, labels := range all {
			share, err := cluster.Accuracy(labels, truth)
			if err != nil {
				return 0, err
			}
			best = max(best, share)
		}
		return best, nil
	})
	return score, err
}

// sensitive methods are not held to anything where messages may be late: the thesis has
// SSSTree at 0.5 on BETZY, and complete linkage looks at the farthest pair alone.
var sensitive = []string{"SSSTree", "complete"}

// The machines of the thesis: every method finds all levels where noise is 5 %, and but
// for two of them nearly so when 1 % of the distances are 1.5 to 4 times too long.
func TestThesis(t *testing.T) {
	for _, tc := range []struct {
		name string
		machine
		by    measuring
		least float64
	}{
		{"FRAM, 1 node", machine{shape: []int{2, 16}, seconds: []float64{0.80, 1.46}}, measuring{noise: 0.05}, 1},
		{"FRAM, 2 nodes", machine{shape: []int{2, 2, 16}, seconds: []float64{0.80, 1.46, 2.60}}, measuring{noise: 0.05}, 1},
		{"FRAM, 4 nodes", machine{shape: []int{2, 2, 2, 16}, seconds: []float64{0.80, 1.46, 2.18, 2.78}}, measuring{noise: 0.05}, 1},
		{"BETZY, 4 nodes", machine{shape: []int{4, 2, 64}, seconds: []float64{0.6, 0.8, 1.8}}, measuring{noise: 0.05}, 1},
		{"FRAM, 1 node, late", machine{shape: []int{2, 16}, seconds: []float64{0.80, 1.46}}, usual(0.05), 1},
		{"FRAM, 2 nodes, late", machine{shape: []int{2, 2, 16}, seconds: []float64{0.80, 1.46, 2.60}}, usual(0.05), 1},
		{"FRAM, 4 nodes, late", machine{shape: []int{2, 2, 2, 16}, seconds: []float64{0.80, 1.46, 2.18, 2.78}}, usual(0.05), 1},
		{"BETZY, 4 nodes, late", machine{shape: []int{4, 2, 64}, seconds: []float64{0.6, 0.8, 1.8}}, usual(0.05), 0.99},
	} {
		if testing.Short() && tc.members() > 100 {
			continue
		}
		a, b, truth := tc.draw(t, tc.by, 1)
		m := mean(t, a, b)
		for _, by := range methods {
			least := 1.0
			for _, labels := range truth {
				share, err := by.best(m, labels)
				if err != nil {
					t.Fatal(by.name, err)
				}
				least = min(least, share)
			}
			t.Logf("%s: %s %.3f", tc.name, by.name, least)
			if least < tc.least && !(tc.by.outlier > 0 && slices.Contains(sensitive, by.name)) {
				t.Errorf("%s: %s %.3f at its worst level, want %g", tc.name, by.name, least, tc.least)
			}
		}
	}
}
