package live

import "time"

// SetPatience changes how long Run waits for a machine that measures nothing.
func (m *Machine) SetPatience(d time.Duration) { m.patience = d }
