#!/usr/bin/env bash
# Tries tutti with the MPI libraries and the Slurm of several Debian suites, each in a chroot of its own. Prints the versions that it found
# and, at the end, a table of all steps. Fails if a step failed. As root on Debian; needs debootstrap and a Debian mirror; takes an hour.
#
#   scripts/test-releases.sh FOLDER [SUITE...]    chroots and logs in FOLDER are used again; default: bookworm trixie sid
#
# STEPS="quick verify" runs some steps only, LIBRARIES=openmpi one library.
set -euo pipefail
self=$(readlink -f "$0")
steps=${STEPS:-doctor build quick campaign loaded verify obeyed runtime pairs tests slurm nodes}
libraries=${LIBRARIES:-mpich openmpi}
packages="mpich libmpich-dev openmpi-bin libopenmpi-dev gcc libc6-dev make slurmctld slurmd slurm-client slurmdbd mariadb-server munge hwloc procps util-linux
	hostname binutils dpkg-dev python3"

# chroot_of SUITE: makes the chroot or updates it.
chroot_of() {
	local dir=$1 suite=$2 mirror script=/usr/share/debootstrap/scripts/$2
	mirror=$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -1)
	mirror=${MIRROR:-${mirror:-http://deb.debian.org/debian}}
	[ -e "$script" ] || ln -s sid "$script"
	if [ ! -e "$dir/.base" ]; then
		debootstrap --variant=minbase "$suite" "$dir" "$mirror"
		touch "$dir/.base"
	fi
	cp /etc/apt/apt.conf.d/* "$dir/etc/apt/apt.conf.d/"
	cp /etc/resolv.conf /etc/hosts "$dir/etc/"
	printf 'deb %s %s main\ndeb-src %s %s main\n' "$mirror" "$suite" "$mirror" "$suite" >"$dir/etc/apt/sources.list"
	mountpoint -q "$dir" || mount --bind "$dir" "$dir" # slurm-test-cluster needs / to be a mount point
	for m in proc sys dev; do # with what is mounted below them: slurmd 22.05 needs the cgroups, MPI libraries need /dev/shm
		mountpoint -q "$dir/$m" || mount --rbind --make-rslave "/$m" "$dir/$m"
	done
	printf '#!/bin/sh\nexit 101\n' >"$dir/usr/sbin/policy-rc.d" # no services
	chmod +x "$dir/usr/sbin/policy-rc.d"
	chroot "$dir" apt-get -q update
	# shellcheck disable=SC2086
	chroot "$dir" env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends $packages
}

# The steps run in the chroot, in /root/tutti, with the library in $lib. Each has its own log.
settings_of() { sed -n "s/^ *$1: *\"\(.*\)\"/\1/p" "q-$lib/quick.yaml" | head -1; }
ended() { "$@" || [ $? = 4 ]; } # 4: a limit was reached before the criteria held

step_doctor() { (bin/tutti doctor || true) | grep -E "ok +$title "; } # without a benchmark doctor's code is 8
step_build() {
	"mpicc.$lib" -O1 -o "loop-$lib" internal/testutil/programs/loop.c
	"mpicc.$lib" -O1 -Icsource/workload -Icsource/collectives -o "collectives-$lib" csource/workload/*.c csource/collectives/*.c internal/testutil/programs/all_collectives.c
	"mpicc.$lib" -O2 -fPIC -shared -o "yield-$lib.so" internal/testutil/programs/ucx-yield.c
	bin/tutti build benchmark --mpicc "mpicc.$lib" -o "native-$lib" && bin/tutti build runtime --mpicc "mpicc.$lib" -o "libtutti-$lib.so"
}
step_quick() {
	rm -rf "q-$lib"
	ended bin/tutti quick "q-$lib" --library "$lib" --collectives bcast,allreduce --wall-time 30s --yes
	[ -s "q-$lib/$lib.env" ]
}
step_campaign() {
	rm -rf "c-$lib"
	ended bin/tutti tune -c "q-$lib/quick.yaml" --out "c-$lib" --set seed=2 --set stop.wall_time=1m --set hpo.trials=0 --set runner.ppn=4 \
		--set grid.ppn=2,4 --set grid.sizes=8,512,32KiB,256KiB --set collectives=barrier,bcast,reduce,allreduce,allgather,alltoall --yes
	[ -s "c-$lib/$lib.env" ]
}
step_loaded() {
	# shellcheck disable=SC1090
	. "c-$lib/$lib.env"
	"mpirun.$lib" -n 2 "./loop-$lib" 20 | grep '^right'
	# Calls of every form, also with counts and types that differ between ranks. Every release computes these right without files.
	LD_PRELOAD=$PWD/yield-$lib.so "mpirun.$lib" -n 4 "./collectives-$lib" check 30000 bcast allgather alltoall gather scatter | grep '^right'
}
step_verify() { # code 9: something was slower on a busy machine, and reverted
	bin/tutti verify "q-$lib" --yes --machine-time 20m --set points=3 --set between=1 --set max_blocks=6 --format json >"verify-$lib.json" || [ $? = 9 ]
	grep -q '"ended": true' "verify-$lib.json"
}
step_obeyed() {
	grep -o '"state": "[a-z ]*"' "verify-$lib.json" | sort | uniq -c
	if grep -q '"state": "ignored"' "verify-$lib.json"; then return 1; fi
	grep -q '"state": "obeyed"' "verify-$lib.json" || return 78
}
step_runtime() {
	rm -rf learned trace.csv
	bash scripts/runtime-tables.sh . >/dev/null
	mkdir learned
	for mode in "--trace trace-$lib.csv" "--table table.0" "--within --table table.0" "--learn learned --table table.0"; do
		# shellcheck disable=SC2086
		bin/tutti run --library "./libtutti-$lib.so" $mode -- "mpirun.$lib" -n 2 "./loop-$lib" 200 | grep '^right'
	done
	grep -q allreduce "trace-$lib.csv"
	"mpicc.$lib" -O1 -o "later-$lib" internal/testutil/programs/later.c # nonblocking and persistent calls, with MPI 4 in a session
	bin/tutti run --library "./libtutti-$lib.so" --trace "later-$lib.csv" --table table.0 -- "mpirun.$lib" -n 2 "./later-$lib" session | grep ' ends'
	grep -q iallreduce "later-$lib.csv"
	abi=$(echo /usr/lib/*/libmpi_abi_"$lib".so.1.*) header=$(echo /usr/lib/*/openmpi/include/standard_abi)
	[ -e "$abi" ] && [ -e "$header" ] || return 0
	# One library built against the MPI ABI serves both libraries.
	printf '#!/bin/sh\nexec gcc -I%s "$@" -L%s -l:%s\n' "$header" "${abi%/*}" "${abi##*/}" >mpicc_abi
	chmod +x mpicc_abi
	bin/tutti build runtime --mpicc "$PWD/mpicc_abi" -o libtutti-abi.so
	./mpicc_abi -O1 -o loop-abi internal/testutil/programs/loop.c
	mkdir -p "abi-$lib"
	ln -sf "$abi" "abi-$lib/libmpi_abi.so.1"
	export LD_LIBRARY_PATH=$PWD/abi-$lib
	bin/tutti run --library ./libtutti-abi.so --trace "trace-abi-$lib.csv" --table table.0 -- "mpirun.$lib" -n 2 ./loop-abi 200 | grep '^right'
	grep -q allreduce "trace-abi-$lib.csv"
}
# pairs RESULTS NODES PPN COMMAND...: times of collectives with the exported files of RESULTS and without, in turn. Points of the layout that
# are left to the library must not be slower than the tolerance of verify. COMMAND starts the ranks of a program.
pairs() {
	local results=$1 nodes=$2 ppn=$3
	shift 3
	"mpicc.$lib" -O1 -o "pairs-$lib" internal/testutil/programs/pairs.c
	SECONDS=0
	for n in $(seq 24); do
		[ $n -le 6 ] || [ $SECONDS -lt 150 ] || break
		for how in $([ $((n % 2)) = 0 ] && echo default files || echo files default); do
			# The ranks read the settings, which depend on the layout of a Slurm job.
			"$@" bash -c "{ [ $how = default ] || . $results/$lib.env; } && exec ./pairs-$lib" | awk -F, -v n="$n" -v how=$how '{ print n "," how "," $2 "," $1 }'
		done
	done >pairs
	awk -F, -v nodes="$nodes" -v ppn="$ppn" '$3 == nodes && $4 == ppn && $6 != "library_default" { print $2 " " $5 }' "$results/selection.csv" >tuned
	for kind in tuned left; do
		awk -F, -v kind=$kind 'NR == FNR { tuned[$0]; next } ($4 in tuned) == (kind == "tuned") { print $1 " " $4 "," $2 "," $3 }' tuned pairs >"pairs-$kind"
		awk '{ sub(/,.*/, ""); sub(/[0-9]+ /, ""); print }' "pairs-$kind" | sort -u | while read -r point; do
			grep " $point," "pairs-$kind" | awk -f scripts/paired-ratios.awk | sed "s/^files/$kind: $point/"
		done
		# Other programs disturb all points of a launch alike, so a launch counts once, by the geometric mean of its points.
		awk -F, '{ sub(/ .*/, "", $1); sum[$1 "," $2] += log($3); n[$1 "," $2]++ } END { for (l in sum) print l "," exp(sum[l] / n[l]) }' "pairs-$kind" |
			awk -f scripts/paired-ratios.awk | sed "s/^files/all points $kind/"
	done | tee ratios
	# 78: the interval is too wide to show a difference.
	awk 'BEGIN { code = 1 } /^all points left/ { sub(/.*\(/, ""); code = $1 > 1.02 ? 1 : $3 > 1.5 * $1 ? 78 : 0 } END { exit code }' ratios
}
step_pairs() { pairs "c-$lib" 1 2 "mpirun.$lib" -n 2; }
step_tests() {
	MPI=$lib SETTINGS=$PWD/c-$lib/$lib.env TESTS='^(bcast|allred|red|allgather|alltoall|gather|scatter)' RANKS=4 bash scripts/mpich-tests.sh "tests-$lib"
}
# cluster: starts a Slurm of two virtual nodes below different switches. It ends with the step.
cluster() {
	export CLUSTER_DIR=/tmp/tutti-releases-slurm CLUSTER_NODES=2 CLUSTER_CPUS=2 CLUSTER_PORT=18900
	export CLUSTER_TOPOLOGY=$'SwitchName=s1 Nodes=n1\nSwitchName=s2 Nodes=n2\nSwitchName=top Switches=s[1-2]'
	topology=topology.conf
	if [ "$(slurmd -V | grep -oE '[0-9]+' | head -1)" -ge 25 ]; then # from 25.05 on
		CLUSTER_TOPOLOGY=$'- topology: t\n  cluster_default: true\n  tree:\n    switches:\n    - {switch: top, children: "s[1-2]"}
    - {switch: s1, nodes: n1}\n    - {switch: s2, nodes: n2}'
		topology=topology.yaml
	fi
	export CLUSTER_ACCOUNTING=1
	trap 'scripts/slurm-test-cluster down' EXIT
	scripts/slurm-test-cluster up || { # slurmdbd does not work with every MariaDB
		scripts/slurm-test-cluster down
		CLUSTER_ACCOUNTING=
		scripts/slurm-test-cluster up
	}
	export SLURM_CONF=$CLUSTER_DIR/etc/slurm.conf
	plugin=pmix
	[ "$lib" = openmpi ] || plugin=pmi2
	srun --mpi=list 2>&1 | grep $plugin || plugin=
}
step_slurm() {
	local file start="launcher: mpirun" nodes=1 # Open MPI 6.0 does not connect nodes that share a network address
	cluster
	scontrol show topology | tee topology.txt
	for file in topology.txt "$CLUSTER_DIR/etc/$topology"; do bin/tutti topology show "$file"; done
	if [ -n "$plugin" ]; then start="launcher: srun, pmi: $plugin" nodes="1, 2"; fi
	rm -rf "s-$lib"
	cat >"s-$lib.yaml" <<-END
		name: slurm
		output: s-$lib
		libraries:
		  - {name: $lib, version: "$(settings_of version)", path: $(settings_of path), benchmark: native-$lib, $start,
		     env: [OMPI_ALLOW_RUN_AS_ROOT=1, OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1, LD_PRELOAD=$PWD/yield-$lib.so, OMPI_MCA_btl_tcp_if_include=lo]}
		collectives: [bcast, allreduce]
		grid: {nodes: [$nodes], ppn: [1, 2], sizes: [8, 512, 32KiB, 256KiB]}
		runner: {kind: slurm, launch_allowance: 20s, settle: 10s}
		benchmark: {slice: 300ms}
		slurm: {exclusive: false, jobs: 1}
		stop: {wall_time: 2m}
		hpo: {trials: 0}
	END
	ended bin/tutti tune -c "s-$lib.yaml" --yes
	[ -s "s-$lib/$lib.env" ]
	if [ -n "$plugin" ]; then # the files of the layout 2x2
		OMPI_MCA_btl_tcp_if_include=lo LD_PRELOAD=$PWD/yield-$lib.so srun -N2 --ntasks-per-node=2 "--mpi=$plugin" \
			bash -c ". s-$lib/$lib.env && exec ./loop-$lib 20" | grep '^right'
	fi
	[ -z "$CLUSTER_ACCOUNTING" ] || sacct -X -n -o JobName,State | grep COMPLETED
}
step_nodes() { # the step pairs on two virtual nodes, with the files of the step slurm
	cluster
	[ -n "$plugin" ] || { echo "no plugin of srun starts the library on several nodes" && return 77; }
	export OMPI_MCA_btl_tcp_if_include=lo LD_PRELOAD=$PWD/yield-$lib.so
	pairs "s-$lib" 2 1 srun -N2 --ntasks-per-node=1 "--mpi=$plugin"
}

