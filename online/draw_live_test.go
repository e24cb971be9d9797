package online

import (
	"bytes"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi/libtutti"
)

// TestLiveDraw: the library draws what this package draws, bit for bit.
func TestLiveDraw(t *testing.T) {
	program := testutil.BuildWithRuntime(t, "drawn")

	mix := libtutti.Anywhere(coll.Allreduce, nil)
	weights := []int{1, 300, 70, 999, 31}
	for i, name := range []string{"ring", "rabenseifner", "recursive_doubling", "nonoverlapping", "library_default"} {
		mix.Choices = append(mix.Choices, libtutti.Choice{Weight: weights[i], Algorithm: coll.Algorithm{Name: name}})
	}
	before := libtutti.Anywhere(coll.Bcast, []libtutti.Choice{{Weight: 1, Algorithm: coll.Default}}) // so that the mix is not the first
	table := libtutti.Table{Mixes: []libtutti.Mix{before, mix}}.Bytes()
	sums := make([]float64, len(weights))
	for i, w := range weights {
		sums[i] = float64(w) + sums[max(0, i-1)]
	}
	for i := range sums {
		sums[i] /= sums[len(sums)-1]
	}

	in := fmt.Appendf(nil, "%d\n%s", len(table), table)
	var want strings.Builder
	seen := map[int]bool{}
	for low := uint64(1); low != 0; low <<= 1 {
		for count := range uint64(200) {
			in = fmt.Appendf(in, "%d %d\n", low, count)
			at := []uint64{12345678901234567890, 0xcbf29ce484222325, 1, low, count}
			share, weights := uniform(append(at, forShare)...), uniform(append(at, forWeights)...)
			place := drawn(sums, weights)
			seen[place] = true
			fmt.Fprintf(&want, "%016x %016x %d\n", math.Float64bits(share), math.Float64bits(weights), place)
		}
	}
	run := exec.Command(program)
	run.Stdin = bytes.NewReader(in)
	got, err := run.Output()
	if err != nil || string(got) != want.String() {
		t.Errorf("%v: the library draws\n%.300s\nwant\n%.300s", err, got, want.String())
	}
	if len(seen) < 4 {
		t.Errorf("drawn: %v", seen)
	}
}
