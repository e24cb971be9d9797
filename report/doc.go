// Package report gathers the facts of a campaign and draws them: one self-contained
// HTML page, the same facts as JSON, the convergence curve as CSV, and tables for the
// terminal. It reads no file and no clock, and the same facts give the same bytes.
//
// ProblemOf gathers what is known of one problem, AddJournal what the journal holds
// beside the problems. WriteHTML, WriteJSON, WriteCurve and WriteSummary write the
// forms. Figures that are not known are null pointers or empty slices and are shown as
// such; NaN and infinities are errors that name the field.
//
//	facts := report.Facts{Campaign: "autumn", Machine: "hilltop", Seed: 7}
//	p, err := report.ProblemOf(problem, result, conclusion)
//	if err != nil {
//		return err
//	}
//	facts.Problems = append(facts.Problems, p)
//	if err := report.AddJournal(&facts, state, []string{"mpich"}, attempts); err != nil {
//		return err
//	}
//	return report.WriteHTML(page, facts)
package report
