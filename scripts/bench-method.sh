#!/bin/sh
# Measures the machine time until the criteria hold, on recorded data and for every price of launches. It compares regret, by
# the reference and by its own stopping rule, with the other strategies (same model, same initial design) and with published
# strategies. Outcomes are kept in OUT and not replayed again; remove OUT after a change of the strategies or models.
#
#   SEEDS     seeds (3); 10 for the figures in docs/experiments
#   SETS      files of recorded data (all of data/simgrid)
#   REAL      a folder of further files, of real machines
#   MODEL     of every strategy except the published ones (gp)
#   LAUNCH    prices of launches (none,candidate,osu,native)
#   WORKERS   concurrent replays (one for each processor)
set -eu
cd "$(dirname "$0")/.."
OUT=${OUT:-results/bench-method.jsonl}

set -- --model "${MODEL:-gp}" --seeds "${SEEDS:-3}" --launch "${LAUNCH:-none,candidate,osu,native}" \
	--launch-seconds 0.5 --workers "${WORKERS:-$(getconf _NPROCESSORS_ONLN)}" --keep "$OUT" "$@"
for f in ${SETS:-data/simgrid/[A-Z]_*.csv}; do
	set -- "$@" --data "$f"
done
if [ -n "${REAL:-}" ]; then
	for f in "$REAL"/*.csv; do
		set -- "$@" --real "$f"
	done
fi
mkdir -p "$(dirname "$OUT")"
CGO_ENABLED=0 go build -o results/tutti-lab ./cmd/tutti-lab
all=regret,own-stop,random,uncertainty,trees,random-published,fact,acclaim,iota
results/tutti-lab evaluate --versus regret --strategy $all "$@"
echo
exec results/tutti-lab evaluate --versus own-stop --strategy $all "$@"
