package learner_test

import (
	"slices"
	"testing"

	"tutti/preprocess"
	"tutti/surrogate/forest"
	"tutti/surrogate/learner"
)

// benchmarked returns the model options that campaigns use, but with a single worker.
func benchmarked(m learner.Model) learner.Options {
	return learner.Options{Scaling: preprocess.AlgorithmLog10, Model: m, Forest: forest.Options{Workers: 1}}
}

func BenchmarkFit(b *testing.B) {
	train := everyKth(b, 6)
	for _, m := range learner.Models() {
		b.Run(string(m), func(b *testing.B) {
			for b.Loop() {
				if _, err := learner.Fit(learner.Data{Measurements: slices.Values(train)}, benchmarked(m)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCrossValidate(b *testing.B) {
	train := everyKth(b, 6)
	for _, m := range learner.Models() {
		b.Run(string(m), func(b *testing.B) {
			for b.Loop() {
				if _, err := learner.CrossValidate(learner.Data{Measurements: slices.Values(train)}, 5, 1, benchmarked(m)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
