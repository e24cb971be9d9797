package online

import (
	"math"
	"testing"
)

// drawnPrice is the mean of prices by weights.
func drawnPrice(weights, prices []float64) float64 {
	sum, price := 0.0, 0.0
	for i, w := range weights {
		sum += w
		price += w * prices[i]
	}
	return price / sum
}

func TestMixed(t *testing.T) {
	prices := []float64{0, 1, 3, 0.1}
	tests := []struct {
		name           string
		weights        []float64
		drawn, affords float64
		price          float64
		others         int // that are drawn, beside what is selected
	}{
		{"cheap enough", []float64{1, 1, 1, 1}, 1000, 2, 4.1 / 4, 3},
		{"held down", []float64{0, 1, 1, 1}, 1000, 0.3, 0.3, 3},
		{"too few draws", []float64{0, 3, 2, 1}, 25, 0.3, 0.3, 2},
		{"next to no draws", []float64{0, 1, 3, 1}, 1, 0.3, 0.3, 1},
		{"nothing to explore", []float64{0, 0, 0, 0}, 10, 0.3, 0, 0},
		{"nothing to spend", []float64{0, 1, 1, 1}, 10, 0, 0, 0},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got := mixed(tc.weights, prices, 0, tc.drawn, tc.affords)
			others := 0
			for i, w := range got {
				if i > 0 && w > 0 {
					others++
				}
			}
			if math.Abs(drawnPrice(got, prices)-tc.price) > 1e-9 || others != tc.others {
				t.Errorf("weights %v: price %g and %d algorithms, want %g and %d", got, drawnPrice(got, prices), others, tc.price, tc.others)
			}
		})
	}
}

// What nothing is known of is explored in so few calls that jobs pay 3 % when algorithms take
// 2.5 times as long.
func TestUnknown(t *testing.T) {
	opt := DefaultOptions()
	w := Unknown(5, opt)
	sum := 0.0
	for _, v := range w {
		sum += v
	}
	if cost := opt.Explore * (1 - w[0]/sum) * (untried - 1); math.Abs(cost-opt.Over) > 1e-9 || w[1] != w[4] {
		t.Errorf("weights %v cost %g, want %g", w, cost, opt.Over)
	}
	if w := Unknown(1, opt); len(w) != 1 || !(w[0] > 0) {
		t.Errorf("weights of the default alone: %v", w)
	}
}
