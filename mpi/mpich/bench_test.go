package mpich

import (
	"math/rand/v2"
	"testing"

	"tutti/coll"
)

func BenchmarkFit(b *testing.B) {
	mpich := known(b)
	rows := grid(mpich.cat, coll.Bcast, rand.New(rand.NewPCG(1, 1)))
	for b.Loop() {
		if _, err := mpich.Fit(rows, 0.01); err != nil {
			b.Fatal(err)
		}
	}
}
