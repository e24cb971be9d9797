package gp

import "math"

// LOOResiduals returns, for some of the observations, by how many deviations each exceeds what all
// others let expect of it; the deviation holds its noise.
//
// With K⁻¹ known no model is fitted again: it is (K⁻¹(y - mean))_j over the root of (K⁻¹)_jj
// (Rasmussen and Williams 2006, equations 5.10 to 5.12). O(len(some)·n_a·(n_a + u)) operations
// for n_a observations of a task at u rows.
func (m *GP) LOOResiduals(some []int) []float64 {
	place := make([]int, len(m.obs.Y)) // of each observation in its task
	for _, of := range m.parts.tasks {
		for i, j := range of {
			place[j] = i
		}
	}
	out := make([]float64, len(some))
	for k, j := range some {
		a := m.obs.Task[j]
		root := make([]float64, len(m.parts.tasks[a]))
		root[place[j]] = 1
		m.parts.own[a].solveRow(root)
		inverse := dot(root, root)
		for _, row := range m.parts.columns(m.parts.mixed(), a) {
			v := dot(row, root)
			inverse -= v * v
		}
		out[k] = m.alpha[j] / math.Sqrt(inverse)
	}
	return out
}
