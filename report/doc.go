// Package report writes the facts of a campaign: one self-contained HTML page, the same
// facts as JSON, the convergence curve as CSV, and tables for the terminal. It reads no
// clock and fits no models. The same facts give the same bytes.
//
// WriteHTML, WriteJSON, WriteCurve and Summary make these formats. Unknown numbers are nil pointers
// or empty slices. NaN and infinities are errors that name the field. TraceTables and WriteTraceHTML
// show the trace of an application.
//
//	facts := report.Facts{Campaign: "autumn", Machine: "hilltop", Seed: 7, Problems: problems}
//	return report.WriteHTML(page, facts)
package report
