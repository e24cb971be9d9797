#!/bin/sh
# Simulates the applications of data/applications on the machine tree with the runtime library's own sources: run after run,
# with samples and tutti online update between them. Prints the microseconds of all collective calls of a run, averaged over
# the ranks. ASK names some of these parts:
#
#   bounds        the default, and the fastest algorithm of each class, found by running all of them
#   explore       tutti run --learn
#   within        tutti run --learn --within
#   star          --within without a budget or earlier samples: each run starts from an empty table
#
#   scripts/bench-applications.sh > FILE
#
# Variables: RANKS, PPN, APPLICATIONS, RUNS, TIMES (factor of the number of calls in a run), BUILT (a folder with the programs
# of scripts/simulate-build.sh, scripts/seal-build.sh and tutti), JOBS (simulations at the same time).
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ranks=${RANKS:-64} ppn=${PPN:-4} runs=${RUNS:-8} times=${TIMES:-1}
if [ -z "${BUILT:-}" ]; then
	BUILT=$work/built
	mkdir "$BUILT"
	sh scripts/simulate-build.sh "$BUILT"
	sh scripts/seal-build.sh "$BUILT"
	go build -o "$BUILT/tutti" ./cmd/tutti
fi

# application TRACE TIMES SEED: runs the application with the table TABLE
application() {
	scripts/simulate.sh "$BUILT" tree "$ranks" "$ppn" block "$BUILT/application" "$1" "$2" 20 "$3"
}

# best TRACE: a table of the fastest algorithm of each class of a trace, from six calls with each algorithm
best_table() {
	trace=$1 to=$2
	"$BUILT/tutti" online update "$to" >/dev/null
	awk -F, -v OFS=, 'NR > 1 { $5 = 6 } 1' "$trace" >"$to/six.csv"
	grep '^explore ' "$to/tutti.table" | awk '{ n = 0; for (i = 10; i <= NF; i += 2) print $2, n++, $i }' >"$to/algorithms"
	most=$(awk '$2 > most { most = $2 } END { print most }' "$to/algorithms")
	for i in $(seq 0 "$most"); do
		awk -v i="$i" 'BEGIN { print "tutti-table 1" } $2 == i { print $1, "ranks 1-99999 ppn 1-999 bytes 0-999999999", $3 }' "$to/algorithms" |
			"$BUILT/seal" >"$to/one"
		TABLE=$to/one application "$to/six.csv" 1 1 | sed "s/^/$i,/"
	done | awk -F, -v algorithms="$to/algorithms" '
		BEGIN { while ((getline line < algorithms) > 0) { split(line, w, " "); name[w[1] "," w[2]] = w[3] } }
		($2 "," $1) in name {
			size = $5 + 0; k = $2 " " $3 * $4 " " $4 " " size
			if (!(k in least) || $8 < least[k]) { least[k] = $8; who[k] = name[$2 "," $1] }
		}
		END {
			print "tutti-table 1"
			for (k in who) { split(k, w, " "); print w[1] " ranks " w[2] "-" w[2] " ppn " w[3] "-" w[3] " bytes " w[4] "-" w[4] " " who[k] }
		}' | "$BUILT/seal" >"$to/best"
}

all() { awk -F, '$1 == "all" { print $6 }'; }

# loop HOW TRACE: the runs of an application
loop() {
	how=$1 trace=$2
	name=$(basename "$trace" .csv)
	folder=$work/$name-$how
	mkdir "$folder"
	case $how in
	explore) set -- explore 0.1 0.03 ;;
	within) set -- learn 0.1 0.03 ;;
	star) set -- learn 0.1 1e6 ;;
	esac
	for run in $(seq "$runs"); do
		if [ "$how" = star ]; then rm -f "$folder"/*; fi
		"$BUILT/tutti" online update "$folder" >/dev/null
		took=$(TABLE=$folder/tutti.table TUTTI_SAMPLES=$folder TUTTI_MODE=$1 TUTTI_EXPLORE_SHARE=$2 TUTTI_BUDGET=$3 TUTTI_SEED=$run application "$trace" "$times" "$run" | all)
		for file in "$folder"/n0-*.samples; do # simulated time begins at 0 in each run
			mv "$file" "$folder/run-1-$((run * 1000000000))-0.samples"
		done
		echo "$name,$how,$run,$took"
	done
}

# bounds TRACE: the default, and the fastest algorithm of each class
bounds() {
	name=$(basename "$1" .csv)
	mkdir "$work/$name"
	best_table "$1" "$work/$name"
	sed "s/^/# $name /" "$work/$name/best"
	echo "$name,default,,$(application "$1" "$times" 1 | all)"
	echo "$name,best,,$(TABLE=$work/$name/best application "$1" "$times" 1 | all)"
}

if [ $# = 2 ]; then
	if [ "$1" = bounds ]; then bounds "$2"; else loop "$1" "$2"; fi
	exit
fi
echo "application,how,run,microseconds"
for how in ${ASK:-bounds explore within star}; do
	for name in ${APPLICATIONS:-allgather allreduce alltoall bcast mixed}; do
		echo "$how data/applications/$name.csv"
	done
done | BUILT=$BUILT xargs -P "${JOBS:-2}" -n 2 "$0"
