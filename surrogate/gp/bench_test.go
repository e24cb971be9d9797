package gp

import (
	"fmt"
	"testing"
	"tutti/internal/testutil"
)

func BenchmarkFit(b *testing.B) {
	for _, rows := range []int{10, 30, 60, 150} {
		o := related(rows, 5)
		b.Run(fmt.Sprintf("%d observations", len(o.Y)), func(b *testing.B) {
			for b.Loop() {
				if _, err := fit(o, relatedOptions); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPosterior measures the cost of selecting a batch. It computes a posterior, conditions it on some
// entries, and computes the covariances between the candidates and other entries.
func BenchmarkPosterior(b *testing.B) {
	o := related(100, 5)
	m := testutil.Must(fit(o, relatedOptions))(b)
	rows := related(300, 1).X
	var entries []Entry
	some := make([]int, 0, 400)
	for i := range rows {
		for a := range 5 {
			if len(some) < cap(some) {
				some = append(some, len(entries))
			}
			entries = append(entries, Entry{i, a})
		}
	}
	prepare := func(b *testing.B) *Posterior {
		return testutil.Must(m.Posterior(rows, entries))(b)
	}
	b.Run("prepare", func(b *testing.B) {
		for b.Loop() {
			prepare(b)
		}
	})
	b.Run("condition", func(b *testing.B) {
		p := prepare(b)
		for i := 0; b.Loop(); i++ {
			if i%64 == 0 {
				b.StopTimer()
				p = prepare(b)
				b.StartTimer()
			}
			p.Condition(i % len(entries))
		}
	})
	b.Run("covariances", func(b *testing.B) {
		p := prepare(b)
		for b.Loop() {
			p.Covariances(some, some)
		}
	})
}
