package selection

import (
	"fmt"

	"tutti/coll"
)

// orderVar is what Slurm sets in a job that was asked for an order of its ranks: block,
// block:cyclic, cyclic, plane=4 and so on.
const orderVar = "SLURM_DISTRIBUTION"

// warning is what a job is told whose ranks are dealt otherwise. It has no character that
// a shell or Tcl reads for more than itself.
func warning(o coll.Order) string {
	return fmt.Sprintf("tutti: these settings hold for ranks in %s order, this job has another one (%s)", o, orderVar)
}

// shellGuard warns a job of Slurm whose ranks are dealt in another order.
func shellGuard(o coll.Order) string {
	if o == "" {
		return ""
	}
	return fmt.Sprintf("case \"${%s:-%s}\" in %[2]s*) ;; *) echo '%[3]s' >&2 ;; esac\n", orderVar, o, warning(o))
}

// moduleGuard is shellGuard in Tcl.
func moduleGuard(o coll.Order) string {
	if o == "" {
		return ""
	}
	return fmt.Sprintf(`if {[info exists ::env(%[1]s)] && ![string match "%[2]s*" $::env(%[1]s)] && [module-info mode load]} {
    puts stderr "%[3]s"
}
`, orderVar, o, warning(o))
}
