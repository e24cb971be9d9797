#!/bin/bash
# tutti-test-mpich-bcast-r1-1: 2 x fake by fake, side by side. Written by tutti.
cd -- /scratch/tuning/jobs/tutti-test-mpich-bcast-r1-1 || exit 1
tutti_id=${TUTTI_JOB_ID:-${SLURM_JOB_ID:-$$}}

# The first job that claims the folder measures, and goes on when the scheduler runs
# it again. Any other job of this name measures nothing.
tutti_claim=claim.$HOSTNAME.$$
mkdir "$tutti_claim" && printf '%s\n' "$tutti_id" >"$tutti_claim/job" || exit 1
if ! mv -T "$tutti_claim" claim 2>/dev/null; then
	rm -rf "$tutti_claim"
	tutti_owner=$(cat claim/job)
	if [ "$tutti_owner" != "$tutti_id" ] || [ -e end ]; then
		echo "job $tutti_id measures nothing: $PWD belongs to job $tutti_owner"
		exit 0
	fi
fi
exec >>job.log 2>&1

# The time twice, in seconds: since the node came up, which no step of the clock
# moves, and of the clock, which is finer.
tutti_clock() {
	local rest
	tutti_now=
	read -r tutti_now rest </proc/uptime
	tutti_now="${tutti_now:-0} ${EPOCHREALTIME:-0}"
}

# tutti_write FILE LINE...: the file is whole and has its name, or it is not there.
tutti_write() {
	local file=$1
	shift
	printf '%s\n' "$@" whole >"$file.new" && mv -f "$file.new" "$file"
}

tutti_environment() {
	local file line
	TZ=UTC0 printf 'started %(%Y-%m-%dT%H:%M:%SZ)T\n' -1
	read -r line </proc/sys/kernel/ostype && read -r file </proc/sys/kernel/osrelease && echo "kernel $line $file"
	while read -r line; do
		case $line in "model name"*) echo "cpu ${line#*: }"; break ;; esac
	done </proc/cpuinfo
	if read -r line </sys/devices/system/cpu/cpu0/cpufreq/scaling_governor; then
		echo "governor $line"
	fi
	for file in $(ldd -- "$(type -P /bin/program)" | while read -r line; do
		case $line in libmpi*" => /"*) line=${line#* => }; echo "${line% (*}"; break ;; esac
	done); do
		line=$(sha256sum -- "$file") && echo "checksum ${line%% *}"
	done
	if [ -n "${SLURM_JOB_NODELIST:-}" ] && line=$(scontrol show hostnames "$SLURM_JOB_NODELIST"); then
		for line in $line; do echo "node $line"; done
	else
		echo "node $HOSTNAME"
	fi
}

# tutti_start FOLDER SECONDS COMMAND...
tutti_start() {
	local folder=$1 limit=$2 began code found
	shift 2
	if [ -e "$folder/end" ] || [ -e stop ]; then return; fi
	: >"$folder/begin"
	tutti_clock
	began=$tutti_now
	(cd "$folder" && export TUTTI_START=$PWD && exec timeout -k 10 "$limit" "$@") </dev/null >"$folder/stdout" 2>"$folder/stderr"
	code=$?
	if [ "$code" -ne 0 ]; then # what the launcher left behind on this node
		for found in $(grep -lzxF -- "TUTTI_START=$PWD/$folder" /proc/[0-9]*/environ 2>/dev/null); do
			found=${found#/proc/}
			kill -KILL "${found%/environ}"
		done
	fi
	tutti_clock
	set -- $(cd "$folder" && stat -c %s stdout stderr)
	tutti_write "$folder/end" "exit $code" "begin $began" "end $tutti_now" "stdout ${1:-0}" "stderr ${2:-0}" "run $tutti_run"
}

# The nodes in groups of which a start has all to itself: those on each switch that a
# line of the file switches names, and all others together; without it each node alone.
tutti_groups() {
	local hosts line host here
	hosts=" $(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 8 | tr '\n' ' ')"
	tutti_group=() tutti_holder=() tutti_spanning= tutti_alone=
	if [ -e switches ]; then
		tutti_alone=1
		while read -r line; do
			here=
			for host in $line; do
				case $hosts in *" $host "*) here="$here $host" hosts=${hosts/ $host / } ;; esac
			done
			if [ -n "$here" ]; then tutti_group+=("$here"); fi
		done <switches
		if [ -n "${hosts// /}" ]; then tutti_group+=("$hosts"); fi
	else
		for host in $hosts; do tutti_group+=("$host"); done
	fi
}

