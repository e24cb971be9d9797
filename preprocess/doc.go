// Package preprocess turns measurements into what models learn from: features of
// points, scalings of times, and tables of measurements in CSV.
//
// Rows and Features give the inputs of forests and a Scaler their targets;
// Observations gives both to a Gaussian process of all algorithms. ReadTable and
// WriteTable hold the tidy CSV of measurements, Summary sums them up for people, Names
// and Defaults translate recorded data to the algorithms of a library, and ReadTrace
// and CallWeights say which points an application calls.
//
// Written tables are Gota data frames. They are read row by row instead: a frame
// knows no lines, and one bad cell turns its whole column to text.
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
//	f, err := forest.Fit(preprocess.Rows(points), scaler.Apply(ms), forest.Options{})
package preprocess
