package assembly

import (
	"os"
	"path/filepath"
	"testing"

	"tutti/internal/testutil"
)

// TestFindPlaceQueue checks which queue a new campaign uses: the one whose commands answer.
func TestFindPlaceQueue(t *testing.T) {
	const silent = "#!/bin/sh\necho 'slurm_load_partitions: Unable to contact slurm controller' >&2\nexit 1\n"
	for _, tc := range []struct {
		name, kind, fault string
		want              Place
	}{
		{"PBS answers", "", "", Place{"pbs", 1, 8}},
		{"PBS answers and is asked for", "pbs", "", Place{"pbs", 1, 8}},
		{"nothing answers", "pbs", "down", Place{Kind: "pbs"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := testutil.PBS(t)
			if tc.fault != "" {
				testutil.PBSFault(t, dir, tc.fault)
			}
			for _, name := range []string{"sinfo", "scontrol", "sbatch", "squeue", "sacct"} {
				testutil.NoError(t, testutil.WriteExecutable(filepath.Join(dir, name), silent))
			}
			t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			got, err := FindPlace(t.Context(), []string{"PATH=" + os.Getenv("PATH")}, tc.kind)
			if err != nil || got != tc.want {
				t.Errorf("%+v, %v, want %+v", got, err, tc.want)
			}
		})
	}
}
