package clustering

import (
	"fmt"
	"math"

	"tutti/topology/cluster"
)

// Medoids is a division by nearest medoid.
type Medoids struct {
	Labels  cluster.Labels
	Members []int   // the medoid of each group
	Cost    float64 // sum of the distances to the medoids, in seconds
}

// KMedoids divides the members into k groups, each around one of its members, so that
// the distances to them add up to as little as exchanging one medoid can reach.
// O(k·n²) to start and O(n²) for each exchange.
//
// It returns an error matching ErrMatrix when a pair is missing, and another when k is
// not in 1 to n.
//
// Source: Kaufman and Rousseeuw, Finding Groups in Data (1990), chapter 2 (PAM), with
// the exchanges evaluated as in Schubert and Rousseeuw, Faster k-Medoids Clustering
// (SISAP 2019), FastPAM1.
func KMedoids(m cluster.Matrix, k int) (Medoids, error) {
	if err := m.CheckComplete(); err != nil {
		return Medoids{}, err
	}
	if k < 1 || k > m.Len() {
		return Medoids{}, fmt.Errorf("%d groups of %d members: want 1 to %d", k, m.Len(), m.Len())
	}
	p := pam{m: m, medoid: make([]bool, m.Len())}
	p.build(k)
	for k > 1 && p.exchange() {
	}
	out := Medoids{Labels: cluster.NewLabels(p.near), Members: make([]int, k), Cost: p.cost()}
	for j, g := range out.Labels {
		out.Members[g] = p.medoids[p.near[j]]
	}
	return out, nil
}

// pam knows of every member its nearest medoid and how far that one and the next are.
type pam struct {
	m       cluster.Matrix
	medoids []int
	medoid  []bool
	near    []int // index into medoids
	d1, d2  []float64
}

// build takes the member that lowers the cost most, k times.
func (p *pam) build(k int) {
	p.d1 = make([]float64, p.m.Len())
	for i := range p.d1 {
		p.d1[i] = math.Inf(1)
	}
	for range k {
		best, at := math.Inf(1), -1
		for h := range p.m.Len() {
			if p.medoid[h] {
				continue
			}
			cost := 0.0
			for j, x := range p.m.Row(h) {
				cost += min(x, p.d1[j])
			}
			if cost < best {
				best, at = cost, h
			}
		}
		p.medoids = append(p.medoids, at)
		p.medoid[at] = true
		for j, x := range p.m.Row(at) {
			p.d1[j] = min(x, p.d1[j])
		}
	}
	p.assign()
}

func (p *pam) assign() {
	n := p.m.Len()
	p.near, p.d1, p.d2 = make([]int, n), make([]float64, n), make([]float64, n)
	for j := range n {
		p.d1[j], p.d2[j] = math.Inf(1), math.Inf(1)
		for i, med := range p.medoids {
			switch x := p.m.At(j, med); {
			case x < p.d1[j]:
				p.near[j], p.d1[j], p.d2[j] = i, x, p.d1[j]
			case x < p.d2[j]:
				p.d2[j] = x
			}
		}
	}
}

// exchange makes the best exchange of a medoid for another member and reports whether
// it lowers the cost.
func (p *pam) exchange() bool {
	loss := make([]float64, len(p.medoids)) // of doing without each medoid
	for j, i := range p.near {
		loss[i] += p.d2[j] - p.d1[j]
	}
	best, out, in := -1e-12*p.cost(), -1, -1
	change := make([]float64, len(p.medoids))
	for h := range p.m.Len() {
		if p.medoid[h] {
			continue
		}
		copy(change, loss)
		shared := 0.0
		for j, x := range p.m.Row(h) {
			switch {
			case x < p.d1[j]:
				shared += x - p.d1[j]
				change[p.near[j]] += p.d1[j] - p.d2[j]
			case x < p.d2[j]:
				change[p.near[j]] += x - p.d2[j]
			}
		}
		for i, c := range change {
			if c+shared < best {
				best, out, in = c+shared, i, h
			}
		}
	}
	if out < 0 {
		return false
	}
	p.medoid[p.medoids[out]], p.medoid[in] = false, true
	p.medoids[out] = in
	p.assign()
	return true
}

func (p *pam) cost() float64 {
	sum := 0.0
	for _, x := range p.d1 {
		sum += x
	}
	return sum
}
