#!/bin/sh
# Prints what selects algorithms in a launch: the environment, the settings that the MPI
# library's own tool lists, and the file of the library that the benchmark program loads.
# The first rank prints; the others have nothing to do. Every launcher sets one of the names.
# Arguments: PROGRAM CONTROL [LISTER...]
case ${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-${PMI_RANK:-${PALS_RANKID:-${SLURM_PROCID:-0}}}}} in 0) ;; *) exit 0 ;; esac
program=$1 control=$2
shift 2
echo "tutti-preflight begin"
env | grep -E '^(MPIR|MPICH|OMPI_MCA|I_MPI|MV2|MVP|(OMPI_)?UCC|HCOLL|SHARP_COLL|UCX_BUILTIN|UCG|FI|PRTE_MCA|OMPI_TUTTI)_[A-Za-z0-9_]*=' | sed 's/^/env /' # nothing that is secret
library=$(ldd "$(command -v "$program")" 2>/dev/null | sed -n 's,^[[:space:]]*lib\(mpi\|mpich\)[^ ]*\.so[^ ]* => \(/.*\) (0x[0-9a-f]*)$,\2,p' | head -n 1)
if [ -n "$library" ]; then echo "library $library"; fi
if [ $# -gt 0 ]; then
	near=${library%/*}/../bin/$1
	if [ -n "$library" ] && [ -x "$near" ]; then
		shift
		set -- "$near" "$@"
	fi
	"$@" 2>/dev/null | grep -E ':param:[a-z0-9_]+:(value|source):|:enumerator:value:|^mca:coll:[a-z0-9]+:version:' | sed 's/^/list /'
fi
if [ -n "$control" ]; then "$program" --settings "$control" 2>/dev/null | grep '^cvar ' | sed 's/^/list /'; fi
echo "tutti-preflight end"
