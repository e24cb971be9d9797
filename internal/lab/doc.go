// Package lab replays recorded measurements under strategies and says what
// each of them needed: the machine time and the share of the candidates until the
// selection was good enough, and how good it was on the way. Selections are compared
// with the recorded set itself, complete and without noise. Calibrate holds campaigns
// that end by their own predictions against that truth.
//
// Versus puts one strategy beside the others in one table: data sets by prices of
// launches, with ratios and their geometric means.
//
// It also draws the figures by which Wilkins et al., "A FACT-based Approach"
// (ExaMPI 2021), compare autotuners, on whatever data it is given.
//
//	sets, _, err := lab.Load([]string{"data/simgrid/C_bcast.csv"})
//	if err != nil {
//		return err
//	}
//	design := lab.Design{
//		Sets: sets, Strategies: []string{"random", "regret"}, Seeds: lab.Seeds(1, 5),
//		Launches: []benchrunner.Launch{{Model: benchrunner.LaunchCandidate}},
//	}
//	outcomes, err := lab.Compare(ctx, design, lab.DefaultOptions(), nil)
//	if err != nil {
//		return err
//	}
//	err = lab.WriteText(os.Stdout, outcomes)
package lab
