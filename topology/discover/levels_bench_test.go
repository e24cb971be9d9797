package discover_test

import (
	"runtime"
	"testing"

	"tutti/internal/lab/clustering"
	"tutti/topology/discover"
)

// large is a machine of 4096 nodes: 16 pods of 8 leaf switches of 32 nodes.
var large = clustering.Machine{Shape: []int{16, 8, 32}, Seconds: []float64{2.18, 2.78, 3.3}}

// BenchmarkFindLevels4096 finds the levels of 4096 nodes and reports the memory of the
// process.
func BenchmarkFindLevels4096(b *testing.B) {
	first, second, truth := draw(b, large, clustering.DefaultNoise(0.05), 1)
	for b.Loop() {
		if r := findLevels(b, first, second); !exact(b, r.Levels, truth) {
			b.Errorf("levels of %v groups, want those of %v", groups(r.Levels), large.Shape)
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/(1<<20), "MiB")
}

// BenchmarkWard4096 clusters the profiles of 4096 members.
func BenchmarkWard4096(b *testing.B) {
	first, _, _ := draw(b, large, clustering.DefaultNoise(0.05), 1)
	for b.Loop() {
		if _, err := clustering.Agglomerate(first, discover.Ward); err != nil {
			b.Fatal(err)
		}
	}
}
