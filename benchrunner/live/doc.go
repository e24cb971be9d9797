// Package live measures batches on a real machine. It combines a scheduler, a launcher and
// a benchmark program into a benchrunner.Runner.
//
// The cases of one layout are grouped into launches of the program, and launches with
// equally many nodes into jobs. With Options.Parallel, launches also run concurrently on
// disjoint nodes of a job. Each job has its own folder, jobs/NAME:
//
//	plan.json      its launches and their cases
//	job.sh         the script: runs the launches one after another, or concurrently as planned
//	switches       nodes of each switch, if concurrent launches must not share one
//	setup.sh       the site's set-up lines
//	claim/job      ID of the job that measures; other jobs of this name do nothing
//	begin          start time of the script
//	job.log        output of the script
//	environment    where it ran
//	1/ 2/ …        one folder for each launch: variables, stdout, stderr, begin, end, and its hosts if concurrent;
//	               stdout.last and stderr.last are the ends of outputs that were too long to be kept
//	stop           written by tutti: the script must not start another launch
//	end            the script ended normally, and when
//	result.json    the trials, written before the journal
//
// The journal records a job before it is submitted, when it has an ID, and after its
// trials. So a runner that was killed at any instruction can run the same batch again: it
// resumes running jobs, reads ended ones and submits none twice.
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
