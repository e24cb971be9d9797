// Package online turns samples of running applications into advice for later jobs. The runtime
// library libtutti times calls in jobs and leaves samples; the advice says which algorithm
// to select for each class of calls, and which to explore.
//
//	jobs, err := online.ReadFolder("learned", "MPICH")
//	...
//	result, err := online.Learn(online.PolicyTutti, jobs, earlier, base)
//	...
//	for _, a := range result.Advice {
//		fmt.Println(a.Point, a.Algorithms[a.Best])
//	}
package online
