// Package online turns samples of running applications into advice for later jobs. The runtime
// library libtutti times calls in jobs and writes samples. The advice says for each class of calls
// which algorithm to select and which ones to explore.
//
//	jobs, warnings, err := online.ReadFolder("learned", "MPICH")
//	...
//	result, err := online.Learn(jobs, earlier, base)
//	...
//	for _, a := range result.Advice {
//		fmt.Println(a.Point, a.Algorithms[a.Best])
//	}
package online
