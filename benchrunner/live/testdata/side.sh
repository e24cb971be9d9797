#!/bin/bash
# tutti-test-mpich-bcast-r1-1: 2 x fake by fake, concurrently. Written by tutti.
cd -- /scratch/tuning/jobs/tutti-test-mpich-bcast-r1-1 || exit 1
tutti_id=${TUTTI_JOB_ID:-${SLURM_JOB_ID:-$$}}

# Only the job that claims the folder measures. It continues if the scheduler runs it again.
# Any other job with this name does nothing.
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

# The time in seconds since boot. This clock is never adjusted.
tutti_clock() { read -r tutti_now _ </proc/uptime; }

# tutti_write FILE LINE... writes a file atomically.
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
	case $code in 137 | 143) sleep 2 ;; esac # a scheduler ends the programs shortly before this script
	if [ "$code" -ne 0 ]; then # kill processes that the launcher left on this node
		for found in $(grep -lzxF -- "TUTTI_START=$PWD/$folder" /proc/[0-9]*/environ 2>/dev/null); do
			found=${found#/proc/}
			kill -KILL "${found%/environ}"
		done
	fi
	tutti_clock
	set -- $(cd "$folder" && stat -c %s stdout stderr)
	tutti_write "$folder/end" "exit $code" "begin $began" "end $tutti_now" "stdout ${1:-0}" "stderr ${2:-0}" "run $tutti_run"
}

# tutti_begin NUMBER begins a launch on the nodes of its groups. If there are fewer nodes than
# planned, the launch runs alone, on the first nodes of the job.
tutti_begin() {
	local number=$1 nodes=${tutti_nodes[$1]} hosts=() slice alone=
	for slice in ${tutti_slices[number]}; do
		hosts+=(${tutti_group[@]:${slice%:*}:${slice#*:}})
	done
	if ((${#hosts[@]} < nodes)); then
		wait
		hosts=(${tutti_group[@]}) alone=1
	fi
	if ((${#hosts[@]} < nodes)); then
		echo "launch $number needs $nodes nodes, the job has ${#hosts[@]}"
		tutti_process[number]=
		return
	fi
	printf "%s${tutti_suffix[number]}\n" "${hosts[@]:0:nodes}" >"$number/hosts"
	"tutti_start_$number" &
	tutti_process[number]=$!
	if [ -n "$alone" ]; then wait; fi
}

# tutti_side NUMBER... begins each launch when the earlier launches on its nodes have ended.
tutti_side() {
	local waiting=$* rest number before
	while [ -n "$waiting" ]; do
		rest=
		for number in $waiting; do
			for before in ${tutti_after[number]}; do
				if kill -0 "${tutti_process[before]}" 2>/dev/null; then
					rest="$rest $number"
					continue 2
				fi
			done
			tutti_begin "$number"
		done
		waiting=$rest
		wait -n 2>/dev/null || sleep 0.1 # bash before 4.3 has no wait -n
	done
	wait
}

# Prints the nodes of the job: one line for each switch of the file switches and one for all
# other nodes. Each line begins with its number of nodes. A name without a domain stands for
# one with a domain if no other node of the file has the same short name.
tutti_switches() {
	local -A switch short
	local line host name number=0 group=()
	while read -r line; do
		for host in $line; do
			name=${host%%.*} switch[$host]=$number
			if [ -n "${short[$name]:-}" ]; then short[$name]=/; else short[$name]=$host; fi
		done
		number=$((number + 1))
	done <switches
	for host in $(tutti_hosts); do
		name=${short[${host%%.*}]:-/}
		if [ -n "${switch[$host]:-}" ]; then
			name=$host
		elif [ "$name" != "${name%%.*}" ] && [ "$host" != "${host%%.*}" ]; then # two domains
			name=/
		fi
		group[${switch[$name]:-$number}]+=" $host"
	done
	for line in "${group[@]}"; do
		set -- $line
		echo "$# $line"
	done
}

: >begin
tutti_clock
tutti_began=$tutti_now
tutti_run=${SLURM_RESTART_COUNT:-${TUTTI_RESTART_COUNT:-0}}
cd -- /scratch/tuning/jobs/tutti-test-mpich-bcast-r1-1 || exit 1
export LC_ALL=C
tutti_write environment "$(tutti_environment 2>/dev/null)"

tutti_hosts() { scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 8; }
mapfile -t tutti_group < <(tutti_switches | sort -s -k 1,1nr | cut -d ' ' -f 2-) # largest groups first
# For each launch: its number of nodes, its groups (first:number), the suffix of each node in
# its hosts file, the launches before it, and its process: this script until it begins.
tutti_start_1() { tutti_start 1 20.500 env env HOSTS=/scratch/tuning/jobs/tutti-test-mpich-bcast-r1-1/1/hosts /bin/program 'x y'; }
tutti_nodes[1]=2 tutti_slices[1]=0:1 tutti_suffix[1]=' slots=1' tutti_after[1]='' tutti_process[1]=$$
tutti_start_2() { tutti_start 2 20.500 env env HOSTS=/scratch/tuning/jobs/tutti-test-mpich-bcast-r1-1/2/hosts /bin/program 'x y'; }
tutti_nodes[2]=2 tutti_slices[2]=1:1 tutti_suffix[2]=' slots=1' tutti_after[2]='' tutti_process[2]=$$
tutti_side 1 2

tutti_clock
tutti_write end "begin $tutti_began" "end $tutti_now" "run $tutti_run"
exit 0 # a script that cannot write its end file has not failed
