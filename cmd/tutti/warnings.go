package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"

	"tutti/coll"
	"tutti/mpi/libraries"
)

// printWarnings prints a line for each kind of warning: the first warning of the kind, and the number of the
// others. Warnings are of one kind if they differ only in numbers and in names of libraries, collectives and
// algorithms.
func printWarnings[T any](w io.Writer, warnings []T) {
	var kinds []string
	same := map[string][]string{}
	for _, x := range warnings {
		text := fmt.Sprint(x)
		kind := variablePart().ReplaceAllString(text, "*")
		if same[kind] == nil {
			kinds = append(kinds, kind)
		}
		same[kind] = append(same[kind], text)
	}
	for _, kind := range kinds {
		more := ""
		if n := len(same[kind]) - 1; n > 0 {
			more = fmt.Sprintf(" (and %d more like this)", n)
		}
		fmt.Fprintf(w, "warning: %s%s\n", same[kind][0], more)
	}
}

// variablePart matches the numbers and names in which warnings of one kind may differ.
var variablePart = sync.OnceValue(func() *regexp.Regexp {
	var names []string
	for _, c := range coll.Collectives() {
		names = append(names, string(c))
		for _, lib := range libraries.All() {
			names = append(names, lib.Facts().Name)
			for _, release := range lib.Releases() {
				for _, e := range release.Entries(c) {
					names = append(names, regexp.QuoteMeta(e.Name))
				}
			}
		}
	}
	return regexp.MustCompile(`\b(?:` + strings.Join(names, "|") + `)\b(?:\([^)]*\))?|[0-9][0-9.e+-]*(?:x[0-9]+)?`)
})
