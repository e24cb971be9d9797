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
// look alone: blocks measured afterwards, as many as were settled before they
// began, Wilcoxon's signed-rank test against a ratio of 1 + Tolerance, and Holm's
// correction for the number of suspects. Pass n may spend a share of Alpha that goes
// with 1/n², so that all passes over a library together raise a false alarm with
// probability Alpha at most.
//
// What was found is put back to the library's default (PutBack), the files are
// written anew, and the next pass looks at these points, their neighbours and
// whatever else is selected differently now. After the last pass the collectives
// that are still slower are left to the library altogether.
//
// Run does all this for one library and tells every step to its Log before it
// goes on; run again with the entries of that log it goes on where they end.
// Recall tells what entries say without measuring anything.
//
//	result, err := verify.Run(ctx, verify.Options{Library: "mpich", Seed: 1}, subject, entries, log)
//	if err != nil {
//		return err
//	}
//	for _, c := range result.Collectives {
//		fmt.Println(c.Collective, c.Speedup.Value, len(result.Slower))
//	}
//
// Probe is a program for a live runner that shows whether the library obeys the
// file: it calls a collective and sees which algorithm the library entered.
package verify
