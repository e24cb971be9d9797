#!/bin/sh
# Prints what selects algorithms in a launch: the environment, the settings that the MPI
# library's own tool lists, and the file of the library that the benchmark program loads. Of each loaded module it prints
# the names of the variables that the module sets, by the tool of Lmod or of Environment Modules.
# The first rank prints; the others have nothing to do. Every launcher sets one of the names.
# Arguments: PROGRAM CONTROL [LISTER...]
case ${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-${PMI_RANK:-${PALS_RANKID:-${SLURM_PROCID:-0}}}}} in 0) ;; *) exit 0 ;; esac
program=$1 control=$2
shift 2
echo "tutti-preflight begin"
settings() { env | grep -E '^(MPIR|MPICH|OMPI_MCA|I_MPI|MV2|MVP|(OMPI_)?UCC|HCOLL|SHARP_COLL|UCX_BUILTIN|UCG|FI|PRTE_MCA|OMPI_TUTTI)_[A-Za-z0-9_]*='; } # nothing that is secret
settings | sed 's/^/env /'
modules=${LMOD_CMD:-${MODULES_CMD:-}}
if [ -n "$modules" ] && settings | grep -qv '^OMPI_TUTTI_'; then
	printf '%s\n' "${LOADEDMODULES:-}" | tr : '\n' | while IFS= read -r module; do
		"$modules" bash show "$module" 2>&1 </dev/null | sed -n 's/^[[:space:]]*\(push\|set\)env[^A-Za-z]*\([A-Za-z0-9_]*\).*/\2/p' | while read -r name; do
			printf 'module %s %s\n' "$name" "$module"
		done
	done
fi
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
