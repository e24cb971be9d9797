package verification_test

import (
	"os"
	"path/filepath"
	"testing"

	"tutti/campaign/verification"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
)

// BenchmarkLibrary proves one library at 63 points of recorded data.
func BenchmarkLibrary(b *testing.B) {
	jnl := filepath.Join(made(b, campaigntest.MadeOpenMPI), journal.FileName)
	before := campaigntest.Read(b, jnl)
	for b.Loop() {
		if err := os.WriteFile(jnl, before, 0o666); err != nil {
			b.Fatal(err)
		}
		proved(b, filepath.Dir(jnl), verification.Options{Rules: quick()})
	}
}