# tutti_take NUMBER NODES: gives the start the smallest group that holds it, or when
# none is large enough several, and where there are switches only one start of those.
tutti_take() {
	local number=$1 want=$2 g hosts size best= least largest=0 taken=
	for g in "${!tutti_group[@]}"; do
		hosts=(${tutti_group[g]})
		size=${#hosts[@]}
		if ((size > largest)); then largest=$size; fi
		if [ -z "${tutti_holder[g]:-}" ] && ((size >= want)) && { [ -z "$best" ] || ((size < least)); }; then best=$g least=$size; fi
	done
	if ((largest >= want)); then
		taken=$best
	elif [ -z "$tutti_alone" ] || [ -z "$tutti_spanning" ]; then
		for g in "${!tutti_group[@]}"; do
			if [ -n "${tutti_holder[g]:-}" ] || ((want <= 0)); then continue; fi
			hosts=(${tutti_group[g]})
			taken="$taken $g"
			want=$((want - ${#hosts[@]}))
		done
		if ((want > 0)); then taken=; else tutti_spanning=$number; fi
	fi
	if [ -z "$taken" ]; then return 1; fi
	tutti_nodes=
	for g in $taken; do
		tutti_holder[g]=$number
		tutti_nodes="$tutti_nodes ${tutti_group[g]}"
	done
}

# tutti_give NUMBER: the start has ended.
tutti_give() {
	local g
	for g in "${!tutti_group[@]}"; do
		if [ "${tutti_holder[g]:-}" = "$1" ]; then tutti_holder[g]=; fi
	done
	if [ "$tutti_spanning" = "$1" ]; then tutti_spanning=; fi
}

# tutti_side NUMBER...: whenever nodes are free, the first start that fits begins.
tutti_side() {
	local waiting=$* rest number hosts alive
	local -A running # numbers of starts by process
	while :; do
		rest=
		for number in $waiting; do
			if [ -e "$number/end" ] || [ -e stop ]; then continue; fi
			if ! tutti_take "$number" "${tutti_wants[number]}"; then rest="$rest $number"; continue; fi
			hosts=($tutti_nodes)
			printf "%s${tutti_suffix[number]}\n" "${hosts[@]:0:tutti_wants[number]}" >"$number/hosts"
			"tutti_start_$number" &
			running[$!]=$number
		done
		waiting=$rest
		if [ "${#running[@]}" -eq 0 ]; then break; fi
		wait -n 2>/dev/null || sleep 0.1 # before bash 4.3 it cannot wait for any
		alive=" $(jobs -rp | tr '\n' ' ')"
		for number in "${!running[@]}"; do
			case $alive in *" $number "*) continue ;; esac
			tutti_give "${running[$number]}"
			unset "running[$number]"
		done
	done
	if [ -n "$waiting" ]; then echo "these starts need more nodes than the job has:$waiting"; fi
}

: >begin
tutti_clock
tutti_began=$tutti_now
tutti_run=${SLURM_RESTART_COUNT:-${TUTTI_RESTART_COUNT:-0}}
cd -- /scratch/tuning/jobs/tutti-test-mpich-bcast-r1-1 || exit 1
export LC_ALL=C
tutti_write environment "$(tutti_environment 2>/dev/null)"

tutti_wants=() tutti_suffix=()
tutti_start_1() { tutti_start 1 5.500 env FAKE_LAUNCHER=1 env HOSTS=/scratch/tuning/jobs/tutti-test-mpich-bcast-r1-1/1/hosts /bin/program 'x y'; }
tutti_wants[1]=2 tutti_suffix[1]=' slots=1'
tutti_start_2() { tutti_start 2 5.500 env FAKE_LAUNCHER=1 env HOSTS=/scratch/tuning/jobs/tutti-test-mpich-bcast-r1-1/2/hosts /bin/program 'x y'; }
tutti_wants[2]=2 tutti_suffix[2]=' slots=1'
tutti_groups
tutti_side 1 2

tutti_clock
tutti_write end "begin $tutti_began" "end $tutti_now" "run $tutti_run"
exit 0 # a script that could not write its end is not one that failed
