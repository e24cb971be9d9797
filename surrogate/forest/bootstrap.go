package forest

import "math/rand/v2"

// treeSource returns the generator of tree t: the bootstrap draws come first, then the choices
// made at the nodes in the order they are grown.
func treeSource(seed uint64, t int) *rand.PCG { return rand.NewPCG(seed, uint64(t)) }

// drawCounts fills counts with how often each row is in the tree's sample: as many draws with
// replacement as there are rows. Each 64-bit number serves two draws; a 32-bit multiply-shift
// favours no row by more than n/2³², below 0.2 % at the largest n.
func drawCounts(src *rand.PCG, counts []uint32) {
	clear(counts)
	n := uint64(len(counts))
	for i := 0; i < len(counts)-1; i += 2 {
		u := src.Uint64()
		counts[(u>>32)*n>>32]++
		counts[(u&0xffffffff)*n>>32]++
	}
	if len(counts)%2 == 1 {
		counts[(src.Uint64()>>32)*n>>32]++
	}
}

// below returns a number in [0, n), n small.
func below(src *rand.PCG, n int) int {
	return int((src.Uint64() >> 32) * uint64(n) >> 32)
}
