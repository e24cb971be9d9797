# PBS sets no number of the run, and one line of its file of nodes for each process.
echo "$PBS_JOBID" >>pbs.runs
export TUTTI_JOB_ID=$PBS_JOBID TUTTI_NODEFILE=$PWD/pbs.nodes
export TUTTI_RESTART_COUNT=$(($(grep -cxF -- "$PBS_JOBID" pbs.runs) - 1))
awk '!seen[$0]++' "$PBS_NODEFILE" >pbs.nodes
unset OMP_NUM_THREADS # PBS sets it to the CPUs of a chunk
# An mpirun that was built without PBS gets the nodes from a variable.
export OMPI_MCA_orte_default_hostfile=$PBS_NODEFILE PRTE_MCA_prte_default_hostfile=$PBS_NODEFILE
# Nodes may refuse ssh. pbs_tmrsh starts processes that belong to the job. It runs one word as a command,
# but launchers quote their words for a shell.
PATH=$PATH:$(sed -n 's/^PBS_EXEC=//p' /etc/pbs.conf 2>/dev/null)/bin
if type -P pbs_tmrsh >/dev/null; then
	printf '#!/bin/sh\nhost=$1\nshift\nexec pbs_tmrsh "$host" /bin/sh -c "$*"\n' >pbs.remote && chmod +x pbs.remote
	export HYDRA_LAUNCHER=${HYDRA_LAUNCHER:-rsh} HYDRA_LAUNCHER_EXEC=${HYDRA_LAUNCHER_EXEC:-$PWD/pbs.remote}
	export OMPI_MCA_plm_rsh_agent=${OMPI_MCA_plm_rsh_agent:-$PWD/pbs.remote} PRTE_MCA_plm_ssh_agent=${PRTE_MCA_plm_ssh_agent:-$PWD/pbs.remote}
fi
