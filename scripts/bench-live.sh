#!/usr/bin/env bash
# Compares the machine time of the same 240 candidates, measured by native in grouped launches, and by the OSU programs with
# one launch for each: two collectives of MPICH on a Slurm of virtual nodes. The tables at the end show the parts of the time.
#
#   OSU_HOME=FOLDER_OF_osu_allgather scripts/bench-live.sh      as root; see slurm-test-cluster
set -euo pipefail
cd "$(dirname "$0")/.."
: "${OSU_HOME:?folder of the OSU programs built with MPICH}"
work=$(mktemp -d /tmp/tutti-bench-live.XXXXXX)
export CLUSTER_DIR=$work/cluster CLUSTER_CPUS=4
trap 'scripts/slurm-test-cluster down >/dev/null; rm -rf "$work"' EXIT
make build >/dev/null
scripts/slurm-test-cluster up >/dev/null
export SLURM_CONF=$CLUSTER_DIR/etc/slurm.conf
cc -O2 -shared -fPIC -o "$work/ucx-yield.so" internal/testutil/programs/ucx-yield.c -ldl
bin/tutti build benchmark --mpicc mpicc.mpich -o "$work/tutti-native" >/dev/null

campaign() { # PROGRAM BENCHMARK
	cat <<-END
	name: $1
	output: $work/$1
	libraries:
	  - {name: mpich, version: "4.0.2", benchmark: "$2", launcher: srun, pmi: pmi2, env: ["LD_PRELOAD=$work/ucx-yield.so"]}
	collectives: [allgather, alltoall]
	grid: {nodes: [1, 2, 4], ppn: [1, 2], sizes: [8, 64, 512, 4KiB, 32KiB, 128KiB]}
	runner: {kind: slurm, launch_allowance: 20s, settle: 10s}
	benchmark: {program: $1, slice: 300ms, noise_limit: 0}
	slurm: {exclusive: false, jobs: 1}
	method: fact
	strategy: {initial: 1, batch: 1000}
	hpo: {trials: 0}
	END
}

for program in native osu; do
	benchmark=$work/tutti-native
	if [ $program = osu ]; then benchmark=$OSU_HOME; fi
	campaign $program "$benchmark" >"$work/$program.yaml"
	echo "== $program"
	begin=$(date +%s.%N)
	bin/tutti tune -c "$work/$program.yaml" --yes 2>/dev/null || [ $? = 4 ] # everything measured is not converged
	echo "wall $(echo "$(date +%s.%N) - $begin" | awk '{printf "%.1f", $1 - $3}') s"
done
