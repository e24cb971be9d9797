#!/bin/sh
# Builds what scripts/simulate.sh runs into a folder: platform.so, the machines, and the
# runtime library with the programs check (are all algorithms right?) and time (how long do
# they take?). Needs apt-get install libsimgrid-dev g++.
#
#   scripts/simulate-build.sh FOLDER
set -eu
cd "$(dirname "$0")/.."
out=$1
g++ -O1 -std=c++17 -fPIC -shared -o "$out/platform.so" csource/simulate/platform.cpp -lsimgrid
for file in csource/runtime/*.c csource/testdata/check.c csource/simulate/time.c; do
	echo "$file"
done | OUT="$out" xargs -n 1 -P 2 sh -c 'smpicc -std=c11 -O0 -Icsource/runtime -Icsource/simulate/cvar -c "$0" -o "$OUT/$(basename "$0" .c).o"'
for program in check time; do
	other=time
	if [ $program = time ]; then other=check; fi
	objects=$(ls "$out"/*.o | grep -v "/$other.o$")
	# shellcheck disable=SC2086
	smpicc -Wl,-Bsymbolic -o "$out/$program" $objects
done
