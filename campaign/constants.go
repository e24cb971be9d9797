package campaign

// Constants of the search for new parameter values of algorithms. Values without
// a source were chosen by us. The command `tutti-lab constants` measures the effect of halving and doubling them.
const (
	// growWithin limits the search for parameter values to fast algorithms: their time is at most growWithin
	// times the fastest. Listed parameter values are about four times apart. The best value v thus differs
	// from a listed value by at most a factor of 2. If a segmented algorithm takes the time a·v + b/v + c,
	// the listed value is then at most 25 % slower (for any a, b, c).
	growWithin = 1.25
	// growPoints is the number of points at which a new algorithm is measured first.
	growPoints = 3
)
