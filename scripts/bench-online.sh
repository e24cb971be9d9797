#!/bin/sh
# Replays the applications of data/applications over the recorded times of machines A, C, D and E under all policies of
# tutti-lab online. Takes about a minute.
#
#   scripts/bench-online.sh [--seed 2 --noise 0.1 ...]
#
# Variables: MACHINES, LIBRARY (mpich or openmpi), GRID (np2: points off the powers of two), CALLS (factor of the number of
# calls in a run).
set -eu
cd "$(dirname "$0")/.."
scaled=$(mktemp -d)
trap 'rm -rf "$scaled"' EXIT
for trace in data/applications/*.csv; do
	awk -F, -v OFS=, -v times="${CALLS:-1}" 'NR > 1 { $5 *= times } 1' "$trace" >"$scaled/${trace##*/}"
done
traces=$(echo "$scaled"/*.csv | tr ' ' ,)
go build -o "${TMPDIR:-/tmp}/tutti-bench-online" ./cmd/tutti-lab
for machine in ${MACHINES:-A C D E}; do
	if [ "${GRID:-}" = np2 ]; then
		files=$(echo data/simgrid/"$machine"_*_np2.csv | tr ' ' ,)
	else
		files=$(echo data/simgrid/"$machine"_*.csv | tr ' ' '\n' | grep -v np2 | paste -sd, -)
	fi
	echo "machine $machine"
	"${TMPDIR:-/tmp}/tutti-bench-online" online --trace "$traces" --data "$files" \
		--defaults data/simgrid/defaults.csv --recorded "$machine" --library "${LIBRARY:-mpich}" "$@"
done
rm -f "${TMPDIR:-/tmp}/tutti-bench-online"
