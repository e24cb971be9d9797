package campaign

// Constants of the search for new parameter values of algorithms. Values without
// a source were chosen by us. The command `tutti-lab constants` measures the effect of halving and doubling them.
const (
	// growWithin limits the search for parameter values to fast algorithms: they may take growWithin times as long
	// as the fastest. Listed parameter values are about a factor of 4 apart, so the best value v is at most a
	// factor of 2 from a listed one. If a segmented algorithm takes the time a·v + b/v + c, the listed value is
	// then at most 25 % slower than the best value (for any a, b, c).
	growWithin = 1.25
	// growPoints is the number of points at which a new algorithm is measured first.
	growPoints = 3

	// confirmRate is the least gain per second of machine time that a pair of confirmation must add, as a share of what
	// learning has brought per second. confirmRound is the largest share of the budget of confirmation that one round
	// spends. confirmShare is the share of the machine time of measuring everything that this budget is at least; it
	// counts where learning is cheap. docs/experiments/2026-11-29-harm.md has harm, gain and machine time by the rate and
	// by the share.
	confirmRate  = 0.25
	confirmRound = 0.25
	confirmShare = 0.5
	// confirmHalvings limits how often a round of confirmation halves the least rate of gain. A pair that brings
	// 2^40 (10^12) times less per second than learning is not worth a measurement.
	confirmHalvings = 40

	// maxHeldOut limits the slowdown of a choice at one held-out point. Otherwise one disturbed measurement determines
	// the mean. Forecasts have the same limit.
	maxHeldOut = 10
)
