// Package discover measures what a campaign's machine looks like: pairs of ranks, in jobs
// of the campaign's own scheduler and launcher.
//
//	d, err := discover.Open(c, discover.Options{Jobs: 1, Version: "1.0", Environ: os.Environ()})
//	if err != nil {
//		return err
//	}
//	defer d.Close()
//	if err := d.Measure(ctx); err != nil {
//		return err // what was measured is kept; Open and Measure go on
//	}
//	found, err := d.Found()
//	err = found.Write(d.Dir)
//
// Everything lies in the folder topology of the campaign's output: a journal, in which
// each start is a trial of a barrier by the algorithm "pairs" or "examples", and the
// folders of its jobs, whose output is what was measured.
package pairs
