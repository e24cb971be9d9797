package files

import (
	"cmp"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"strings"

	"tutti/topology"
)

// maxBlockLevel limits block sizes: the largest one that Slurm allows is 2^maxBlockLevel times the base size.
const maxBlockLevel = 15

// sizes parses a list of block sizes. The first one is the base size. The others are multiples of the base
// size by powers of two, in ascending order.
func sizes(words []string) ([]int, error) {
	var out []int
	for _, word := range words {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("block size %q: want a whole number above 0", word)
		}
		if len(out) > 0 {
			times := n / out[0]
			if n <= out[len(out)-1] || n%out[0] != 0 || bits.OnesCount(uint(times)) != 1 || times > 1<<maxBlockLevel {
				return nil, fmt.Errorf("block size %d: want %d times a power of two (2^%d at most), ascending", n, out[0], maxBlockLevel)
			}
		}
		out = append(out, n)
	}
	return out, nil
}

// aggregate builds a tree of blocks. For each size after the base size, Slurm groups successive blocks in
// the order of the file. Each such group gets a common switch. Blocks without nodes also count.
func aggregate(blocks []entry, sizes []int, file string) (topology.Tree, error) {
	t, err := assemble(blocks, file)
	if err != nil {
		return topology.Tree{}, err
	}
	if len(blocks) < 2 {
		return finish(t)
	}
	for _, b := range blocks {
		if len(sizes) > 0 && 0 < len(b.nodes) && len(b.nodes) < sizes[0] {
			return topology.Tree{}, fault(file, b.line, "block %s has %d nodes: want %d or more", b.name, len(b.nodes), sizes[0])
		}
	}
	level, together := t.Root.Children, 1
	for _, size := range sizes[min(1, len(sizes)):] {
		times := size / sizes[0]
		if times/together >= len(level) {
			break // a single switch becomes the root
		}
		level = bundle(level, times/together)
		together = times
	}
	t.Root.Children = level
	return finish(t)
}

// bundle puts each run of `few` successive vertices below a new switch, which is named after the run's first
// and last block. A single vertex at the end gets no switch.
func bundle(level []topology.Vertex, few int) []topology.Vertex {
	var out []topology.Vertex
	for len(level) > 0 {
		group := level[:min(few, len(level))]
		level = level[len(group):]
		if len(group) == 1 {
			return append(out, group[0])
		}
		out = append(out, topology.Vertex{
			Kind:       topology.Switch,
			Name:       first(group[0]) + "-" + last(group[len(group)-1]),
			Confidence: 1,
			Children:   group,
		})
	}
	return out
}

func first(v topology.Vertex) string {
	for v.Height() > 0 {
		v = v.Children[0]
	}
	return v.Name
}

func last(v topology.Vertex) string {
	for v.Height() > 0 {
		v = v.Children[len(v.Children)-1]
	}
	return v.Name
}

// writeSlurmBlocks writes a topology.conf of topology/block. Blocks are the switches directly
// above nodes, and the base size is that of the smallest block. The tree must have such a switch.
//
// A higher level of switches becomes another block size. All its switches must have the same number of
// blocks, which is a power of two; the last switch may have fewer. The result `gaps` lists what the format
// cannot express.
func writeSlurmBlocks(w io.Writer, t *topology.Tree) (gaps []string, err error) {
	blocks, gaps := blocksOf(t)
	all, more := blockSizes(t, blocks)
	var b strings.Builder
	for _, block := range blocks {
		fmt.Fprintf(&b, "BlockName=%s Nodes=%s\n", block.name, topology.HostList(block.nodes))
	}
	fmt.Fprintf(&b, "BlockSizes=%s\n", strings.ReplaceAll(strings.Trim(fmt.Sprint(all), "[]"), " ", ","))
	_, err = io.WriteString(w, b.String())
	return append(gaps, more...), err
}

func blocksOf(t *topology.Tree) (blocks []entry, gaps []string) {
	for v := range t.All() {
		e := entry{name: cmp.Or(v.Name, "nodes"), nodes: v.DirectNodes()}
		if v.Kind != topology.Switch || e.nodes == nil {
			continue
		}
		if len(e.nodes) < len(v.Children) {
			gaps = append(gaps, fmt.Sprintf("the nodes next to the switches below %s are a block", e.name))
		}
		blocks = append(blocks, e)
	}
	return blocks, gaps
}

// blockSizes returns the base size, followed by the sizes of those higher levels that the format can
// express.
func blockSizes(t *topology.Tree, blocks []entry) (all []int, gaps []string) {
	base := len(blocks[0].nodes)
	for _, b := range blocks {
		base = min(base, len(b.nodes))
	}
	all = []int{base}
	for height := 1; height < t.Root.Height(); height++ {
		var counts []int
		for v := range t.All() {
			if v.Height() == height {
				counts = append(counts, len((&topology.Tree{Root: *v}).Switches())) // blocks below v
			}
		}
		if size := base * counts[0]; even(counts, len(blocks)) && size > all[len(all)-1] {
			all = append(all, size)
		} else {
			gaps = append(gaps, fmt.Sprintf("the switches %d above the blocks have not all the same power of two of them: left out", height))
		}
	}
	return all, gaps
}

// even reports whether all counts but the last are the same power of two, and the last is not larger. Their sum
// must be `all`.
func even(counts []int, all int) bool {
	sum := 0
	for i, n := range counts {
		if n > counts[0] || n < counts[0] && i < len(counts)-1 {
			return false
		}
		sum += n
	}
	return sum == all && bits.OnesCount(uint(counts[0])) == 1
}
