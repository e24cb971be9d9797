#!/usr/bin/env bash
# Compares the results of LAMMPS, HPCC and GROMACS (Debian, Open MPI) without the runtime library, with each of its algorithms, and with
# the table of a campaign that their traces tuned; prints the traces. Installs nothing: packages are unpacked into FOLDER. Takes half
# an hour. Needs apt-get, Go and Open MPI 4.1.4.
#
#   scripts/real-programs.sh FOLDER
#
# PROGRAMS="lammps hpcc gromacs" selects programs, TABLES="0 3" tables (default: all), RANKS the number of ranks (default 4, a square).
set -euo pipefail
cd "$(dirname "$0")/.."
source=$PWD
mkdir -p "${1:?a folder}"
folder=$(cd "$1" && pwd)
ranks=${RANKS:-4}
root=$folder/root
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1 OMP_NUM_THREADS=1
export GMXLIB=$root/usr/share/gromacs/top

fetch() {
	mkdir -p "$folder/packages"
	cd "$folder/packages"
	apt-get -qq -o APT::Sandbox::User=root download lammps liblammps0 lammps-data hpcc gromacs libgromacs7 gromacs-data libblas3 liblapack3 \
		libfftw3-double3 libfftw3-single3 libmuparser2v5 libkim-api2 libvoro++1
	for package in *.deb; do dpkg-deb -x "$package" "$root"; done
}

# Runs a program of the packages on all ranks, with the given environment variables.
start() {
	library=$root/usr/lib/x86_64-linux-gnu
	mpirun.openmpi -n "$ranks" env LD_LIBRARY_PATH="$library:$library/blas:$library/lapack" "$@"
}

# Each program in a folder of its own: NAME_input creates its input, NAME runs it, NAME_result prints the results that must not change.

lammps_input() {
	cat >in.melt <<-END
		units lj
		atom_style atomic
		lattice fcc 0.8442
		region box block 0 8 0 8 0 8
		create_box 1 box
		create_atoms 1 box
		mass 1 1.0
		velocity all create 1.44 87287 loop geom
		pair_style lj/cut 2.5
		pair_coeff 1 1 1.0 1.0 2.5
		neighbor 0.3 bin
		neigh_modify delay 0 every 20 check no
		fix 1 all nve
		fix 2 all balance 50 1.0 shift xyz 10 1.05
		compute pairs all rdf 20
		fix 3 all ave/time 10 10 100 c_pairs[*] file pairs.out mode vector
		thermo 10
		run 200
	END
}
lammps() { start "$@" "$root/usr/bin/lmp" -in in.melt -log log.lammps >said; }
lammps_result() {
	awk '/^Step/ { on = 1 } /^Loop/ { on = 0 } on' log.lammps
	cat pairs.out
}

hpcc_input() {
	gzip -dcf "$root/usr/share/doc/hpcc/examples/_hpccinf.txt" >hpccinf.txt
}
hpcc() { rm -f hpccoutf.txt; start "$@" "$root/usr/bin/hpcc" >said; }
hpcc_result() {
	grep -E '^(Success|HPL_eps|HPL_Rnorm|HPL_Anorm|HPL_Xnorm|HPL_N=|MPIRandomAccess(_LCG)?_(Errors|N)|StarFFT_N|PTRANS_residual|PTRANS_n|CommWorldProcs)' hpccoutf.txt
	grep -cE 'PASSED' hpccoutf.txt
}

gromacs_input() {
	cat >topol.top <<-END
		#include "oplsaa.ff/forcefield.itp"
		#include "oplsaa.ff/spce.itp"
		[ system ]
		water
		[ molecules ]
	END
	cat >run.mdp <<-END
		integrator = md
		dt = 0.002
		nsteps = 100
		nstenergy = 10
		nstlog = 10
		nstcalcenergy = 10
		cutoff-scheme = Verlet
		coulombtype = PME
		rcoulomb = 0.9
		rvdw = 0.9
		tcoupl = v-rescale
		tc-grps = System
		tau-t = 0.1
		ref-t = 300
		gen-vel = yes
		gen-seed = 1
		ld-seed = 1
		constraints = h-bonds
	END
	ranks=1 start "$root/usr/bin/gmx_mpi" solvate -cs spc216 -box 3.5 3.5 3.5 -o water.gro -p topol.top >made 2>&1
	ranks=1 start "$root/usr/bin/gmx_mpi" grompp -f run.mdp -c water.gro -p topol.top -o run.tpr -maxwarn 5 >>made 2>&1
}
gromacs() { rm -f md.log; start "$@" "$root/usr/bin/gmx_mpi" mdrun -s run.tpr -g md.log -reprod -npme 0 -ntomp 1 -nb cpu >said 2>&1; }
gromacs_result() { awk '/Energies/ { on = 6 } /A V E R A G E S/ { exit } on-- > 0' md.log; }

# same LABEL: prints how many lines of the last run's results differ from the run without the library.
same() {
	"${program}_result" >"with.$1"
	echo "$program: $1, $(diff without "with.$1" | grep -c '^>' || true) of $(wc -l <without) lines others"
}

# Tunes the collectives of a trace at a few sizes, weighted by the trace. The result is in the folder tuned.
campaign() {
	collectives=$(awk -F, 'NR > 1 && $2 * $3 > 1 && $4 > 0 && !seen[$1]++ { printf "%s%s", comma, $1; comma = ", " }' trace.csv)
	cat >campaign.yaml <<-END
		name: $program
		output: tuned
		libraries:
		  - {name: libtutti, version: "1", path: ../libtutti.so, benchmark: ../tutti-native, launcher: mpirun, launcher_path: $(command -v mpirun.openmpi)}
		collectives: [$collectives]
		grid: {nodes: [1], ppn: [$ranks], sizes: [8, 64, 1KiB, 16KiB], trace: trace.csv}
		runner: {kind: local, ppn: $ranks, launch_allowance: 30s, settle: 10s}
		benchmark: {program: native, slice: 50ms, max_samples: 100, noise_limit: 0}
		stop: {wall_time: 60s}
	END
	rm -rf tuned
	"$folder/tutti" tune -c campaign.yaml >tune.out 2>&1 || tail -20 tune.out
	sed 's/^/tuned: /' tuned/tutti.table
}

[ -d "$root" ] || (fetch)
go build -o "$folder/tutti" ./cmd/tutti
"$folder/tutti" build runtime --mpicc mpicc.openmpi -o "$folder/libtutti.so" >/dev/null
scripts/runtime-tables.sh "$folder" >"$folder/tables"
"$folder/tutti" build benchmark --mpicc mpicc.openmpi -o "$folder/tutti-native" >/dev/null
for program in ${PROGRAMS:-lammps hpcc gromacs}; do
	mkdir -p "$folder/$program"
	cd "$folder/$program"
	"${program}_input"
	"$program" NONE=
	"${program}_result" >without
	"$program" LD_PRELOAD="$folder/libtutti.so" TUTTI_TRACE="$PWD/trace.csv"
	same traced
	"$folder/tutti" trace trace.csv
	for n in ${TABLES:-$(seq 0 $(($(cat "$folder/tables") - 1)))}; do
		"$program" LD_PRELOAD="$folder/libtutti.so" TUTTI_TABLE="$folder/table.$n"
		same "table.$n"
	done
	campaign
	"$program" LD_PRELOAD="$folder/libtutti.so" TUTTI_TABLE="$PWD/tuned/tutti.table"
	same tuned
	cd "$source"
done
