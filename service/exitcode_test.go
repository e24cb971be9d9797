package service_test

import (
	"testing"

	"tutti/service"
)

// TestExitMeanings checks that the meanings are sorted by code, without gaps.
func TestExitMeanings(t *testing.T) {
	for i, m := range service.ExitMeanings() {
		if int(m.Code) != i || m.Text == "" {
			t.Errorf("meaning %d has code %d and text %q, want code %[1]d and a text", i, m.Code, m.Text)
		}
	}
}
