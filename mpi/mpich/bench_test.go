package mpich

import (
	"math/rand/v2"
	"testing"

	"tutti/coll"
	"tutti/selection"
)

func BenchmarkFit(b *testing.B) {
	lib, cat := embedded(b)
	rows := grid(cat, coll.Bcast, rand.New(rand.NewPCG(1, 1)))
	for b.Loop() {
		if _, err := Fit(rows, lib, cat, selection.Options{MaxLoss: 0.01}); err != nil {
			b.Fatal(err)
		}
	}
}
