// Package export writes the results of a campaign: it trains the final models, fits, replays and
// writes the selection files of the libraries, and writes the report. Files can also be written
// for other releases than those that were measured.
//
//	models, err := export.Train(ctx, c, results)
//	if err != nil {
//		return err
//	}
//	done, err := models.Conclude(state)
//	if err != nil {
//		return err
//	}
//	facts, err := done.Write(dir, program)
package export
