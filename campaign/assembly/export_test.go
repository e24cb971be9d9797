package assembly

// StartOrder exports startOrder to tests.
func (c *Campaign) StartOrder() []int { return c.startOrder() }

// WeightsOf exports weightsOf to tests.
var WeightsOf = weightsOf
