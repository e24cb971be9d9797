# Reads lines BLOCK,HOW,SECONDS. Prints for each HOW the median over the blocks of its seconds relative to those of default in
# the same block, with the 95 % interval of the sign test (from 6 blocks on), and the number of blocks.
BEGIN { FS = "," }
{ seconds[$1, $2] = $3; blocks[$1]; hows[$2] }
END {
	for (how in hows) {
		n = 0
		if (how == "default") continue
		for (b in blocks) if ((b, "default") in seconds && (b, how) in seconds) {
			x = seconds[b, how] / seconds[b, "default"]
			for (i = n++; i > 0 && ratio[i] > x; i--) ratio[i + 1] = ratio[i]
			ratio[i + 1] = x
		}
		tail = term = 0.5 ^ n # probability that at most k of n fair coins show heads
		for (k = 0; tail <= 0.025; tail += term *= (n - k + 1) / k) k++
		if (k > 0) printf "%s: %.3f of the default's time (%.3f to %.3f), %d blocks\n", how, (ratio[int((n + 1) / 2)] + ratio[int(n / 2) + 1]) / 2, ratio[k], ratio[n + 1 - k], n
	}
}
