#!/usr/bin/env bash
# Measures what tuning gains in a real program: Quantum ESPRESSO of Debian (Open MPI), silicon, on 4 ranks. Traces it, tunes what it calls,
# and runs it in blocks, in random order within each: with the default, with it again, with the tuned files and with libtutti's table.
# Prints the trace, and the ratios of the seconds to the default's with 95 % intervals. Installs nothing: packages are unpacked into FOLDER.
# Needs apt-get, Go and Open MPI 4.1.4.
#
#   scripts/bench-program.sh FOLDER [BLOCKS]
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "${1:?a folder}"
folder=$(cd "$1" && pwd)
root=$folder/root lib=$folder/root/usr/lib/x86_64-linux-gnu
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none OMP_NUM_THREADS=1

fetch() {
	mkdir -p "$folder/packages"
	cd "$folder/packages"
	apt-get -qq -o APT::Sandbox::User=root download quantum-espresso quantum-espresso-data libscalapack-openmpi2.2 libblas3 liblapack3 \
		libfftw3-double3 libgfortran5
	for package in *.deb; do dpkg-deb -x "$package" "$root"; done
}

# Runs the program on 4 ranks, with the given environment variables.
program() {
	mpirun.openmpi -n 4 env LD_LIBRARY_PATH="$lib:$lib/blas:$lib/lapack" "$@" "$root/usr/bin/pw.x" -in silicon.in
}

# campaign NAME LIBRARY: tunes the collectives of the trace, weighted by it, into the folder NAME.
campaign() {
	cat >"$1.yaml" <<-END
		name: $1
		output: $1
		libraries:
		  - {$2, benchmark: tutti-native, launcher: mpirun, launcher_path: $(command -v mpirun.openmpi)}
		collectives: [allreduce, alltoall, bcast, reduce]
		grid: {nodes: [1], ppn: [4], sizes: [8, 64, 512, 4KiB, 32KiB], trace: trace.csv}
		runner: {kind: local, ppn: 4, launch_allowance: 30s, settle: 10s}
		benchmark: {program: native, slice: 100ms, max_samples: 200, noise_limit: 0}
		stop: {wall_time: 60s}
		hpo: {trials: 0}
	END
	rm -rf "$1"
	./tutti tune -c "$1.yaml" --yes || [ $? = 4 ] # a budget ended it
}

# timed HOW: runs the program and prints its seconds.
timed() (
	case $1 in
	default | again) set -- "$1" NONE= ;;
	files) . files/openmpi.env && set -- files NONE= ;;
	libtutti) . own/libtutti.env && set -- libtutti LD_PRELOAD="$folder/libtutti.so" ;;
	esac
	from=$(date +%s%N)
	program "$2" >"output.$1" 2>&1
	awk -v how="$1" -v ns=$(($(date +%s%N) - from)) 'BEGIN { printf "%s,%.3f\n", how, ns / 1e9 }'
)

[ -d "$root" ] || (fetch)
go build -o "$folder/tutti" ./cmd/tutti
"$folder/tutti" build runtime --mpicc mpicc.openmpi -o "$folder/libtutti.so"
"$folder/tutti" build benchmark --mpicc mpicc.openmpi -o "$folder/tutti-native"
ratios=$PWD/scripts/paired-ratios.awk
cd "$folder"
cat >silicon.in <<END
&control
 calculation='scf', prefix='si', outdir='./out', pseudo_dir='$root/usr/share/espresso/pseudo', disk_io='none'
/
&system
 ibrav=2, celldm(1)=10.2, nat=2, ntyp=1, ecutwfc=16, nbnd=8
/
&electrons
 conv_thr=1d-10
/
ATOMIC_SPECIES
 Si 28.086 Si.pz-vbc.UPF
ATOMIC_POSITIONS alat
 Si 0 0 0
 Si 0.25 0.25 0.25
K_POINTS automatic
 3 3 3 0 0 0
END
program LD_PRELOAD="$folder/libtutti.so" TUTTI_TRACE="$folder/trace.csv" >output.traced 2>&1
./tutti trace trace.csv
campaign files "name: openmpi, version: 4.1.4, path: $(ldconfig -p | awk '/libmpi.so.40 / { print $NF }')"
campaign own "name: libtutti, version: 1+openmpi-4.1.4, path: libtutti.so"
for block in $(seq "${2:-12}"); do
	for how in $(shuf -e default again files libtutti); do
		echo "$block,$(timed "$how")"
	done
done | tee times.csv
grep -h '^!' output.* # the total energy, which must be the same
awk -f "$ratios" times.csv
