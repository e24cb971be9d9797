#!/bin/sh
# Starts so many processes on this machine and tells each its number.
while :; do
	case $1 in
	-n) FAKE_PROCESSES=$2 && shift 2 ;;
	--map-by | --rank-by | -x) shift 2 ;;
	*) break ;;
	esac
done
export FAKE_PROCESSES
FAKE_RANK=$((FAKE_PROCESSES - 1))
while [ $FAKE_RANK -gt 0 ]; do
	export FAKE_RANK OMPI_COMM_WORLD_RANK=$FAKE_RANK
	"$@" &
	FAKE_RANK=$((FAKE_RANK - 1))
done
export FAKE_RANK OMPI_COMM_WORLD_RANK=$FAKE_RANK
"$@"
code=$?
wait
exit $code
