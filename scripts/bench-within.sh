#!/bin/sh
# Simulates learning within a run: microseconds of an allgather with about 20 microseconds of computation, on the machine
# tree, one rank a node up to 64 ranks. ASK names parts: watch, change, tell; RANKS sets the number of ranks.
#
#   scripts/bench-within.sh > FILE
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh scripts/simulate-build.sh "$work"
sh scripts/seal-build.sh "$work"

# table NAME RULE CHOICES: the selected algorithm, and the others to try
table() {
	{
		echo "tutti-table 1"
		if [ "$2" != library_default ]; then echo "allgather ranks 1-9999 ppn 1-99 bytes 0-999999 $2"; fi
		if [ -n "$3" ]; then echo "explore allgather ranks 1-9999 ppn 1-99 bytes 0-999999 $3"; fi
	} | "$work/seal" >"$work/$1"
}
table ours bruck ""
table ours-watched bruck "1 bruck"
table theirs library_default ""
table theirs-watched library_default "1 library_default"
table theirs-asked library_default "1 library_default"
table change ring "1 bruck 1 neighbor 1 recursive_doubling"

# app TABLE RANKS BYTES CALLS WINDOW [FROM-TO...]
app() {
	mode=learn how=rma
	case $1 in ours | theirs) mode= ;; *-asked) how=allreduce ;; esac
	name=$1 ranks=$2
	shift 2
	ppn=$(((ranks + 63) / 64))
	TUTTI_MODE=$mode TUTTI_MONITOR=$how TABLE="$work/$name" scripts/simulate.sh "$work" tree "$ranks" "$ppn" block "$work/app" allgather "$1" "$2" "$3" 20 ${4+"$4"} ${5+"$5"} |
		sed "s/^/$name,$ranks,$1,/; s/ /,/g"
}

# The same algorithm serves with and without change detection. libtutti's algorithms announce changes by tags, those of the
# MPI library by RMA or an allreduce. Prints the mean of calls 601 to 3000, after learning has ended.
watch() {
	for ranks in ${RANKS:-64 128 256 512}; do
		for bytes in 8 1024; do
			for name in ours ours-watched theirs theirs-watched theirs-asked; do
				app $name "$ranks" $bytes 3000 600 |
					awk -F, '$4 == "until" && $5 > 600 { sum += $6; n++; line = $0 } END { sub(/[^,]*$/, "", line); printf "%s%.4f\n", line, sum / n }'
			done
		done
	done
}

# Messages of 1 MiB load the network in calls 250 to 399 and 550 to 699.
change() {
	for name in change theirs-watched theirs-asked; do
		for bytes in 8 1024; do
			for ranks in ${RANKS:-64 128}; do
				app $name "$ranks" $bytes 850 50 250-400 550-700
			done
		done
	done
}

# Every way to announce a change to all ranks: microseconds without a change and with one in 200 calls, how often all ranks received it.
tell() {
	for ranks in ${RANKS:-64 128 256 512}; do
		for bytes in 8 1024; do
			TABLE="$work/ours" scripts/simulate.sh "$work" tree "$ranks" $(((ranks + 63) / 64)) block "$work/monitors" \
				$bytes 200 20 none tags allreduce:20 rma:5:0 rma:5:8
		done
	done
}

echo "table,ranks,bytes,what,call,microseconds"
for part in ${ASK:-watch change}; do
	$part
done
