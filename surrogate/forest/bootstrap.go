package forest

import "math/rand/v2"

// treeSource returns the random generator of tree t. It draws the bootstrap sample first, then the
// features of each node in the order of growth.
func treeSource(seed uint64, t int) *rand.PCG { return rand.NewPCG(seed, uint64(t)) }

// drawCounts sets counts to the number of times each row is in the tree's bootstrap sample, which has
// as many draws as rows. Each 64-bit number is used for two draws. The bias of the 32-bit
// multiply-shift is at most n/2³², below 0.2 % at the largest n.
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
