#!/bin/sh
# Measures the runtime library's algorithms on simulated machines, in microseconds, and checks them on many ranks. SMPI has the
# selectors and algorithms of the MPI libraries. Takes hours for 512 ranks. ASK names a part: ethernet, tuned (the fastest
# routine of each size on three Ethernets), bcast, fat, check, pairs (the seconds of measuring pairs, by LGate and in tournaments).
#
#   scripts/bench-simulated.sh > FILE
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh scripts/simulate-build.sh "$work"
sh scripts/seal-build.sh "$work"

# ours MACHINE RANKS PPN PLACEMENT COLLECTIVE SIZES ALGORITHM...: times of the runtime library's algorithms
ours() {
	machine=$1 ranks=$2 ppn=$3 placement=$4
	shift 4
	scripts/simulate.sh "$work" "$machine" "$ranks" "$ppn" "$placement" "$work/time" "$@" | sed "s/^/$machine,$placement,ours,/"
}

# theirs, with the same arguments: times of SMPI's selectors or of its algorithms for the collective
theirs() {
	machine=$1 ranks=$2 ppn=$3 placement=$4 collective=$5 sizes=$6
	shift 6
	for name in "$@"; do
		option=$collective:$name
		case $name in mpich | ompi | mvapich2 | impi) option=coll-selector:$name ;; esac
		OPTIONS=--cfg=smpi/$option scripts/simulate.sh "$work" "$machine" "$ranks" "$ppn" "$placement" "$work/time" "$collective" "$sizes" library |
			sed "s/,library,/,$name,/; s/^/$machine,$placement,SMPI,/"
	done
}

ethernet() {
	for where in "switch 16 block" "star 32 block" "chain 32 block" "star 32 dealt"; do
		# shellcheck disable=SC2086
		set -- $where
		set -- "$1" "$2" 1 "$3"
		ours "$@" allgather 64,1024,8192,32768 ring ring_depth_first recursive_doubling neighbor bruck two_level \
			linear simple mesh mesh_3d gather_bcast pairwise pairwise_light_barrier pairwise_barrier pairwise_barrier=8 \
			pair pair_light_barrier pair_barrier pair_barrier=8
		theirs "$@" allgather 64,1024,8192,32768 mpich ompi mvapich2
		ours "$@" allreduce 2048,65536 nonoverlapping recursive_doubling rabenseifner ring ring_depth_first rabenseifner_depth_first \
			allgather halving_allgather alltoall_allgather
		composed "$@"
		theirs "$@" allreduce 2048,65536 mpich ompi lr rab_rdb
		ours "$@" alltoall 64,1024,4096,32768,131072 linear pairwise pair windows=4 mesh scheduled scheduled_barrier \
			simple modified_bruck=2 mesh_3d recursive_doubling pairwise_light_barrier pairwise_barrier pairwise_barrier=8 \
			pair_light_barrier pair_barrier pair_barrier=8
		ours "$@" allgatherv 1024,32768 linear simple bruck recursive_doubling ring ring_depth_first pairwise \
			pairwise_light_barrier pairwise_barrier pair pair_light_barrier pair_barrier
		theirs "$@" allgatherv 1024,32768 mpich ompi
		ours "$@" alltoallv 4096,65536,1048576 linear simple pairwise greedy scheduled_barrier
		theirs "$@" alltoallv 4096,65536,1048576 mpich ompi
		theirs "$@" alltoall 64,1024,4096,32768,131072 mpich ompi ring pair basic_linear
	done
}

# composed, with the arguments of a machine: the composed allreduces of Faraj and Yuan, with the fastest routines of their
# allgather and alltoall in the table
composed() {
	{
		echo "tutti-table 1"
		echo "allgather ranks 1-99 ppn 1-9 bytes 0-999999999 ring_depth_first"
		echo "alltoall ranks 1-99 ppn 1-9 bytes 0-999999999 scheduled_barrier"
	} | "$work/seal" >"$work/parts"
	TABLE="$work/parts" ours "$@" allreduce 2048,65536 allgather halving_allgather alltoall_allgather | sed 's/,ours,/,ours by the table,/'
}

