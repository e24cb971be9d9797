# rules of a test
# not tried
unsetenv TUTTI_ON
set tutti_nodes = ''
set tutti_ppn = ''
if ( $?SLURM_JOB_NUM_NODES ) then
set tutti_nodes = "$SLURM_JOB_NUM_NODES"
endif
if ( $?SLURM_TASKS_PER_NODE ) then
set tutti_ppn = "$SLURM_TASKS_PER_NODE"
endif
if ( $?SLURM_NTASKS_PER_NODE ) then
set tutti_ppn = "$SLURM_NTASKS_PER_NODE"
endif
switch ("${tutti_nodes}x${tutti_ppn}")
case '2x4':
case '2x4(x2)':
setenv TUTTI_FILE '/a b'\''s $x/2x4'
setenv TUTTI_ON '1'
breaksw
case '1x8':
case '1x8(x1)':
setenv TUTTI_FILE '/1x8'
breaksw
default:
setenv TUTTI_FILE '/common'
setenv TUTTI_ON '1'
endsw
unset tutti_nodes tutti_ppn
