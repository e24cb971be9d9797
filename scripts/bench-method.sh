#!/bin/sh
# Machine time until the criteria hold: regret, with the truth in hand and by its own stop,
# beside the other strategies with the same model and beginning, the rivals as published and
# the clairvoyant limit, on recorded data, under every price of launches. Outcomes are kept
# in OUT and not replayed again; remove it after a change of the strategies or models.
#
#   SEEDS     seeds (3); 10 for the figures in docs/experiments
#   SETS      files of recorded data (all of data/simgrid)
#   REAL      a folder of more of them, of real machines
#   MODEL     of every strategy but the published ones (stack)
#   LAUNCH    prices of launches (none,candidate,osu,native)
#   WORKERS   replays side by side (one for each processor)
set -eu
cd "$(dirname "$0")/.."
OUT=${OUT:-results/bench-method.jsonl}

set -- --model "${MODEL:-stack}" --seeds "${SEEDS:-3}" --launch "${LAUNCH:-none,candidate,osu,native}" \
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
all=regret,own-stop,random,uncertainty,jackknife,random-published,fact,acclaim,oracle
results/tutti-lab evaluate --versus regret --strategy $all "$@"
echo
exec results/tutti-lab evaluate --versus own-stop --strategy $all "$@"
