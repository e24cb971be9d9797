package assembly_test

import (
	"testing"

	"tutti/campaign/assembly"
	"tutti/internal/testutil/campaigntest"
)

// BenchmarkNew makes the problems of recorded data: 8271 rows for two libraries.
func BenchmarkNew(b *testing.B) {
	cfg := campaigntest.Load(b, campaigntest.Small(b, b.TempDir()),
		"collectives=bcast", "runner.data=data/A_bcast.csv", "runner.defaults=data/defaults.csv", "runner.recorded=A")
	for b.Loop() {
		if _, err := assembly.New(cfg); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReread reads a campaign that has ended back from its folder.
func BenchmarkReread(b *testing.B) {
	dir := ran(b)
	for b.Loop() {
		if _, _, _, err := assembly.Reread(dir); err != nil {
			b.Fatal(err)
		}
	}
}
