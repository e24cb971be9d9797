#!/bin/sh
# Machine time until the criteria hold: regret beside the other strategies and the
# clairvoyant limit, on recorded data, under every price of launches. Outcomes are kept
# in OUT and not replayed again; remove it after a change of the strategies or models.
#
#   SEEDS    seeds (3); 10 for the figures in docs/METHOD.md
#   SETS     files of recorded data (all of data/simgrid)
#   REAL     a folder of more of them
#   WORKERS  replays side by side (one for each processor)
set -eu
cd "$(dirname "$0")/.."
SEEDS=${SEEDS:-3}
OUT=${OUT:-results/bench-method.jsonl}
WORKERS=${WORKERS:-$(getconf _NPROCESSORS_ONLN)}

sets=${SETS:-$(ls data/simgrid/[A-Z]_*.csv)}
if [ -n "${REAL:-}" ]; then
	sets="$sets $(ls "$REAL"/*.csv)"
fi
mkdir -p "$(dirname "$OUT")"
CGO_ENABLED=0 go build -o results/tutti-bench ./cmd/tutti
exec results/tutti-bench evaluate --data "$(echo $sets | tr ' ' ,)" --versus regret \
	--strategy random,uncertainty,jackknife,regret,oracle --seeds "$SEEDS" \
	--launch none,candidate,osu,native --launch-seconds 0.5 --workers "$WORKERS" --keep "$OUT" "$@"
