#!/bin/sh
# Replays the applications of data/applications over the recorded times of machines A, C, D
# and E under all policies of tutti online simulate. A bit of a minute.
#
#   scripts/bench-online.sh [--seed 2 --noise 0.1 ...]
#
# MACHINES, LIBRARY (mpich or openmpi) and GRID (np2: the points off the powers of two) say
# what else is wanted.
set -eu
cd "$(dirname "$0")/.."
traces=$(echo data/applications/*.csv | tr ' ' ,)
go build -o "${TMPDIR:-/tmp}/tutti-bench-online" ./cmd/tutti
for machine in ${MACHINES:-A C D E}; do
	if [ "${GRID:-}" = np2 ]; then
		files=$(echo data/simgrid/"$machine"_*_np2.csv | tr ' ' ,)
	else
		files=$(echo data/simgrid/"$machine"_*.csv | tr ' ' '\n' | grep -v np2 | paste -sd, -)
	fi
	echo "machine $machine"
	"${TMPDIR:-/tmp}/tutti-bench-online" online simulate --trace "$traces" --data "$files" \
		--defaults data/simgrid/defaults.csv --recorded "$machine" --library "${LIBRARY:-mpich}" "$@"
done
rm -f "${TMPDIR:-/tmp}/tutti-bench-online"
