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

# tutti_nodes prints the nodes of the job, a line each.
tutti_nodes() {
	if [ -n "${TUTTI_NODEFILE:-}" ]; then
		cat "$TUTTI_NODEFILE"
	elif [ -n "${SLURM_JOB_NODELIST:-}" ]; then
		scontrol show hostnames "$SLURM_JOB_NODELIST"
	fi
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
	line=$(sha256sum <"$(type -P /bin/program)") && echo "program ${line%% *}"
	for file in $(ldd -- "$(type -P /bin/program)" | while read -r line; do
		case $line in libmpi*" => /"*) line=${line#* => }; echo "${line% (*}"; break ;; esac
	done); do
		line=$(sha256sum -- "$file") && echo "checksum ${line%% *}"
	done
	if line=$(tutti_nodes) && [ -n "$line" ]; then
		for line in $line; do echo "node $line"; done
	else
		echo "node $HOSTNAME"
	fi
}

# tutti_keep FILE BLOCKS writes the first BLOCKS KiB of its input to FILE. If there is more, it writes the last
# 65536 bytes to FILE.last. It reads on until the input ends, so that no program waits for it.
tutti_keep() {
	trap '' HUP INT TERM XFSZ
	(ulimit -f "$2"; exec cat) >"$1" 2>/dev/null || tail -c 65536 >"$1.last"
}

