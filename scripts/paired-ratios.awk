# Reads lines BLOCK,HOW,SECONDS. Prints for each HOW the geometric mean of its seconds relative to those of default in the same
# block, with a 95 % interval (t distribution, by Fisher's expansion in 1/degrees of freedom), and the number of blocks.
BEGIN { FS = "," }
{ seconds[$1, $2] = $3; blocks[$1]; hows[$2] }
END {
	for (how in hows) {
		n = sum = squares = 0
		for (b in blocks) if ((b, "default") in seconds && (b, how) in seconds) {
			x = log(seconds[b, how] / seconds[b, "default"])
			n++; sum += x; squares += x * x
		}
		if (how == "default" || n < 2) continue
		df = n - 1
		mean = sum / n
		half = (1.96 + 2.372 / df + 2.822 / df ^ 2) * sqrt((squares - n * mean * mean) / df / n)
		printf "%s: %.3f of the default's time (%.3f to %.3f), %d blocks\n", how, exp(mean), exp(mean - half), exp(mean + half), n
	}
}
