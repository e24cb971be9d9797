# PBS sets no number of the run, and one line of its file of nodes for each process.
echo "$PBS_JOBID" >>pbs.runs
export TUTTI_JOB_ID=$PBS_JOBID TUTTI_NODEFILE=$PWD/pbs.nodes
export TUTTI_RESTART_COUNT=$(($(grep -cxF -- "$PBS_JOBID" pbs.runs) - 1))
awk '!seen[$0]++' "$PBS_NODEFILE" >pbs.nodes
unset OMP_NUM_THREADS # PBS sets it to the CPUs of a chunk
# An mpirun that was built without PBS gets the nodes from a variable.
export OMPI_MCA_orte_default_hostfile=$PBS_NODEFILE PRTE_MCA_prte_default_hostfile=$PBS_NODEFILE