# tutti_stat FILE reads a file stat of /proc into tutti_fields: state, parent, process group, session, ..., start
# time in clock ticks (19). The name goes into tutti_name.
tutti_stat() {
	local text=
	IFS= read -r -d '' text 2>/dev/null <"$1" || [ -n "$text" ] || return
	tutti_name=${text#*(} tutti_name=${tutti_name%)*}
	tutti_fields=(${text##*)})
}

# Finds the process that takes over the job's orphans: tutti, or Slurm's slurmstepd.
tutti_find_reaper() {
	local pid=$$
	tutti_reaper= tutti_reaper_session= tutti_cgroup=
	IFS= read -r -d '' tutti_cgroup </proc/self/cgroup
	while tutti_stat "/proc/$pid/stat"; do
		if [[ $pid = "${TUTTI_REAPER:-}" || -z ${TUTTI_JOB_ID:-} && $tutti_name = slurmstepd ]]; then
			tutti_reaper=$pid tutti_reaper_session=${tutti_fields[3]}
			return
		fi
		pid=${tutti_fields[1]}
	done
}

# tutti_uses PID FOLDER returns whether a process uses the folder or the pipes of a launch, descriptors 7 and 8. If
# tutti_pipe is set, a process whose output is any pipe counts, too.
tutti_uses() {
	local link
	for link in /proc/"$1"/fd/*; do
		if [[ $link -ef /proc/self/fd/7 || $link -ef /proc/self/fd/8 ]]; then return; fi
	done
	while IFS= read -r link; do
		case $link in "$2" | "$2"/*) return ;; esac
	done < <(readlink /proc/"$1"/{cwd,root,exe} /proc/"$1"/fd/* 2>/dev/null)
	[[ -n ${tutti_pipe:-} && $(readlink /proc/"$1"/fd/[12] 2>/dev/null) = *pipe:* ]]
}

# tutti_in_job PID PARENT SESSION returns whether a process that is no descendant of this script belongs to the job: by
# its session or control group, or as an orphan. Children of tutti itself have TUTTI_REAPER in their environment.
tutti_in_job() {
	local group=
	if [ -n "${TUTTI_JOB_ID:-}" ]; then
		[ "$3" = "${TUTTI_JOB_ID%%-*}" ] ||
			{ [[ $2 = "$tutti_reaper" && $3 != "$tutti_reaper_session" ]] && ! grep -qszF TUTTI_REAPER= "/proc/$1/environ"; }
		return
	fi
	if [ -z "$tutti_reaper" ]; then return 1; fi
	IFS= read -r -d '' group 2>/dev/null <"/proc/$1/cgroup"
	case $group in *"/job_$SLURM_JOB_ID/"*) if [ "$group" = "$tutti_cgroup" ]; then return; fi ;; esac
	[ "$2" = "$tutti_reaper" ]
}

# tutti_find_left FIRST [FOLDER GROUP] puts the processes of this user that the launch in FOLDER left on this
# node into the map tutti_left. They began at the clock tick FIRST or later. Without FOLDER it finds those of all
# launches that have ended. A process that uses the folder counts only if it is an orphan, since a person may read there.
# Descendants of the process tutti_script do not count. If tutti_script is not set, this is the shell itself.
tutti_find_left() {
	local first=$1 folder=$2 group=$3 process pid up young
	local -A parent=() name=() of=() session=() oldest=()
	for process in /proc/[0-9]*; do
		if [ -O "$process" ] && tutti_stat "$process/stat"; then
			pid=${process#/proc/}
			parent[$pid]=${tutti_fields[1]} name[$pid]=$tutti_name
			case ${tutti_fields[0]}:$tutti_name in [ZX]:* | *:slurmstepd) continue ;; esac
			if ((tutti_fields[19] >= first)); then of[$pid]=${tutti_fields[2]} session[$pid]=${tutti_fields[3]}; fi
		fi
	done
	tutti_left=()
	for pid in "${!of[@]}"; do # oldest: the first of its parents, grandparents, ... that is as young
		for ((up = pid; up > 1; up = parent[$up])); do
			if ((up == ${tutti_script:-$$})); then unset "oldest[$pid]" && continue 2; fi
			if [ -n "${of[$up]}" ]; then oldest[$pid]=$up; fi
		done
	done
	young=("${!oldest[@]}")
	if [ ${#young[@]} -eq 0 ]; then return; fi
	for process in $(cd /proc && grep -lszxF -e "TUTTI_LAUNCH=${folder:-/}" "${young[@]/%//environ}"); do
		pid=${process%/environ} tutti_left[$pid]=${name[$pid]}
	done
	for pid in "${young[@]}"; do
		up=${parent[${oldest[$pid]}]}
		if [ -z "$folder" ]; then
			tutti_in_job "$pid" "${parent[$pid]}" "${session[$pid]}" || continue
		elif [ "${of[$pid]}" != "$group" ]; then
				{ [[ $up = 1 || $up = "$tutti_reaper" || ${name[$up]} = systemd ]] && tutti_uses "$pid" "$folder"; } || continue
		fi
		tutti_left[$pid]=${name[$pid]}
	done
}

# tutti_find_earlier puts the processes on this node that earlier launches of the campaign left into tutti_left: of
# launches that have ended, of stopped jobs, and of an earlier run of this job.
tutti_find_earlier() {
	local process pid launch jobs=${PWD%/*}
	tutti_left=()
	for process in $(cd /proc && grep -lszF "TUTTI_LAUNCH=$jobs/" [0-9]*/environ); do
		pid=${process%/environ}
		launch=$(tr '\0' '\n' 2>/dev/null <"/proc/$process" | sed -n 's/^TUTTI_LAUNCH=//p')
		if [ "${launch%/*}" != "$PWD" ] && [ ! -e "$launch/end" ] && [ ! -e "${launch%/*}/stop" ]; then continue; fi
		if [ -O "/proc/$pid" ] && tutti_stat "/proc/$pid/stat" && [[ ${tutti_fields[0]} != [ZX] ]]; then
			tutti_left[$pid]=$tutti_name
		fi
	done
}

# tutti_find_of FOLDER SECONDS CODE HOST PID puts the processes that the launch in FOLDER left on any node of the job into
# tutti_left. They began at most so many seconds ago. If the launch ended at its time limit, an orphan that writes to a
# pipe counts: srun waits for the end of its output, and no descriptor here names that pipe. On HOST, the process PID runs
# the script of the job.
tutti_find_of() {
	local tutti_pipe= tutti_script=
	case $3 in 124 | 137) tutti_pipe=1 ;; esac
	if [ "$4" = "$HOSTNAME" ]; then tutti_script=$5; fi
	tutti_clock
	tutti_find_left $(((${tutti_now%.*} - $2) * $(getconf CLK_TCK))) "$1" ''
}

# tutti_end_left FIND... ends what the function FIND finds. It prints what does not end, and keeps the script from
# starting another launch.
tutti_end_left() {
	local try pid
	local -A tutti_left
	for try in 0 0.01 0.1 0.2 0.3 0.5 1 1 2; do
		"$@"
		if [ ${#tutti_left[@]} -eq 0 ]; then return; fi
		kill -KILL "${!tutti_left[@]}" 2>/dev/null
		sleep "$try"
	done
	: >stop
	for pid in "${!tutti_left[@]}"; do printf 'left %s %q on %s\n' "$pid" "${tutti_left[$pid]}" "$HOSTNAME"; done
}

# tutti_end_elsewhere HOSTS FIND... runs tutti_end_left FIND... on the nodes of the file HOSTS, or on those of the job if
# there is no such file. It does nothing where the control groups of Slurm end these processes.
tutti_end_elsewhere() {
	local hosts=$1
	shift
	if [ -z "$tutti_apart" ]; then return; fi
	if [ -e "$hosts" ]; then set -- "$(sed 's/[: ].*//' "$hosts" | paste -sd , -)" "$@"; else set -- "$SLURM_JOB_NODELIST" "$@"; fi
	(
		unset SLURM_NTASKS SLURM_NPROCS SLURM_NTASKS_PER_NODE SLURM_NTASKS_PER_CORE SLURM_NTASKS_PER_SOCKET SLURM_NTASKS_PER_GPU SLURM_NTASKS_PER_TRES SLURM_TRES_PER_TASK SLURM_TASKS_PER_NODE SLURM_NNODES SLURM_STEP_NUM_NODES SLURM_STEP_NUM_TASKS SLURM_STEP_TASKS_PER_NODE SLURM_STEP_NODELIST SLURM_CPUS_PER_TASK SRUN_CPUS_PER_TASK SLURM_CPUS_PER_GPU SLURM_THREADS SLURM_THREADS_PER_CORE SLURM_CORE_SPEC SLURM_THREAD_SPEC SLURM_DISTRIBUTION SLURM_DIST_PLANESIZE SLURM_DIST_LLLP SLURM_HINT SLURM_EXACT SLURM_WHOLE SLURM_EXCLUSIVE SLURM_OVERCOMMIT SLURM_ARBITRARY SLURM_HOSTFILE SLURM_SPREAD_JOB SLURM_USE_MIN_NODES SLURM_CPU_BIND SLURM_CPU_BIND_LIST SLURM_CPU_BIND_TYPE SLURM_CPU_BIND_VERBOSE SLURM_MEM_BIND SLURM_MEM_BIND_LIST SLURM_MEM_BIND_PREFER SLURM_MEM_BIND_SORT SLURM_MEM_BIND_TYPE SLURM_MEM_BIND_VERBOSE SLURM_MEM_PER_CPU SLURM_MEM_PER_GPU SLURM_MEM_PER_NODE SLURM_GPUS SLURM_GPUS_PER_NODE SLURM_GPUS_PER_SOCKET SLURM_GPUS_PER_TASK SLURM_GPU_BIND SLURM_GPU_FREQ SLURM_GRES SLURM_STEP_GRES SLURM_GRES_FLAGS SLURM_MPI_TYPE SLURM_EXPORT_ENV SLURM_KILL_BAD_EXIT SLURM_NO_KILL SLURM_WAIT SLURM_TIMELIMIT SLURM_IMMEDIATE SLURM_SIGNAL SLURM_MULTI_PROG SLURM_STDINMODE SLURM_STDOUTMODE SLURM_STDERRMODE SLURM_LABELIO SLURM_UNBUFFEREDIO SLURM_OPEN_MODE SLURM_DEBUG SLURM_VERBOSE SLURM_QUIET SLURM_DISABLE_STATUS SLURM_REMOTE_CWD SLURM_WORKING_DIR SLURM_CHDIR SLURM_CONSTRAINT SLURM_CLUSTER_CONSTRAINT SLURM_NETWORK SLURM_RESV_PORTS SLURM_REQ_SWITCH SLURM_WAIT4SWITCH SLURM_PROLOG SLURM_EPILOG SLURM_TASK_PROLOG SLURM_TASK_EPILOG SLURM_PROFILE SLURM_ACCTG_FREQ SLURM_CPU_FREQ_REQ SLURM_POWER SLURM_COMPRESS SLURM_BCAST SLURM_BCAST_EXCLUDE SLURM_SEND_LIBS SLURM_CONTAINER SLURM_DELAY_BOOT SLURM_DEPENDENCY SLURM_STEP_ID SLURM_STEPID SRUN_OUTPUT SRUN_ERROR SRUN_INPUT SRUN_EXPORT_ENV SRUN_CONTAINER SRUN_CONTAINER_ID SRUN_SEGMENT_SIZE SLURM_TRES_BIND SLURM_TEST_EXEC SLURM_OOM_KILL_STEP SLURM_EXIT_ERROR SLURM_EXIT_IMMEDIATE SLURM_SRUN_REDUCE_TASK_EXIT_MSG SLURM_STEP_KILLED_MSG_NODE_ID SLURM_DEBUG_FLAGS
		SLURM_OVERLAP=1 exec timeout -k 10 60 srun --nodelist="$1" --ntasks-per-node=1 --mpi=none --mem=0 --input=none --quiet bash -c '
			eval "$1"; shift; tutti_end_left "$@"' tutti "$(declare -f)" "${@:2}" 2>/dev/null
	)
}

# tutti_start FOLDER SECONDS COMMAND...
tutti_start() {
	local folder=$1 limit=$2 began code group first sizes left
	shift 2
	if [ -e "$folder/end" ] || [ -e stop ] || [[ $folder != 1 && -e time-up ]]; then return; fi
	: >"$folder/begin"
	tutti_clock
	began=$tutti_now
	exec 9<> <(:) # a pipe: of the launch for its numbers, then of the two tutti_keep until they end
	exec 7> >(tutti_keep "$folder/stdout" 16384) 8> >(exec 7>&-; tutti_keep "$folder/stderr" 4096)
	exec 6</proc/self/fd/9
	(
		tutti_stat /proc/self/stat
		echo "$BASHPID ${tutti_fields[19]}" >&9
		cd "$folder" && export TUTTI_LAUNCH=$PWD &&
			exec timeout -k 10 "$limit" bash -c '. ./variables 2>/dev/null
				exec -- "$@"' tutti "$@" </dev/null >&7 2>&8 6<&- 7>&- 8>&- 9>&-
	)
	code=$?
	case $code in 137 | 143) sleep 2 ;; esac # a scheduler ends the programs shortly before this script
	left=()
	tutti_clock
	if read -r -t 10 group first <&6; then
		mapfile -t left < <(
			tutti_end_left tutti_find_left "$first" "$PWD/$folder" "$group"
			tutti_end_elsewhere "$folder/hosts" tutti_find_of "$PWD/$folder" $((${tutti_now%.*} - ${began%.*} + 2)) "$code" "$HOSTNAME" $$
		)
	fi
	exec 7>&- 8>&- 9>&-
	read -r -t 10 <&6 # the end of both tutti_keep
	exec 6<&-
	tutti_clock
	mapfile -t sizes < <(cd "$folder" && stat -c '%n %s' stdout stderr stdout.last stderr.last 2>/dev/null)
	tutti_write "$folder/end" "exit $code" "begin $began" "end $tutti_now" "${sizes[@]}" "${left[@]}" "run $tutti_run"
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
tutti_find_reaper
tutti_apart= # whether the job has other nodes on which Slurm does not end every process of a launch
if [ "${SLURM_JOB_NUM_NODES:-1}" -gt 1 ] && scontrol show config | grep -q '^ProctrackType.*/\(linuxproc\|pgid\)'; then tutti_apart=1; fi
mapfile -t tutti_left < <(tutti_end_left tutti_find_earlier; tutti_end_elsewhere / tutti_find_earlier)
tutti_write environment "$(tutti_environment 2>/dev/null)"

tutti_hosts() { tutti_nodes | head -n 8; }
mapfile -t tutti_group < <(tutti_switches | sort -s -k 1,1nr | cut -d ' ' -f 2-) # largest groups first
# For each launch: its number of nodes, its groups (first:number), the suffix of each node in
# its hosts file, the launches before it, and its process: this script until it begins.
tutti_start_1() { tutti_start 1 20.500 env HOSTS=/scratch/tuning/jobs/tutti-test-mpich-bcast-r1-1/1/hosts /bin/program 'x y'; }
tutti_nodes[1]=2 tutti_slices[1]=0:1 tutti_suffix[1]=' slots=1' tutti_after[1]='' tutti_process[1]=$$
tutti_start_2() { tutti_start 2 20.500 env HOSTS=/scratch/tuning/jobs/tutti-test-mpich-bcast-r1-1/2/hosts /bin/program 'x y'; }
tutti_nodes[2]=2 tutti_slices[2]=1:1 tutti_suffix[2]=' slots=1' tutti_after[2]='' tutti_process[2]=$$
tutti_side 1 2
tutti_stat "/proc/$$/stat"
mapfile -t -O ${#tutti_left[@]} tutti_left < <(tutti_end_left tutti_find_left "${tutti_fields[19]}")

tutti_clock
tutti_write end "begin $tutti_began" "end $tutti_now" "${tutti_left[@]}" "run $tutti_run"
exit 0 # a script that cannot write its end file has not failed