# run SUITE DIR LIBRARY STEP: runs a step in the chroot, with a log of its own there.
run() {
	local log=$2/root/tutti/$3-$4.log code=0 said
	timeout -k 10 3600 chroot "$2" bash /root/tutti/scripts/test-releases.sh step "$3" "$4" >"$log" 2>&1 </dev/null || code=$?
	case $code in
	0) said=ok ;;
	77) said="skipped: $(tail -1 "$log")" ;;
	78) said="not observable" ;;
	*) said="failed ($code): $(tail -1 "$log" | cut -c1-100)" ;;
	esac
	printf '%s\t%s\t%s\t%s\n' "$1" "$3" "$4" "$said" | tee -a "$results"
}

# table: the results as a table of libraries and steps.
table() {
	awk -F'\t' -v steps="$steps" '
		{ row = $1 " | " $2; if (!(row in seen)) { seen[row]; rows[++n] = row }; split($4, word, /[: (]/); cell[row, $3] = $4 ~ /^not/ ? $4 : word[1] }
		END {
			count = split(steps, step, " "); line = "| suite | library"; rule = "|---|---"
			for (i = 1; i <= count; i++) { line = line " | " step[i]; rule = rule "|---" }
			print line " |"; print rule "|"
			for (r = 1; r <= n; r++) { line = "| " rows[r]; for (i = 1; i <= count; i++) line = line " | " cell[rows[r], step[i]]; print line " |" }
		}' "$results"
}

case ${1:-} in
step)
	lib=$2 title="Open MPI"
	[ "$lib" = openmpi ] || title=MPICH
	cd /root/tutti
	export HOME=/root HYDRA_LAUNCHER=fork OMPI_MCA_mpi_yield_when_idle=1
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMPI_MCA_rmaps_base_oversubscribe=1
	"step_$3"
	;;
chroot) chroot_of "$2" "$3" ;;
*)
	folder=$(mkdir -p "${1:?a folder}" && cd "$1" && pwd)
	shift
	cd "$(dirname "$self")/.."
	make -s build
	results=$folder/results.tsv
	: >"$results"
	date -u +%F
	[ $# -gt 0 ] || set -- bookworm trixie sid
	for suite; do
		dir=$folder/$suite
		mkdir -p "$dir"
		if ! bash "$self" chroot "$dir" "$suite" >"$folder/$suite.log" 2>&1; then
			printf '%s\t\tchroot\tfailed: see %s\n' "$suite" "$folder/$suite.log" | tee -a "$results"
			continue
		fi
		mkdir -p "$dir/root/tutti"
		tar c bin/tutti scripts csource internal/testutil/programs mpi/libtutti/algorithms.csv | tar x -C "$dir/root/tutti"
		echo "$suite: $(dpkg-query --root="$dir" -W -f '${Package} ${Version}, ' mpich openmpi-bin slurmd gcc)"
		for lib in $libraries; do
			for step in $steps; do run "$suite" "$dir" "$lib" "$step"; done
		done
	done
	table
	! grep -q $'\tfailed' "$results"
	;;
esac
