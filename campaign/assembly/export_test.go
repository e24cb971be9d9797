package assembly

import "tutti/benchrunner"

// StartOrder gives external tests access to startOrder.
func (c *Campaign) StartOrder() []int { return c.startOrder() }

// WeightsOf gives external tests access to weightsOf.
var WeightsOf = weightsOf

// SetScheduler replaces the scheduler of a connected campaign.
func (c *Campaign) SetScheduler(s benchrunner.Scheduler) { c.scheduler = s }
