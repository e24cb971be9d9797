#!/bin/sh
# Measures the nanoseconds that the runtime library adds to a call: loaded alone, tracing, selecting, exploring. First on one
# rank, then on four.
#
#   scripts/bench-runtime.sh [MPICC MPIEXEC]
set -eu
cd "$(dirname "$0")/.."
mpicc=${1:-mpicc.mpich}
mpiexec=${2:-mpiexec.hydra}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/tutti" ./cmd/tutti
"$work/tutti" build runtime --mpicc "$mpicc" -o "$work/libtutti.so" >/dev/null
"$mpicc" -O2 -o "$work/cost" csource/testdata/cost.c

"$mpicc" -O2 -o "$work/overhead" csource/testdata/overhead.c -ldl
"$mpicc" -O2 -fPIC -shared -DBEHIND -o "$work/behind.so" csource/testdata/overhead.c

# The calls have 8 bytes. The runtime library looks up each call and passes it to the MPI library.
cat >"$work/table" <<'END'
tutti-table 1
bcast ranks 1-1 ppn 1-1 bytes 0-4 binomial
end f50165c14d7d6322
END
cat >"$work/mix" <<'END'
tutti-table 1
explore bcast ranks 1-1 ppn 1-1 bytes 0-8 1 library_default
end f1a5f12e8a136ba8
END
mkdir "$work/samples"

cost() {
	label=$1
	shift
	printf '%-22s' "$label"
	env "$@" "$mpiexec" -n 1 "$work/cost"
}
cost 'not loaded' NONE=
cost 'off' LD_PRELOAD="$work/libtutti.so"
cost 'selecting' LD_PRELOAD="$work/libtutti.so" TUTTI_TABLE="$work/table"
cost 'tracing' LD_PRELOAD="$work/libtutti.so" TUTTI_TRACE="$work/trace.csv"
cost 'selecting and tracing' LD_PRELOAD="$work/libtutti.so" TUTTI_TABLE="$work/table" TUTTI_TRACE="$work/trace.csv"
# 1000 calls of a class are explored and 1000 more are timed. The millions of calls after them are measured.
cost 'explored to the end' LD_PRELOAD="$work/libtutti.so" TUTTI_TABLE="$work/mix" TUTTI_SAMPLES="$work/samples"
# With a share this small, exploration never ends: every call draws a random number, and one call in 10 000 is timed.
cost 'exploring' LD_PRELOAD="$work/libtutti.so" TUTTI_TABLE="$work/mix" TUTTI_SAMPLES="$work/samples" TUTTI_EXPLORE_SHARE=0.00005

cat >"$work/table4" <<'END'
tutti-table 1
allreduce ranks 4-4 ppn 4-4 bytes 0-3 recursive_doubling
bcast ranks 4-4 ppn 4-4 bytes 0-3 binomial
end 625d19d6de966bb5
END
cat >"$work/mix4" <<'END'
tutti-table 1
explore allreduce ranks 4-4 ppn 4-4 bytes 0-65536 1 library_default
explore bcast ranks 4-4 ppn 4-4 bytes 0-65536 1 library_default
end 6ec5597fd7596537
END

# On fewer than four cores take Open MPI: idle ranks of MPICH do not yield, and each line takes minutes.
overhead() {
	label=$1
	shift
	printf '%-22s' "$label"
	env "$@" "$mpiexec" -n 4 "$work/overhead"
}
both="$work/libtutti.so:$work/behind.so"
overhead 'not loaded' LD_PRELOAD="$work/behind.so"
overhead 'off' LD_PRELOAD="$both"
overhead 'selecting' LD_PRELOAD="$both" TUTTI_TABLE="$work/table4"
overhead 'tracing' LD_PRELOAD="$both" TUTTI_TRACE="$work/trace.csv"
overhead 'tracing on rank 0' LD_PRELOAD="$both" TUTTI_TRACE="$work/trace.csv" TUTTI_TRACE_EVERY=4
overhead 'exploring' LD_PRELOAD="$both" TUTTI_TABLE="$work/mix4" TUTTI_SAMPLES="$work/samples"
overhead 'learning' LD_PRELOAD="$both" TUTTI_TABLE="$work/mix4" TUTTI_MODE=learn
