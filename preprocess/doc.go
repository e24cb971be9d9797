// Package preprocess turns measurements into what models learn from, and back:
// features of points, scalings of times, and tables of measurements in CSV.
//
// Rows and Features give the inputs, a Scaler gives the targets and every inverse
// that exists. ReadTable and WriteTable hold the tidy CSV of measurements, Names
// and Defaults translate recorded data to the algorithms of a library, and
// Summary and Table.Frame give Gota data frames for people to look at.
//
//	table, err := preprocess.ReadTable("bcast.csv")
//	if err != nil {
//		return err
//	}
//	ms := table.Measurements()
//	scaler, err := preprocess.Fit(ms, preprocess.AlgorithmLog10)
//	if err != nil {
//		return err
//	}
//	points := make([]coll.Point, len(ms))
//	for i, m := range ms {
//		points[i] = m.Point
//	}
//	err = forest.Fit(preprocess.Rows(points), scaler.Apply(ms))
package preprocess
