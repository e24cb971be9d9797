#!/bin/bash
# tutti-test-mpich-bcast-r1-2: 2 x fake by fake, one after another. Written by tutti.
cd -- '/scratch/night run/jobs/tutti-test-mpich-bcast-r1-2' || exit 1
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
	for file in $(ldd -- "$(type -P '/opt/fake program.sh')" | while read -r line; do
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

: >begin
tutti_clock
tutti_began=$tutti_now
tutti_run=${SLURM_RESTART_COUNT:-${TUTTI_RESTART_COUNT:-0}}
# Finds the shell function "module": in the installation that the environment names, then
# where Linux packages install it.
for tutti_file in ${MODULESHOME:+"$MODULESHOME/init/bash"} ${LMOD_PKG:+"$LMOD_PKG/init/bash"} \
	/etc/profile.d/modules.sh /etc/profile.d/lmod.sh /etc/profile.d/z00_lmod.sh; do
	if type module >/dev/null 2>&1; then break; fi
	if [ -r "$tutti_file" ]; then . "$tutti_file"; fi
done

# tutti_load MODULE loads a module and ends the shell if it is not loaded. LOADEDMODULES has
# the full name, with the default version. An alias has another name there: then "module
# is-loaded" answers, or a new name in the list, if the exit code of "module" has a meaning.
tutti_load() {
	local before=${LOADEDMODULES:-}
	module load "$1" || { echo "module load $1 did not work"; exit 1; }
	case :${LOADEDMODULES:-}: in *:"${1%/}":* | *:"${1%/}"/*) return 0 ;; esac
	if ! module is-loaded tutti-no-such-module >/dev/null 2>&1; then
		if module is-loaded "$1" >/dev/null 2>&1 || [ "${LOADEDMODULES:-}" != "$before" ]; then return 0; fi
	fi
	echo "module load $1 reported no error, but the module is not loaded. Loaded modules: ${LOADEDMODULES:-none}"
	exit 1
}
tutti_load mpich/4.0.2
tutti_load 'it'"'"'s'
. ./setup.sh
set +eufC
IFS=$' \t\n'
cd -- '/scratch/night run/jobs/tutti-test-mpich-bcast-r1-2' || exit 1
export LC_ALL=C
tutti_write environment "$(tutti_environment 2>/dev/null)"

tutti_start 1 30.000 env UCX_TLS=self,sm,tcp '/opt/fake program.sh' /opt/ledger 1:a:498 2:b:436
tutti_start 2 30.000 env UCX_TLS=self,sm,tcp '/opt/fake program.sh' /opt/ledger 3:a:384

tutti_clock
tutti_write end "begin $tutti_began" "end $tutti_now" "run $tutti_run"
exit 0 # a script that cannot write its end file has not failed
