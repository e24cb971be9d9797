# Replays a trace at another number of ranks: multiplies its calls with recorded times of the default, the selected and the
# fastest algorithm. Sizes are rounded to the nearest recorded power of two. Prints, for each collective, the calls, the share of
# them with recorded times, and seconds. With strong=1, alltoall splits the same array among more ranks: its messages shrink by
# the square of the ratio of ranks.
#
#   awk -F, -f scripts/replay-trace.awk -v library=openmpi -v nodes=16 -v ppn=16 data/simgrid/names.csv data/simgrid/defaults.csv \
#       data/simgrid/A_allreduce.csv data/simgrid/A_alltoall.csv data/simgrid/A_bcast.csv selection.csv trace.csv
#
# selection.csv is from tutti export --only selection. The defaults are those of machine A.
{ sub(/\r$/, "") }
FNR == 1 { kind = $1 == "library" ? "selection" : $2 == "recorded" ? "names" : $1 == "machine" ? "defaults" : $2 == "algorithm" ? "times" : "trace"; next }
kind == "names" && $3 == library && $4 != "" { recorded[$1, $4] = $2 }
kind == "defaults" && $1 == "A" && $3 == nodes && $4 == ppn { usual[$2, $5] = $(library == "mpich" ? 6 : 7) }
kind == "times" && $3 == nodes && $4 == ppn {
	time[$1, $5, $2] = $6
	if (!($1 in low) || $5 < low[$1]) low[$1] = $5
	if ($5 > high[$1]) high[$1] = $5
	algorithms[$1, $5] = algorithms[$1, $5] " " $2
}
kind == "selection" && $1 == library && $3 == nodes && $4 == ppn { selected[$2, $5] = recorded[$2, $6] }
kind == "trace" && $2 * $3 > 1 {
	bytes = $4
	if ($1 == "alltoall" && strong) bytes *= ($2 * $3 / (nodes * ppn)) ^ 2
	calls[$1] += $5
	if (!($1 in low)) next
	size = bytes < 1 ? 1 : 2 ^ int(log(bytes) / log(2) + 0.5)
	size = size < low[$1] ? low[$1] : size > high[$1] ? high[$1] : size
	from = time[$1, size, usual[$1, size]]
	to = selected[$1, size] == "" ? from : time[$1, size, selected[$1, size]]
	if (from == "" || to == "") next
	n = split(algorithms[$1, size], names, " ")
	best = from
	for (i = 1; i <= n; i++) if (time[$1, size, names[i]] < best) best = time[$1, size, names[i]]
	covered[$1] += $5
	old[$1] += $5 * from / 1e6; new[$1] += $5 * to / 1e6; least[$1] += $5 * best / 1e6
}
END {
	print "collective,calls,covered,default_s,selected_s,fastest_s,gain"
	for (c in calls) {
		printf "%s,%d,%.3f,%.4f,%.4f,%.4f,%.3f\n", c, calls[c], covered[c] / calls[c], old[c], new[c], least[c], new[c] ? old[c] / new[c] : 1
		total += old[c]; then += new[c]; ideal += least[c]; all += calls[c]; known += covered[c]
	}
	printf "all,%d,%.3f,%.4f,%.4f,%.4f,%.3f\n", all, known / all, total, then, ideal, total / then
}
