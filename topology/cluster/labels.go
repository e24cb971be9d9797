package cluster

// Labels says which group each member is in, groups NewLabels from 0 in the order of
// their first members. Noise is in no group.
type Labels []int

// Noise marks members that a method puts in no group.
const Noise = -1

// Groups returns how many groups there are.
func (l Labels) Groups() int {
	most := Noise
	for _, g := range l {
		most = max(most, g)
	}
	return most + 1
}

// sizes returns the number of members of each group.
func (l Labels) sizes() []int {
	out := make([]int, l.Groups())
	for _, g := range l {
		if g != Noise {
			out[g]++
		}
	}
	return out
}

// NewLabels returns the labels with the groups NewLabels as Labels says.
func NewLabels(raw []int) Labels {
	out := make(Labels, len(raw))
	names := map[int]int{}
	for i, g := range raw {
		if g == Noise {
			out[i] = Noise
			continue
		}
		name, seen := names[g]
		if !seen {
			name = len(names)
			names[g] = name
		}
		out[i] = name
	}
	return out
}
