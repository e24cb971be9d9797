package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestSpackPackage: the Spack package is that of this version and of the Go that it needs.
func TestSpackPackage(t *testing.T) {
	recipe := string(readFile(t, "../../contrib/spack/packages/tutti/package.py"))
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	needs := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(mod)
	for _, want := range []string{
		fmt.Sprintf("version(%q)", version), fmt.Sprintf("dev-build tutti@%s\n", version), fmt.Sprintf(`depends_on("go@%s:", type="build")`, needs[1]),
	} {
		if !strings.Contains(recipe, want) {
			t.Errorf("the Spack package has no %s", want)
		}
	}
}
