#!/usr/bin/env bash
# Writes tables for the runtime library in which each of its algorithms serves all calls of its collective. table.N has the N-th
# algorithm of each collective, starting again after the last, with small segments, radix 3, windows of 2 and 2 barriers. Prints the number of tables.
#
#   scripts/runtime-tables.sh FOLDER
set -euo pipefail
folder=$1
csv=$(dirname "$0")/../mpi/libtutti/algorithms.csv

# The last line of a table is a checksum of all lines before it: FNV-1a with 64 bits.
seal() {
	h=-3750763034362895579
	for byte in $(od -An -v -tu1 "$1"); do h=$(((h ^ byte) * 1099511628211)); done
	printf 'end %016x\n' "$h" >>"$1"
}

tables=$(awk -F, '$1 == "libtutti" && ++n[$3] > most { most = n[$3] } END { print most }' "$csv")
for n in $(seq 0 $((tables - 1))); do
	awk -F, -v n="$n" 'BEGIN { value["segsize"] = 1000; value["radix"] = 3; value["window"] = 2; value["barriers"] = 2; print "tutti-table 1" }
		{ sub(/=.*/, "", $7) } # the values that campaigns try
		$1 == "libtutti" { name[$3, count[$3]++] = $4 ($7 == "" ? "" : "(" $7 "=" value[$7] ")"); if (count[$3] == 1) order[++all] = $3 }
		END { for (i = 1; i <= all; i++) print order[i] " ranks 1-1000 ppn 1-1000 bytes 0-4611686018427387904 " name[order[i], n % count[order[i]]] }
	' "$csv" >"$folder/table.$n"
	seal "$folder/table.$n"
done
echo "$tables"
