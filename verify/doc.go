// Package verify compares selection files with the library's defaults on the machine, says how much slower the
// selections can be, and reverts to the default where they are slower.
//
// It compares the library as shipped (coll.Default) with the library with its file loaded (Tuned). Both are
// measured in the same jobs: a block measures every test point once with each, in random order. What counts is
// the ratio of the two times in a block. Test points are the riskiest selections and a random sample of the others,
// chosen so that their expected cost fits into the limit. A verification consists of passes. Each pass has these steps:
//
//	screening of many points -> clear points, suspects -> confirmation of the suspects -> findings
//
// A point is clear if the upper end of its ratio is at most 1 + Detect. Screening only selects suspects, the points that
// may be slower. The confirmation decides about these. It measures new blocks, whose number is fixed beforehand. It uses
// Wilcoxon's signed-rank test against a ratio of 1 + Tolerance, with Holm's correction for the number of suspects. The
// error probability of pass n is proportional to 1/n². So all passes of a library together raise a false alarm with
// probability Alpha at most. Points that are neither clear nor slower are open; nothing is proved as long as there are any.
//
// A pass ends with an outcome: the points that are slower. The caller reverts them to the library's default
// (selection.RevertToDefault) and writes the files again. The next pass tests these points, their neighbours, points
// where the selection has changed, and more random points if the sample bounds too little. After the last pass,
// collectives that are still slower are reverted as a whole. Every step is written to the journal before the next one. A
// session that is opened again with the journal's records continues where it ended.
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
