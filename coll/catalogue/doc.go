// Package catalogue lists, as data, the algorithms that releases of MPICH and
// Open MPI carry for each collective: the library's name and number, the
// parameters they need and what they require of a point. A space built from it
// never holds a point that an algorithm cannot run.
//
//	cat, err := catalogue.For(catalogue.MPICH, "4.0.2")
//	if err != nil {
//		return err
//	}
//	for _, e := range cat.Entries(coll.Bcast) {
//		fmt.Println(e.Name, e.Requires)
//	}
//	err = cat.Check(candidate) // nil when the library can run it
//
// MPICH's ch4 device makes a collective from parts: a composition, named alpha,
// beta or gamma, runs one algorithm among the first processes of the nodes and one
// within each node, or hands the whole communicator on. Compositions are entries
// like the others; where a release lets the parts be chosen they are parameters,
// alpha(inter=binomial), and a part not named is the library's own choice.
//
// The table was taken from the sources of the releases named in it and checked
// by running each algorithm of MPICH 4.0.2 and Open MPI 4.1.4 on 2 to 8
// processes with 1 to 4096 elements.
package catalogue
