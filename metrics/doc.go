// Package metrics measures the quality of a choice of algorithms: average slowdown,
// classification accuracy, proportion of significant mistakes and R², as defined
// in table II of Wilkins et al., "A FACT-based Approach" (ExaMPI 2021). It also has
// quantiles, confidence intervals, and robust statistics.
//
//	s, err := metrics.Slowdown(chosen, best) // seconds; 1 is perfect
//	if err != nil {
//		return err
//	}
//	sum, err := metrics.Summarize(slowdowns, metrics.Options{})
//	fmt.Println(sum.Slowdown, sum.Mistakes)
package metrics
