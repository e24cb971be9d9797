package mpi_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/mpi"
)

func TestOtherSettings(t *testing.T) {
	environ := []string{
		"I_MPI_ADJUST_ALLREDUCE=5:1024-65536", "I_MPI_TUNING_BIN=/site.dat", "I_MPI_FABRICS=shm:ofi", "MV2_INTER_BCAST_TUNING=4", "MV2_USE_RED_SCAT_RING=1", "MV2_HOMOGENEOUS_CLUSTER=1",
		"MVP_BCAST_INTRA_ALGORITHM=osu_binomial", "UCC_TL_UCP_TUNE=bcast:inf", "UCC_LOG_LEVEL=info", "OMPI_UCC_CL_BASIC_TLS=^sharp", "HCOLL_ENABLE_MCAST_ALL=0", "UCX_BUILTIN_BCAST_ALGORITHM=4",
		"UCX_TLS=tcp", "FI_PROVIDER=tcp", "FI_CXI_COLL_RETRY_CNT=4", "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe", "PMIX_MCA_gds=hash", "UCC_CLS=", "PATH=/bin",
	}
	want := []string{
		"launch PRTE_MCA_rmaps_default_mapping_policy", "default FI_CXI_COLL_RETRY_CNT", "default HCOLL_ENABLE_MCAST_ALL", "other I_MPI_ADJUST_ALLREDUCE", "other I_MPI_TUNING_BIN",
		"other MV2_INTER_BCAST_TUNING", "other MV2_USE_RED_SCAT_RING", "other MVP_BCAST_INTRA_ALGORITHM", "default OMPI_UCC_CL_BASIC_TLS", "default UCC_TL_UCP_TUNE", "default UCX_BUILTIN_BCAST_ALGORITHM",
	}
	got := map[string]bool{}
	for _, s := range mpi.OtherSettings(environ, mpi.OfOther) {
		if s.Effect.Neutralised() {
			t.Errorf("%s has no value that turns it off", s.Name)
		}
		got[string(s.Effect)+" "+s.Name] = true
	}
	wanted := map[string]bool{}
	for _, s := range want {
		wanted[s] = true
	}
	if d := cmp.Diff(wanted, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if s := mpi.OtherSettings(environ[:1], mpi.ShapesDefault); len(s) != 1 || s[0].Effect != mpi.ShapesDefault {
		t.Errorf("%v, want a setting that may change the default", s)
	}
}
