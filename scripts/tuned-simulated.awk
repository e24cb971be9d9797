# Prints the fastest routine of each range of sizes, by machine, placement and collective: CSV with the times of the routines
# in LAM/MPI 6.5.9 and MPICH 1.2.6 divided by the fastest time, the smallest and the largest ratio of the range. Source of these
# routines: Faraj and Yuan (ICS 2005), table 2. A range ends where the next measured size begins.
#
#   awk -f scripts/tuned-simulated.awk FILE, lines of scripts/bench-simulated.sh in ascending sizes
#   awk -v rules=1 -f ... prints the rules of a table of the runtime library instead
BEGIN { FS = "," }
$3 != "ours" || NF != 7 || $7 <= 0 { next }
{
	on = $1 "," $2 "," $4
	ranks = $1 == "switch" ? 16 : 32
	if (!((on, $6) in best)) sizes[on, n[on]++] = $6
	if (n[on] == 1 && !(on in seen)) { order[++all] = on; seen[on] }
	if (!((on, $6) in best) || $7 < best[on, $6]) { best[on, $6] = $7; by[on, $6] = $5 }
	if ($5 == lam($4)) lams[on, $6] = $7
	if ($5 == mpich($4, $6, ranks)) mpichs[on, $6] = $7
}
function lam(collective)
{
	return collective == "alltoall" ? "simple" : collective == "allgather" ? "gather_bcast" : "nonoverlapping"
}
function mpich(collective, bytes, ranks)
{
	if (collective == "alltoall") return bytes <= 256 ? "modified_bruck=2" : bytes <= 32768 ? "linear" : "pair"
	if (collective == "allgather") return bytes * ranks < 524288 ? "recursive_doubling" : "ring"
	return bytes < 2048 ? "recursive_doubling" : "rabenseifner"
}
function ratios(times, on, first, last, i, r, low, high)
{
	low = 1e9
	for (i = first; i <= last; i++) {
		r = times[on, sizes[on, i]] / best[on, sizes[on, i]]
		if (r < low) low = r
		if (r > high) high = r
	}
	return sprintf("%.2f,%.2f", low, high)
}
# A parameter's name follows from the algorithm's.
function rule(name, parts)
{
	split(name, parts, "=")
	return parts[2] == "" ? name : parts[1] (parts[1] ~ /barrier/ ? "(barriers=" : "(radix=") parts[2] ")"
}
END {
	if (rules) print "tutti-table 1"
	else print "machine,placement,collective,from,to,routine,LAM least,LAM most,MPICH least,MPICH most"
	for (k = 1; k <= all; k++) {
		on = order[k]
		split(on, word, ",")
		for (first = 0; first < n[on]; first = last + 1) {
			name = by[on, sizes[on, first]]
			for (last = first; last + 1 < n[on] && by[on, sizes[on, last + 1]] == name; ) last++
			from = first ? sizes[on, first] : 0
			to = last + 1 < n[on] ? sizes[on, last + 1] - 1 : 1073741824
			if (rules) print word[3] " ranks 1-99 ppn 1-9 bytes " from "-" to " " rule(name)
			else print on "," from "," to "," name "," ratios(lams, on, first, last) "," ratios(mpichs, on, first, last)
		}
	}
}
