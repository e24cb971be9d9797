package preprocess

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
)

// manyMeasurements returns measurements of ten algorithms on a grid of 10 000 points.
func manyMeasurements() []coll.Measurement {
	var ms []coll.Measurement
	for i := range 10_000 {
		p := coll.Point{Collective: coll.Bcast, Nodes: 1 + i%40, PPN: 1 + i/40%10, MsgBytes: 1 << (i / 400)}
		for a := range 10 {
			c := coll.Candidate{Point: p, Algorithm: coll.Algorithm{Name: fmt.Sprint("algorithm", a)}}
			ms = append(ms, coll.Measurement{Candidate: c, Seconds: 1e-6 * float64(1+i%97+a), CostSeconds: 1.5})
		}
	}
	return ms
}

func BenchmarkReadTable(b *testing.B) {
	var text bytes.Buffer
	testutil.NoError(b, WriteTable(&text, manyMeasurements()))
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := readTable(bytes.NewReader(text.Bytes()), "in.csv"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWriteTable(b *testing.B) {
	ms := manyMeasurements()
	for b.Loop() {
		testutil.NoError(b, WriteTable(io.Discard, ms))
	}
}
