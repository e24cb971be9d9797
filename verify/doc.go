// Package verify proves on the machine that selection files made nothing slower,
// and takes back what they did.
//
// The library as shipped (coll.Default) and the library with its file loaded
// (Tuned) are measured side by side: a block measures every chosen point once in
// both ways, in random order, within the same jobs. What counts is the ratio of
// the two times within a block. A pass is
//
//	blocks at many points -> suspects -> fresh blocks at the suspects -> findings
//
// First looks make suspects and no more. A suspect is found slower by its second
// look alone: blocks measured afterwards, their number fixed before they began,
// Wilcoxon's signed-rank test against a ratio of 1 + Tolerance, and Holm's
// correction for the number of suspects. Pass n may spend a share of Alpha that goes
// with 1/n², so that all passes over a library together raise a false alarm with
// probability Alpha at most.
//
// A pass ends with a verdict: what is condemned. The caller leaves that to the
// library's default (selection.RevertToDefault) and writes the files anew; the next pass looks
// at these points, their neighbours and whatever else is selected differently now.
// After the last pass the collectives that are still slower are left to the library
// altogether. Every step is told to the Log before the next one; opened again with
// what the journal knows, a verification goes on where it ended.
//
//	session, err := verify.Open(verify.Options{Library: "mpich", Rules: rules}, past, log)
//	if err != nil {
//		return err
//	}
//	for ended := false; !ended; {
//		files := write(session.Condemned) // what is selected without it, and the machine
//		if ended, err = session.Examine(ctx, files); err != nil {
//			return err
//		}
//	}
//	result, err := session.Result()
//
// Recall tells what entries say without measuring anything.
//
// Probe is a program for a live runner that shows whether the library obeys the
// file: it calls a collective and sees which algorithm the library entered.
package verify
