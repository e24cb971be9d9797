# Prints the gain of tables that mix libtutti's and the library's algorithms, by machine and layout: over each of SMPI's
# selectors, and over the fastest selector at each point. Gains are geometric means. "ours" is the gain of libtutti's
# algorithms alone.
#
#   awk -f scripts/gains-simulated.awk FILE, the output of scripts/bench-simulated.sh
BEGIN { FS = "," }
NR == 1 || NF != 7 || $7 <= 0 { next } # a selector of SMPI that does nothing
{
	at = $1 " " $2 " " $4 " " $6
	where[at] = $1 " " $2
	if ($3 != "ours") {
		theirs[at, $5] = $7
		selectors[$5]
		if (!(at in least) || $7 < least[at]) least[at] = $7
	} else if (!(at in ours) || $7 < ours[at]) {
		ours[at] = $7
		by[at] = $5
	}
}
function count(name, at, time) {
	n[name]++
	mixed[name] += time > ours[at] ? log(time / ours[at]) : 0
	alone[name] += log(time / ours[at])
}
END {
	for (at in least) {
		if (!(at in ours)) continue
		printf "%s: ours %.6g by %s, the fastest selector %.6g: %.2f\n", at, ours[at], by[at], least[at], least[at] / ours[at] | "sort -V"
		count(where[at] ", fastest", at, least[at])
		for (s in selectors)
			if ((at, s) in theirs) count(where[at] ", " s, at, theirs[at, s])
	}
	close("sort -V")
	for (i in n)
		printf "= %s: mixed %.3f, ours %.3f, at %d points\n", i, exp(mixed[i] / n[i]), exp(alone[i] / n[i]), n[i] | "sort"
}
