# Replays a trace on more ranks: multiplies its calls with recorded times of the default, the selected and the fastest
# algorithm. Uses the calls on communicators of all ranks. A rank's data stay the same size, so messages of alltoall
# shrink by the ratio of the ranks. Sizes are rounded to the nearest recorded power of two. Prints for each collective
# the calls, the share of them that has recorded times, and seconds.
#
#   awk -f scripts/replay-trace.awk -v library=openmpi -v from=4 -v nodes=16 -v ppn=16 data/simgrid/names.csv \
#       data/simgrid/defaults.csv data/simgrid/A_*.csv selection.csv trace.csv
#
# from is the number of ranks of the trace. selection.csv is from tutti export --only selection. The defaults are those of
# machine A.
BEGIN { FS = "," }
{ sub(/\r$/, "") }
FNR == 1 { file = $1 == "library" ? "selection" : $2 == "recorded" ? "names" : $1 == "machine" ? "defaults" : $2 == "algorithm" ? "times" : "trace"; next }
file == "names" && $3 == library && $4 != "" { recorded[$1, $4] = $2 }
file == "defaults" && $1 == "A" && $3 == nodes && $4 == ppn { usual[$2, $5] = library == "mpich" ? $6 : $7 }
file == "times" && $3 == nodes && $4 == ppn {
	time[$1, $5, $2] = $6
	algorithms[$1, $5] = algorithms[$1, $5] " " $2
	if (!($1 in low) || $5 < low[$1]) low[$1] = $5
	if ($5 > high[$1]) high[$1] = $5
}
file == "selection" && $1 == library && $3 == nodes && $4 == ppn { selected[$2, $5] = recorded[$2, $6] }
file == "trace" && $2 * $3 == from {
	calls[$1] += $5
	bytes = $1 == "alltoall" ? $4 * from / (nodes * ppn) : $4
	size = bytes < 1 ? 1 : 2 ^ int(log(bytes) / log(2) + 0.5)
	size = size < low[$1] ? low[$1] : size > high[$1] ? high[$1] : size
	default = time[$1, size, usual[$1, size]]
	if (default == "") next
	to = time[$1, size, selected[$1, size]]
	least = default
	n = split(algorithms[$1, size], names, " ")
	for (i = 1; i <= n; i++) if (time[$1, size, names[i]] < least) least = time[$1, size, names[i]]
	covered[$1] += $5
	old[$1] += $5 * default / 1e6
	new[$1] += $5 * (to == "" ? default : to) / 1e6
	ideal[$1] += $5 * least / 1e6
}
function line(name, calls, covered, old, new, ideal) {
	printf "%s,%d,%.2f,%.4f,%.4f,%.4f,%s\n", name, calls, covered / calls, old, new, ideal, new ? sprintf("%.3f", old / new) : ""
}
END {
	print "collective,calls,covered,default_s,selected_s,fastest_s,gain"
	for (c in calls) {
		line(c, calls[c], covered[c], old[c], new[c], ideal[c])
		n_all += calls[c]; n_covered += covered[c]; olds += old[c]; news += new[c]; ideals += ideal[c]
	}
	line("all", n_all, n_covered, olds, news, ideals)
}
