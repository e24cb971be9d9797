// Package pbs runs jobs on a PBS cluster (OpenPBS, PBS Professional) through its commands: qsub, qstat, qselect,
// qdel and pbsnodes. It was tested against recorded transcripts of OpenPBS 23.06.06 only, not on a cluster.
//
//	scheduler, err := pbs.New(pbs.Options{Queue: "prod", Account: "mpi"})
//	id, err := scheduler.Submit(ctx, submission)
//	states, err := scheduler.Status(ctx, map[string]benchrunner.Submission{id: submission})
//
// An ID is no promise: a routing queue may drop a job after qsub has printed its ID, and numbers begin again. So a
// job is identified by its name and folder. Without a job history, PBS forgets a job seconds after its end; the
// files of the job then show how it ended.
package pbs
