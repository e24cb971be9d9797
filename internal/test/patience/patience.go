// Package patience says how long a test waits for what must come. It is imported by
// tests alone.
package patience

import "time"

// Long is far longer than anything a test waits for takes, on a machine however busy:
// what has not come by then has hung. What comes is not waited for any longer.
const Long = 4 * time.Minute
