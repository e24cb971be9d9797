package proof_test

import (
	"os"
	"path/filepath"
	"testing"

	"tutti/campaign/proof"
	"tutti/internal/test/campaigntest"
	"tutti/store"
)

// BenchmarkLibrary proves one library at 63 points of recorded data.
func BenchmarkLibrary(b *testing.B) {
	journal := filepath.Join(made(b, campaigntest.MadeOpenMPI), store.FileName)
	before := campaigntest.Read(b, journal)
	for b.Loop() {
		if err := os.WriteFile(journal, before, 0o666); err != nil {
			b.Fatal(err)
		}
		proved(b, filepath.Dir(journal), proof.Options{Rules: quick()})
	}
}
