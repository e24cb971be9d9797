// Package export writes what a campaign has found: the final models are trained, the
// libraries' selection files are fitted, replayed and written, and the report beside
// them. Files can be written for other releases than those that were measured.
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
