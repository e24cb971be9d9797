package assembly

// Starts is the order in which problems begin.
func (c *Campaign) Starts() []int { return c.starts() }

// WeightsOf is weightsOf.
var WeightsOf = weightsOf
