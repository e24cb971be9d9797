# Nodes may refuse ssh. pbs_tmrsh starts processes that belong to the job. It runs one word as a command,
# but launchers quote their words for a shell.
PATH=$PATH:$(sed -n 's/^PBS_EXEC=//p' /etc/pbs.conf 2>/dev/null)/bin
if type -P pbs_tmrsh >/dev/null; then
	printf '#!/bin/sh\nhost=$1\nshift\nexec pbs_tmrsh "$host" /bin/sh -c "$*"\n' >pbs.remote && chmod +x pbs.remote
	export HYDRA_LAUNCHER=${HYDRA_LAUNCHER:-rsh} HYDRA_LAUNCHER_EXEC=${HYDRA_LAUNCHER_EXEC:-$PWD/pbs.remote}
	export OMPI_MCA_plm_rsh_agent=${OMPI_MCA_plm_rsh_agent:-$PWD/pbs.remote} PRTE_MCA_plm_ssh_agent=${PRTE_MCA_plm_ssh_agent:-$PWD/pbs.remote}
fi
