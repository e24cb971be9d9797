package learner

import (
	"testing"

	"tutti/metrics"
)

// What the criteria and the weights of points say decides between the models of a stack:
// at some points the forests turn a slowdown of 20 % into 9 %, which is no mistake, at
// others a tie into 4 %.
func TestWeightOfFollowsTheCriteria(t *testing.T) {
	const twenty, nine, four = 0.0792, 0.0374, 0.0170 // log10 of 1.2, 1.09 and 1.04
	var points []heldPoint
	for range 10 {
		points = append(points, heldPoint{weight: 1, known: []held{
			{measured: twenty, gaussian: 0, forest: 9}, {measured: nine, gaussian: 0.1, forest: 0}, {measured: 0, gaussian: 9, forest: 9},
		}})
	}
	for range 30 {
		points = append(points, heldPoint{weight: 1, known: []held{
			{measured: 0, gaussian: 0, forest: 9}, {measured: four, gaussian: 0.1, forest: 0},
		}})
	}
	light := append([]heldPoint(nil), points...)
	for i := range light[:10] {
		light[i].weight = 0.01
	}
	tests := []struct {
		name    string
		points  []heldPoint
		allowed metrics.Allowed
		forests bool
	}{
		{"mistakes count", points, metrics.Allowed{Slowdown: 0.03, Mistakes: 0.05, Threshold: 0.1}, true},
		{"many mistakes are allowed", points, metrics.Allowed{Slowdown: 0.03, Mistakes: 10, Threshold: 0.1}, false},
		{"no slowdown is allowed", points, metrics.Allowed{Slowdown: 0.001, Mistakes: 0.05, Threshold: 0.1}, false},
		{"a mistake is 5 % slower", points, metrics.Allowed{Slowdown: 0.03, Mistakes: 0.05, Threshold: 0.05}, false},
		{"the points of mistakes matter little", light, metrics.Allowed{Slowdown: 0.03, Mistakes: 0.05, Threshold: 0.1}, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if w := weightOf(tc.points, tc.allowed); (w > 0) != tc.forests {
				t.Errorf("the forests weigh %g, want any weight: %t", w, tc.forests)
			}
		})
	}
}
