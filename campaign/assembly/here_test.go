package assembly_test

import (
	"errors"
	"runtime"
	"testing"

	"tutti/campaign/assembly"
	"tutti/internal/config"
)

func TestHere(t *testing.T) {
	inside := []string{"SLURM_JOB_ID=7", "SLURM_JOB_NUM_NODES=3", "SLURM_JOB_END_TIME=1800000000"}
	for _, tc := range []struct {
		name    string
		environ []string
		want    assembly.Place
	}{
		{"this machine", nil, assembly.Place{Kind: config.Local, Nodes: 1, Cores: runtime.NumCPU()}},
		{"an allocation, by its smallest node", append(inside, "SLURM_JOB_CPUS_PER_NODE=32(x2),16"), assembly.Place{Kind: config.Allocation, Nodes: 3, Cores: 16}},
		{"one that does not tell its cores", inside, assembly.Place{Kind: config.Allocation, Nodes: 3, Cores: runtime.NumCPU()}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, err := assembly.Here(t.Context(), tc.environ); err != nil || got != tc.want {
				t.Errorf("%+v, %v, want %+v", got, err, tc.want)
			}
		})
	}
	if _, err := assembly.Here(t.Context(), []string{"SLURM_JOB_ID=7"}); !errors.Is(err, assembly.ErrInput) {
		t.Errorf("%v, want an error matching %v", err, assembly.ErrInput)
	}
}
