// Package live measures batches on a real machine: it joins a scheduler, a launcher
// and a benchmark program into a benchrunner.Runner.
//
// A batch becomes cases, cases of one layout become starts of the program, starts on
// as many nodes become jobs; with Options.Parallel also starts that run side by side on
// disjoint nodes of a job. Each job has a folder of its own, jobs/NAME:
//
//	plan.json      its starts and what they measure
//	job.sh         what the scheduler runs: the starts one after another, or side by side
//	               as they were planned, each on its nodes after those before it there
//	switches       which nodes share a switch, where starts side by side must not
//	setup.sh       the site's lines
//	claim/job      the ID of the job that measures; any other one of this name does nothing
//	begin          when its script began
//	job.log        what the script says
//	environment    where it ran
//	1/ 2/ …        one for each start: stdout, stderr, begin, end; beside others its hosts
//	stop           written by tutti: the script is to start nothing more
//	end            that the script came to its end, and when
//	result.json    what was made of it, written before the journal hears of it
//
// The journal has a job before it is submitted, when it has an ID, and after its
// trials, so that a runner that was killed at any instruction is asked again and
// takes up what runs, reads what ended and submits nothing twice.
//
//	m, err := live.New(live.Options{
//		Campaign: "k7x2m4qa", Dir: "/scratch/tuning",
//		Scheduler: scheduler, Launcher: launcher, Program: program, Force: force,
//	})
//	if err != nil {
//		return err
//	}
//	planned, err := m.Plan(ctx, batch) // what would be submitted
//	err = m.Run(ctx, batch, log)
package live
