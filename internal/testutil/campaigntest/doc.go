// Package campaigntest gives tests whole campaigns that take a fraction of a second: on
// recorded data, on made-up data, and on a machine whose benchmarks measure nothing.
//
//	cfg := campaigntest.Load(t, campaigntest.Small(t, t.TempDir()), "seed=7")
//	dir := campaigntest.Run(t, cfg) // with the journal of a campaign that has ended
//	c, results, contents, err := assembly.RestoreAll(dir)
//
// It is imported by tests alone.
package campaigntest
