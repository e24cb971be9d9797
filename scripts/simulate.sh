#!/bin/sh
# Runs a program that smpicc built on a machine that SimGrid simulates.
#
#   scripts/simulate.sh FOLDER MACHINE RANKS PPN PLACEMENT PROGRAM ARGUMENT...
#
# FOLDER has the programs of scripts/simulate-build.sh, and MACHINE is one of csource/simulate/platform.cpp. The variable TABLE
# names the table of the runtime library; without it the runtime library selects nothing. RANKS and PPN refer to the hosts of
# a machine; on the machine sockets, a host is a socket. PLACEMENT of ranks: block fills nodes in order; dealt also fills
# nodes, but takes them from the switches in turn; cyclic distributes consecutive ranks over the nodes; random:SEED is random.
# The variable OPTIONS has further options of SimGrid, such as --cfg=smpi/coll-selector:ompi. Without them collectives are
# MPICH's, because SMPI's own allgather sends all messages at once, which takes minutes for 256 ranks.
set -eu
folder=$1 machine=$2 ranks=$3 ppn=$4 placement=$5
shift 5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
leaf=8
case $machine in flat) leaf=64 ;; fat | sockets | switch) leaf=16 ;; esac
awk -v ranks="$ranks" -v ppn="$ppn" -v how="$placement" -v leaf="$leaf" 'BEGIN {
	nodes = int((ranks + ppn - 1) / ppn)
	leaves = int((nodes + leaf - 1) / leaf)
	for (r = 0; r < ranks; r++) {
		node = how == "cyclic" ? r % nodes : int(r / ppn)
		if (how == "dealt") node = node % leaves * leaf + int(node / leaves)
		on[r] = node
	}
	if (split(how, word, ":") == 2) {
		srand(word[2])
		for (r = ranks - 1; r > 0; r--) {
			k = int(rand() * (r + 1)); x = on[r]; on[r] = on[k]; on[k] = x
		}
	}
	for (r = 0; r < ranks; r++) print "n" on[r]
}' >"$work/hosts"
{
	echo "tutti-topology 1"
	awk -v leaf="$leaf" 'BEGIN { for (i = 0; i < 64; i++) print "n" i " switch" int(i / leaf) }'
} >"$work/topology"
printf 'tutti-table 1\nend 83c4acc40092c633\n' >"$work/table"
export MACHINE="$machine" TUTTI_TOPOLOGY="$work/topology" TUTTI_TABLE="${TABLE:-$work/table}"
eager=65537
case $machine in tree | flat | fat | sockets) eager=16385 ;; esac
# shellcheck disable=SC2086
smpirun -np "$ranks" -platform "$folder/platform.so" -hostfile "$work/hosts" --log=root.thres:error \
	--cfg=smpi/simulate-computation:no --cfg=smpi/wtime:0 --cfg=network/crosstraffic:0 \
	--cfg=smpi/async-small-thresh:$eager --cfg=smpi/send-is-detached-thresh:$eager \
	--cfg=contexts/stack-size:512 --cfg=contexts/guard-size:0 --cfg=smpi/coll-selector:mpich ${OPTIONS:-} "$@"
