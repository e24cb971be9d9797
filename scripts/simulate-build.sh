#!/bin/sh
# Builds what scripts/simulate.sh runs into a folder: platform.so, the machines, and the
# runtime library with the programs check (are all algorithms right?), time (how long do
# they take?) and app (an application that calls one collective). Needs apt-get install libsimgrid-dev g++.
#
#   scripts/simulate-build.sh FOLDER
set -eu
cd "$(dirname "$0")/.."
out=$1
g++ -O1 -std=c++17 -fPIC -shared -o "$out/platform.so" csource/simulate/platform.cpp -lsimgrid
for file in csource/runtime/*.c csource/testdata/check.c csource/simulate/time.c csource/simulate/app.c; do
	echo "$file"
done | OUT="$out" xargs -n 1 -P 2 sh -c 'smpicc -std=c11 -O0 -Icsource/runtime -Icsource/simulate/cvar -c "$0" -o "$OUT/$(basename "$0" .c).o"'
mkdir "$out/programs"
mv "$out/check.o" "$out/time.o" "$out/app.o" "$out/programs"
for program in check time app; do
	smpicc -Wl,-Bsymbolic -o "$out/$program" "$out/programs/$program.o" "$out"/*.o -lm
done
