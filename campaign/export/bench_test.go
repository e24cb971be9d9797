package export_test

import (
	"testing"

	"tutti/campaign/assembly"
	"tutti/campaign/export"
)

// BenchmarkTrain trains the forests of two problems of 72 points.
func BenchmarkTrain(b *testing.B) {
	c, results, _, err := assembly.Reread(small(b, "workers=1", "model.trees=100"))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := export.Train(b.Context(), c, results); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkConclude fits what two libraries can be told at 72 points each.
func BenchmarkConclude(b *testing.B) {
	_, models, state := trained(b, small(b))
	for b.Loop() {
		if _, err := models.Conclude(state); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWrite gathers the facts of two problems and writes all files.
func BenchmarkWrite(b *testing.B) {
	_, done := concluded(b, small(b, "workers=1"))
	dir := b.TempDir()
	for b.Loop() {
		if _, err := done.Write(dir, by); err != nil {
			b.Fatal(err)
		}
	}
}
