// Package verify tests on the machine whether selection files made anything slower, and reverts to the
// library's default where they did.
//
// It compares the library as shipped (coll.Default) with the library with its file loaded (Tuned). Both are
// measured in the same jobs: a block measures every test point once with each, in random order. What counts is
// the ratio of the two times in a block. A verification consists of passes. Each pass has these steps:
//
//	screening of many points -> suspects -> confirmation of the suspects -> findings
//
// Screening only selects suspects, the points that may be slower. The confirmation decides. It measures new
// blocks, whose number is fixed beforehand. It uses Wilcoxon's signed-rank test against a ratio of 1 +
// Tolerance, with Holm's correction for the number of suspects. The error probability of pass n is proportional
// to 1/n². So all passes of a library together raise a false alarm with probability Alpha at most.
//
// A pass ends with an outcome: the points that are slower. The caller reverts them to the library's default
// (selection.RevertToDefault) and writes the files again. The next pass tests these points, their neighbours
// and all points where the selection has changed. After the last pass, collectives that are still slower are
// reverted as a whole. Every step is written to the journal before the next one. A session that is opened again
// with the journal's records continues where it ended.
//
//	files := write() // the selection without what was rejected, see RejectedBy, and the machine
//	session, err := verify.Open(verify.Options{Library: "mpich", Rules: rules}, past, files.Problems, log)
//	if err != nil {
//		return err
//	}
//	for ended := false; !ended; files = write() {
//		if ended, err = session.RunPass(ctx, files); err != nil {
//			return err
//		}
//	}
//	result, err := session.Result()
//
// Restore returns the result of recorded entries without measuring anything.
//
// Probe is a program for a live runner that checks whether the library obeys the file: it calls a collective
// and observes which algorithm the library runs.
package verify
