package gp

import (
	"fmt"
	"testing"
)

func BenchmarkFitMulti(b *testing.B) {
	for _, rows := range []int{10, 30, 60, 150} {
		o := related(rows, 5)
		b.Run(fmt.Sprintf("%d observations", len(o.Y)), func(b *testing.B) {
			for b.Loop() {
				if _, err := FitMulti(o, relatedOptions); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
