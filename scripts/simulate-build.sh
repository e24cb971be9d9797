#!/bin/sh
# Builds the programs of scripts/simulate.sh into a folder: platform.so (the machines), check (checks all algorithms), time
# (measures them), app (an application with one collective), application (one with the calls of a trace), monitors (the cost of
# announcing a change to all ranks) and pairs (measures pairs as the benchmark program does, for the machine sockets). A second argument
# builds that program alone. Needs apt-get install libsimgrid-dev g++.
set -eu
cd "$(dirname "$0")/.."
out=$1 only=${2:-}
g++ -O1 -std=c++17 -fPIC -shared -o "$out/platform.so" csource/simulate/platform.cpp -lsimgrid
if [ "${only:-pairs}" = pairs ]; then
	set -- csource/simulate/pairs.c csource/pairs/*.c csource/workload/*.c csource/collectives/*.c
	for file in clocks control output plan stats world; do
		set -- "$@" csource/bench/$file.c
	done
	smpicc -std=c99 -O1 -DSOCKETS=2 -include csource/simulate/system.h -Icsource/bench -Icsource/pairs -Icsource/workload -Icsource/collectives -o "$out/pairs" "$@" -lm
fi
if [ "$only" = pairs ]; then exit; fi
programs=${only:-check time app application monitors}
mkdir "$out/programs"
{
	ls csource/runtime/*.c csource/collectives/*.c
	for program in $programs; do
		ls csource/conformance/$program.c csource/testdata/$program.c csource/simulate/$program.c 2>/dev/null || :
	done
} | OUT="$out" xargs -n 1 -P 2 sh -c 'smpicc -std=c11 -O0 -Icsource/runtime -Icsource/collectives -Icsource/simulate/cvar -c "$0" -o "$OUT/$(basename "$0" .c).o"'
for program in $programs; do
	mv "$out/$program.o" "$out/programs"
done
for program in $programs; do
	smpicc -Wl,-Bsymbolic -o "$out/$program" "$out/programs/$program.o" "$out"/*.o -lm
done
