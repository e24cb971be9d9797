// Package report draws the convergence report of a campaign: Facts in, one
// self-contained HTML page, the same facts as JSON and the convergence curve as
// CSV out. It reads no file and no clock.
package report
