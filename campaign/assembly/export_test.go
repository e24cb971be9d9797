package assembly

// StartOrder gives external tests access to startOrder.
func (c *Campaign) StartOrder() []int { return c.startOrder() }

// WeightsOf gives external tests access to weightsOf.
var WeightsOf = weightsOf
