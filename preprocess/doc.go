// Package preprocess turns measurements into the input of models: features of points, scalings of
// times, and tables of measurements in CSV.
//
// Rows returns the inputs of forests and SurrogateRows those of Gaussian processes. A Scaler computes the
// targets of forests. Noise estimates the variance of measured times. ReadTable and WriteTable read and write
// tidy CSV of measurements; Summary summarizes them. Names and Defaults translate recorded data to the
// algorithms of a library. ReadTrace and CallWeights return how often an application calls each point.
//
// Tables are written as Gota data frames. They are read row by row instead, because a frame has no
// line numbers and a single bad cell turns its whole column into text.
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
