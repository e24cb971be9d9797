package coll

import (
	"fmt"
	"testing"
)

func TestNeighbours(t *testing.T) {
	segments := Range{"segsize", 1024, 1 << 20}
	tests := []struct {
		name  string
		of    Range
		fast  string
		known []string
		want  string
	}{
		{"between two", segments, "ring(segsize=32768)", []string{"ring", "ring(segsize=8192)", "ring(segsize=131072)"},
			"[ring(segsize=16384) ring(segsize=65536)]"},
		{"first and last", segments, "ring(segsize=32768)", nil, "[ring(segsize=8192) ring(segsize=131072)]"},
		{"ends of the range", segments, "ring(segsize=2048)", []string{"ring(segsize=4096)"}, "[ring(segsize=1024)]"},
		{"at the end", segments, "ring(segsize=1048576)", []string{"ring(segsize=524288)"}, "[]"},
		{"neighbours known", segments, "ring(segsize=4096)", []string{"ring(segsize=2048)", "ring(segsize=8192)"}, "[]"},
		{"other algorithms", segments, "ring(segsize=4096)", []string{"tree(segsize=2048)", "ring(k=2,segsize=8192)"},
			"[ring(segsize=1024) ring(segsize=16384)]"},
		{"other parameters stay", segments, "chain(faninout=2,segsize=4096)", []string{"chain(faninout=2,segsize=16384)", "chain(faninout=4,segsize=8192)"},
			"[chain(faninout=2,segsize=1024) chain(faninout=2,segsize=8192)]"},
		{"none yet", segments, "ring", []string{"ring", "tree(segsize=8192)"}, "[ring(segsize=32768)]"},
		{"none, others known", segments, "ring", []string{"ring(segsize=8192)"}, "[]"},
		{"switched off", segments, "ring(segsize=0)", []string{"ring(segsize=0)"}, "[ring(segsize=32768)]"},
		{"no power of two", Range{"radix", 2, 64}, "tree(radix=3)", []string{"tree(radix=3)", "tree(radix=8)"}, "[tree(radix=2) tree(radix=4)]"},
		{"beyond no power of two", Range{"radix", 2, 64}, "tree(radix=3)", nil, "[tree(radix=2) tree(radix=8)]"},
		{"close ones", Range{"radix", 2, 64}, "tree(radix=5)", []string{"tree(radix=4)", "tree(radix=6)"}, "[]"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			parse := func(text string) Algorithm {
				a, err := ParseAlgorithm(text)
				if err != nil {
					t.Fatal(err)
				}
				return a
			}
			var known []Algorithm
			for _, k := range tc.known {
				known = append(known, parse(k))
			}
			if got := fmt.Sprint(tc.of.Neighbours(parse(tc.fast), known)); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

// TestNeighboursLeadToBest checks that repeated moves to the fastest neighbour arrive at the best power of
// two, if the time has a single minimum.
func TestNeighboursLeadToBest(t *testing.T) {
	r := Range{"segsize", 1024, 1 << 20}
	for best := r.Low; best <= r.High; best *= 2 {
		time := func(a Algorithm) float64 {
			v, _ := r.value(a)
			return float64(v)/float64(best) + float64(best)/float64(v)
		}
		ring := Algorithm{Name: "ring"}
		known := []Algorithm{ring.with("segsize", 8192), ring.with("segsize", 32768), ring.with("segsize", 131072)}
		fast := known[1]
		for steps := 0; ; steps++ {
			more := r.Neighbours(fast, known)
			known = append(known, more...)
			for _, a := range known {
				if time(a) < time(fast) {
					fast = a
				}
			}
			if len(more) == 0 {
				break
			}
			if steps > 6 {
				t.Fatalf("best %d: no end after %v", best, known)
			}
		}
		if fast != ring.with("segsize", best) {
			t.Errorf("best %d: came to %v", best, fast)
		}
	}
}

func TestFloorPowerOfTwo(t *testing.T) {
	for n := 1; n <= 1025; n++ {
		got := FloorPowerOfTwo(n)
		if got > n || 2*got <= n || got&(got-1) != 0 {
			t.Errorf("FloorPowerOfTwo(%d) = %d", n, got)
		}
	}
}
