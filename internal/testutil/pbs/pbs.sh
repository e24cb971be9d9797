#!/bin/bash
# The commands of a PBS server that runs each job at once on this machine, with the answers that
# OpenPBS 23.06.06 gave. Files in its folder are faults; see testutil.PBSFault.
dir=$(dirname "$(readlink -f "$0")")
command=${0##*/}
echo "$command $*" >>"$dir/calls"
refuse() {
	echo "Connection refused" >&2
	echo "$command: cannot connect to server pbs0 (errno=15010)" >&2
	exit "$1"
}
if [ -e "$dir/down" ]; then
	case $command in qstat) refuse 255 ;; pbsnodes) refuse 1 ;; *) refuse 162 ;; esac
fi
set_state() { printf %s "$2" >"$1/state.new" && mv "$1/state.new" "$1/state"; }
now() { TZ=UTC date '+%a %b %e %H:%M:%S %Y'; }

# run_job FOLDER SCRIPT
run_job() {
	local number=${1##*/} code
	while [ -e "$dir/hold" ]; do sleep 0.05; done
	printf %s "$(now)" >"$1/stime"
	set_state "$1" R
	printf '%s\n' "$HOSTNAME" "$HOSTNAME" >"$1/nodes"
	cd / && PBS_JOBID=$number.pbs0 PBS_NODEFILE=$1/nodes OMP_NUM_THREADS=2 setsid bash "$2" >>"$(cat "$1/out")" 2>&1 &
	local script=$!
	if rm "$dir/node-lost" 2>/dev/null; then
		until find "$(dirname "$(cat "$1/out")")" -name begin | grep -q .; do sleep 0.02; done
		kill -KILL -- "-$script"
		: >"$1/lost"
	fi
	wait "$script"
	code=$?
	if [ -e "$1/lost" ]; then code=-14; fi
	if [ -e "$1/deleted" ]; then code=271; fi
	printf %s "$code" >"$1/exit"
	set_state "$1" F
	if [ -e "$dir/history-off" ]; then mv "$1" "$dir/gone"; fi
}

do_qsub() {
	local name out opt number=0 job
	while getopts fC:N:o:j:k:r:m:W:l:q:A: opt; do
		case $opt in
		N) name=$OPTARG ;;
		o) out=$OPTARG ;;
		\?) exit 2 ;;
		esac
	done
	shift $((OPTIND - 1))
	if [ -e "$dir/refuse" ]; then
		echo "qsub: Unknown queue" >&2
		exit 170
	fi
	while [ -e "$dir/gone/$number" ] || ! mkdir "$dir/jobs/$number" 2>/dev/null; do number=$((number + 1)); done
	job=$dir/jobs/$number
	case $out in /*) ;; *) out=$PWD/$out ;; esac
	printf %s "$name" >"$job/name"
	printf %s "$out" >"$job/out"
	printf %s "$(now)" >"$job/ctime"
	cp "$1" "$job/script"
	if [ -e "$dir/drop" ]; then # a routing queue that no destination takes
		rm "$dir/drop"
		mv "$job" "$dir/gone"
		echo "$number.pbs0"
		return
	fi
	if [ -e "$dir/hold" ]; then set_state "$job" H; else set_state "$job" Q; fi
	run_job "$job" "$job/script" </dev/null >/dev/null 2>&1 &
	if [ -e "$dir/lost-answer" ]; then
		rm "$dir/lost-answer"
		refuse 162
	fi
	echo "$number.pbs0"
}

# attributes FOLDER prints lines NAME = VALUE.
attributes() {
	local state
	state=$(cat "$1/state")
	echo "Job_Name = $(cat "$1/name")"
	echo "job_state = $state"
	echo "Output_Path = pbs0:$(cat "$1/out")"
	echo "ctime = $(cat "$1/ctime")"
	if [ -e "$1/stime" ]; then echo "stime = $(cat "$1/stime")"; fi
	case $state in
	H) echo "Hold_Types = u" ;;
	F)
		if [ -e "$1/deleted" ]; then echo "substate = 91"; else echo "substate = 92"; fi
		if [ -e "$1/exit" ]; then echo "Exit_status = $(cat "$1/exit")"; fi
		echo "mtime = $(now)"
		;;
	esac
}

do_qstat() {
	local history= json= id job found= text=
	case "$*" in
	*-B*) cat "$dir/server.json" && return ;;
	*-Q*) cat "$dir/queue.json" && return ;;
	esac
	case " $* " in *" -x "*) history=1 ;; esac
	case " $* " in *" json "*) json=1 ;; esac
	if [ -n "$history" ] && [ -e "$dir/history-off" ]; then
		echo "qstat: PBS is not configured to maintain job history" >&2
		return 0
	fi
	if [ -n "$json" ] && [ -e "$dir/no-json" ]; then # the writer of older releases
		echo '{"Jobs":{"0.pbs0":{"Variable_List":{"foo":005}}}}'
		return 0
	fi
	for id in "$@"; do
		job=$dir/jobs/${id%%.*}
		case $id in *[!0-9].*|-*|json) continue ;; esac
		if [ ! -e "$job/state" ]; then continue; fi
		if [ -z "$history" ] && [ "$(cat "$job/state")" = F ]; then continue; fi
		found=1
		if [ -n "$json" ]; then
			text="$text${text:+,}\"$id\":{$(attributes "$job" | sed 's/^\([^ ]*\) = \(.*\)$/"\1":"\2"/' | paste -sd ,)}"
		else
			text="${text}Job Id: $id"$'\n'"$(attributes "$job" | sed 's/^/    /')"$'\n\n'
		fi
	done
	if [ -z "$found" ]; then
		echo "qstat: Unknown Job Id" >&2
		return 153
	fi
	if [ -n "$json" ]; then echo "{\"pbs_server\":\"pbs0\",\"Jobs\":{$text}}"; else printf %s "$text"; fi
}

do_qselect() {
	local name= history= job
	while getopts xN:u: opt; do
		case $opt in N) name=$OPTARG ;; x) history=1 ;; esac
	done
	if [ -n "$history" ] && [ -e "$dir/history-off" ]; then
		echo "qselect: PBS is not configured to maintain job history" >&2
		return 0
	fi
	for job in "$dir"/jobs/*; do
		if [ -e "$job/state" ] && [ "$(cat "$job/name")" = "$name" ]; then echo "${job##*/}.pbs0"; fi
	done
}

do_qdel() {
	local job=$dir/jobs/${1%%.*} process
	if [ ! -e "$job/state" ]; then
		echo "qdel: Unknown Job Id $1" >&2
		return 153
	fi
	if [ "$(cat "$job/state")" = F ]; then
		echo "qdel: Job has finished $1" >&2
		return 35
	fi
	: >"$job/deleted"
	if [ ! -e "$job/stime" ]; then set_state "$job" F; fi
	for process in $(grep -lzxF -- "PBS_JOBID=$1" /proc/[0-9]*/environ 2>/dev/null); do
		process=${process#/proc/}
		kill -TERM "${process%/environ}" 2>/dev/null
	done
	return 0
}

do_pbsnodes() { cat "$dir/nodes.json"; }

do_"$command" "$@"
