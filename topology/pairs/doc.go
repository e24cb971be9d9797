// Package pairs measures pairs of ranks with a campaign's scheduler and launcher, to find the
// topology of its machine.
//
//	opt := pairs.Defaults
//	opt.Version, opt.Environ = "1.0", os.Environ()
//	d, err := pairs.Open(c, opt)
//	if err != nil {
//		return err
//	}
//	defer d.Close()
//	if err := d.Measure(ctx); err != nil {
//		return err // Open and Measure resume
//	}
//	found, err := d.Found()
//	err = found.Write(d.Dir)
//
// All files are in the folder topology of the campaign's output: the journal, the folders of
// the jobs and the results. In the journal, each launch is a trial of a barrier whose
// algorithm is called "pairs" or "examples".
package pairs