# tuned prints table 1 of Faraj and Yuan (ICS 2005): their routines on their topologies (a), (b) and (c), and those of LAM and
# MPICH (scripts/tuned-simulated.awk). The allgather and the alltoall that are tuned first serve the composed allreduces.
tuned() {
	sizes=16,128,1024,8192,32768,131072
	for where in "switch 16 block" "star 32 block" "star 32 dealt"; do
		# shellcheck disable=SC2086
		set -- $where
		set -- "$1" "$2" 1 "$3"
		families="pairwise pairwise_light_barrier pairwise_barrier pairwise_barrier=4 pair pair_light_barrier pair_barrier pair_barrier=4"
		# shellcheck disable=SC2086
		{
			ours "$@" alltoall $sizes simple linear modified_bruck=2 mesh mesh_3d recursive_doubling scheduled scheduled_barrier $families
			ours "$@" allgather $sizes simple linear bruck mesh mesh_3d recursive_doubling ring ring_depth_first gather_bcast $families
		} >"$work/parts.csv"
		awk -v rules=1 -f scripts/tuned-simulated.awk "$work/parts.csv" | "$work/seal" >"$work/parts"
		TABLE="$work/parts" ours "$@" allreduce $sizes nonoverlapping recursive_doubling rabenseifner allgather halving_allgather \
			alltoall_allgather >>"$work/parts.csv"
		awk -f scripts/tuned-simulated.awk "$work/parts.csv"
	done
}

bcast() {
	every=8,8192,65536,262144,1048576
	for placement in block cyclic random:1; do
		ours tree 256 8 $placement bcast $every knomial=4 knomial=8 k_chain=2 k_chain=4 k_chain=8 k_chain=16 two_level_postal magpie multi_level=8192 two_level_pipeline=8192 \
			multi_level_binary=8192 multi_level_pipeline=8192 multi_level_pipeline=32768 multi_level_pipeline=65537
		theirs tree 256 8 $placement bcast $every ompi mvapich2 binomial_tree SMP_binomial scatter_rdb_allgather
		ours tree 256 8 $placement bcast 262144,1048576 scatter_allgather_ring scatter_ring_depth_first
		theirs tree 256 8 $placement bcast 262144,1048576 scatter_LR_allgather # far behind at small sizes, and slow to simulate
	done
}

# Machine A: the runtime library's algorithms compared with SMPI's selectors. scripts/gains-simulated.awk summarizes the
# result. COLLECTIVES names the collectives.
fat() {
	for placement in block cyclic; do
		fat_of 256 16 $placement | sed -u 's/^fat/fat 16x16/'
		fat_of 256 8 $placement | sed -u 's/^fat/fat 32x8/'
	done
}

fat_of() {
	set -- fat "$@"
	for collective in ${COLLECTIVES:-bcast reduce allreduce allgather alltoall}; do
		sizes=8,1024,16384,262144
		case $collective in
		bcast) names="knomial=4 knomial=8 magpie multi_level=8192 two_level_pipeline=8192 scatter_allgather_ring" ;;
		reduce) names="binomial two_level magpie multi_level rabenseifner two_level_pipeline=8192" ;;
		allreduce) names="recursive_doubling rabenseifner rabenseifner_far two_level two_level_rabenseifner" ;;
		allgather) names="bruck recursive_doubling two_level ring_depth_first" sizes=8,1024,16384 ;;
		alltoall) names="modified_bruck=4 pairwise pair windows=16" sizes=8,1024,16384 ;;
		esac
		# shellcheck disable=SC2086
		ours "$@" $collective $sizes $names
		theirs "$@" $collective $sizes mpich ompi mvapich2 impi
	done
}

check() {
	scripts/simulate.sh "$work" tree 64 1 block "$work/check" 1 +
	scripts/simulate.sh "$work" tree 512 8 random:1 "$work/check" -scheduled_barrier 1 # which has 65 536 barriers
}

pairs() {
	echo "schedule,ranks,exchanges,seconds"
	for ranks in 64 128; do
		for schedule in lgate tournament; do
			NOISE=0.1 scripts/simulate.sh "$work" sockets $ranks 8 random:1 "$work/pairs" $schedule 8
		done
	done
}

echo "machine,placement,whose,collective,algorithm,bytes,microseconds"
for part in ${ASK:-ethernet tuned bcast fat check pairs}; do
	$part
done
