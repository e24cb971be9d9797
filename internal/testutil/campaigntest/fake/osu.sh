#!/bin/sh
# Prints what the OSU benchmarks print and measures nothing: the times follow from the
# settings, the message size and the number of processes. The file ledger in the same folder
# lists what each start measured. If the folder has a file slow, each size takes the seconds
# in it.
here=${0%/*}
name=${0##*/osu_}
processes=${FAKE_PROCESSES:-${SLURM_NTASKS:-1}}
rank=${FAKE_RANK:-${SLURM_PROCID:-0}}

# Nothing begins before all processes are there, as with MPI. The others end well even when
# the first one falls over before they have ended.
[ "$rank" = 0 ] || trap '' TERM
: >"here.$rank"
[ "$rank" = 0 ] || exit 0
other=1
while [ $other -lt "$processes" ]; do
	if [ -e "here.$other" ]; then other=$((other + 1)); else sleep 0.01; fi
done

first=0
last=0
while [ $# -gt 0 ]; do
	case $1 in
	-m) first=${2%:*} last=${2#*:} && shift ;;
	-i | -x | -M) shift ;;
	esac
	shift
done
eval "algorithm=\${OMPI_MCA_coll_tuned_${name}_algorithm:-0}"
eval "segment=\${OMPI_MCA_coll_tuned_${name}_algorithm_segmentsize:-0}"
case $name in
allreduce) title=Allreduce ;;
alltoall) title="All-to-All Personalized Exchange" ;;
esac

# One algorithm crashes at one size whenever it is tried, another one the first time.
crash() {
	case $name/$algorithm/$1 in
	allreduce/2/128) ;;
	allreduce/3/512) ! grep -qs " crash $2\$" "$here/ledger" || return 0 ;;
	*) return 0 ;;
	esac
	echo "$PWD crash $2" >>"$here/ledger"
	echo "the algorithm fell over" >&2
	exit 3
}

echo
echo "# OSU MPI $title Latency Test v5.9"
echo "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations"
bytes=$first
while [ "$bytes" -le "$last" ]; do
	case=$name/$algorithm/$segment/$processes/$bytes
	if [ -e "$here/slow" ]; then sleep "$(cat "$here/slow")"; fi
	crash "$bytes" "$case"
	# In hundredths of a microsecond. The default is good nowhere.
	start=$((300 + algorithm * 79 % 13 * 40 + segment / 8192))
	each=$((1 + algorithm * 104 % 11 + segment / 16384))
	[ "$algorithm" -gt 0 ] || { start=900 && each=14; }
	time=$((start * processes + bytes * each / 4))
	digits=0$((time % 100))
	time=$((time / 100)).${digits#"${digits%??}"}
	echo "$PWD done $case" >>"$here/ledger"
	echo "$bytes $time $time $time 1000"
	bytes=$((2 * bytes))
done
