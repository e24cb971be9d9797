// Package nccl has NCCL and RCCL, libraries of collectives for accelerators. Their tuner files say which algorithm,
// protocol and number of channels run for a collective, a range of bytes, a number of nodes and of ranks:
//
//	collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,regBuff
//	allreduce,0,65535,tree,ll,8,2,16,-1,-1
//
// The first row that fits a call counts, bounds are inclusive, -1 stands for any. NCCL reads such a file by its example
// plugin (NCCL_TUNER_PLUGIN), RCCL by itself. Both read it from NCCL_TUNER_CONFIG_FILE.
//
// The file replaces what the library would choose: NCCL's plugin gives calls without a row one channel, and RCCL's own
// table has no effect. Merge therefore selects for each layout separately, and only if an algorithm is good enough at every
// tuned size. Rows reach from 0 to the largest size and always have channels. Jobs of other layouts have no file.
//
// The libraries cannot be measured here: no accelerator is needed for anything in this package. Times come from outputs of
// nccl-tests and rccl-tests (tutti import).
package nccl
