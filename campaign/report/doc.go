// Package report draws the convergence report of a campaign: Facts in, one
// self-contained HTML page, the same facts as JSON, the convergence curve as CSV
// and a table for the terminal out. It reads no file and no clock, and the same
// facts give the same bytes.
//
// WriteHTML, WriteJSON, WriteCurve and WriteSummary write the four forms,
// ReadJSON reads the second back and Summary gives the rows of the last. Figures
// that are not known are null pointers or empty slices and are shown as such;
// NaN and infinities are errors that name the field.
//
//	facts, err := report.ReadJSON(file)
//	if err != nil {
//		return err
//	}
//	if err := report.WriteHTML(page, facts); err != nil {
//		return err
//	}
//	for _, row := range report.Summary(facts) {
//		fmt.Println(row.Library, row.Collective, row.Stop)
//	}
package report
