# Runs in the folder of a job as bash -c: SCRIPT SECONDS HOST ALLOCATION
script=$1 limit=$2 host=$3 allocation=$4
read -r stat <"/proc/$$/stat" && read -r boot </proc/sys/kernel/random/boot_id || exit 1
set -- ${stat##*) } # from the third field on
id=$$-${20}-$boot
mkdir "process.$id" && printf '%s\n' "$id" "$host" "$allocation" >"process.$id/id" || exit 1
if ! mv -T "process.$id" process 2>/dev/null; then # another process is this job
	rm -rf "process.$id"
	exit 0
fi
# One job at a time, also when a later tutti begins one while it takes up another.
# Where there is no flock(1) that is left to tutti.
exec 9>>../running.lock && flock 9
TUTTI_JOB_ID=$id timeout -k 10 "$limit" bash "$script" 9>&-
echo "$?" >exit.new && mv -f exit.new exit
