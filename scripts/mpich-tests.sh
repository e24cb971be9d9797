#!/usr/bin/env bash
# Runs MPICH's own tests of collectives, from Debian's source package: without the runtime library, then with each of its
# algorithms (scripts/runtime-tables.sh) from the first call of a communicator on. Prints how many pass and which fail. Installs
# nothing; takes an hour or two. Needs apt-get, gcc, make and MPICH or Open MPI. The tests are those of 4.0.2.
#
#   scripts/mpich-tests.sh FOLDER    sources and builds in FOLDER are used again
#
# TESTS=REGEX selects tests, TABLES="0 3" tables (default: all), RANKS the maximum number of ranks (default 10).
# MPI=openmpi takes the other library.
# SETTINGS=FILE.env runs the tests with exported settings instead of the runtime library.
# It ends with 1 if a test that passes without the library fails with a table or with the settings.
set -euo pipefail
settings=${SETTINGS:+$(realpath "$SETTINGS")}
mkdir -p "${1:?a folder}"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
source=$PWD
most=${RANKS:-10}
mpi=${MPI:-mpich}

fetch() {
	cd "$folder"
	mkdir -p lists cache
	echo "deb-src http://deb.debian.org/debian bookworm main" >sources.list
	options="-o Dir::Etc::sourcelist=$folder/sources.list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$folder/lists
		-o Dir::Cache=$folder/cache -o APT::Sandbox::User=root"
	# shellcheck disable=SC2086
	apt-get -qq $options update
	# shellcheck disable=SC2086
	apt-get -qq $options source --download-only mpich=4.0.2-3
	tar xf mpich_4.0.2.orig.tar.xz
	sed -i 's/MPI_Type_h/MPI_Type_create_h/' mpich-4.0.2/test/mpi/dtpools/src/dtpools_custom.c # Open MPI has no MPI_Type_hvector
}

# Tests of blocking collectives, as lines "NAME RANKS ARGUMENTS". The runtime library ignores other collectives, and coll_large
# needs functions that Debian's package does not have.
list() {
	awk -v most="$most" -v pick="${TESTS:-.}" '
		/^(#|@|$|nb|nonblocking|iallred|ibarrier|neighb|ring_|p_|coll_large)/ || $2 < 2 || $2 > most || $1 !~ pick { next }
		{ line = $1 " " $2; for (i = 3; i <= NF; i++) if (sub(/^arg=/, "", $i)) line = line " " $i; print line }
	' "$folder/mpich-4.0.2/test/mpi/coll/testlist.in"
}

build() {
	cd "$folder/mpich-4.0.2/test/mpi"
	[ "$(cat built-for 2>/dev/null)" = "$mpi" ] || { [ ! -f Makefile ] || make -s distclean >/dev/null; }
	echo "$mpi" >built-for
	[ -f libtool ] || ./configure MPICC="$(command -v "mpicc.$mpi")" --disable-cxx --disable-fortran >configure.out 2>&1 || { tail -1 configure.out; exit 1; }
	make -s -C util >make.out 2>&1
	make -s -C dtpools >>make.out 2>&1
	# shellcheck disable=SC2046
	make -k -s -j2 -C coll $(list | cut -d' ' -f1 | sort -u) >>make.out 2>&1 || true # those that do not compile are among those that fail
	cd "$source"
	"mpicc.$mpi" -std=c11 -O2 -fPIC -shared -DLASTING=1 -Icsource/cvar -Icsource/collectives -o "$folder/libtutti.so" csource/runtime/*.c csource/collectives/*.c csource/cvar/*.c
	"mpicc.$mpi" -O2 -fPIC -shared -o "$folder/yield.so" internal/testutil/programs/ucx-yield.c
}

# run LABEL VARIABLE...: runs all tests with these variables and lists the tests that passed in FOLDER/LABEL.passed.
run() {
	label=$1
	shift
	: >"$folder/$label.passed"
	: >"$folder/$label.log"
	while read -r name ranks arguments; do
		# shellcheck disable=SC2086
		said=$(cd "$folder/mpich-4.0.2/test/mpi/coll" && env "$@" timeout 180 "mpirun.$mpi" -n "$ranks" "./$name" $arguments 2>"$folder/errors" </dev/null) || true
		if [ "$(printf '%s' "$said" | tr -d ' \n')" = NoErrors ] && ! grep -q '^tutti: ' "$folder/errors"; then # a table that cannot be read
			echo "$name $ranks $arguments" >>"$folder/$label.passed"
		else
			printf '== %s %s %s\n%s\n%s\n' "$name" "$ranks" "$arguments" "$said" "$(cat "$folder/errors")" >>"$folder/$label.log"
		fi
	done <<<"$(list)"
	lost=$(comm -23 <(sort "$folder/without.passed") <(sort "$folder/$label.passed") | tr '\n' ';')
	echo "$label: $(wc -l <"$folder/$label.passed") of $(list | wc -l) pass; lost compared with those that pass without the library: $lost"
}

[ -d "$folder/mpich-4.0.2" ] || (fetch)
(build)
cd "$source"
run without LD_PRELOAD="$folder/yield.so"
[ -s "$folder/without.passed" ] # else nothing was tried
if [ -n "$settings" ]; then
	# shellcheck disable=SC1090
	. "$settings"
	run exported LD_PRELOAD="$folder/yield.so"
	[ -z "$lost" ]
	exit
fi
tables=$(scripts/runtime-tables.sh "$folder")
all=""
for n in ${TABLES:-$(seq 0 $((tables - 1)))}; do
	run "table-$n" LD_PRELOAD="$folder/libtutti.so $folder/yield.so" TUTTI_TABLE="$folder/table.$n"
	all=$all$lost
done
[ -z "$all" ]
