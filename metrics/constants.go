package metrics

// The default stopping criteria, which campaigns can set with the keys stop.* of a campaign file, and the tolerance
// of ties. FACT is the paper of Wilkins et al., ExaMPI 2021.
const (
	DefaultAllowedSlowdown  = 0.03  // average slowdown minus one: section V of FACT
	DefaultAllowedMistakes  = 0.05  // proportion of the points: section V of FACT
	DefaultMistakeThreshold = 0.10  // slowdown minus one: table II of FACT
	TieTolerance            = 0.005 // slowdown minus one: within 0.5 % of the best counts as the best; our choice
)
