package benchrunner_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"tutti/benchrunner"
	"tutti/coll"
)

// BenchmarkLines reads a hundred thousand lines with the tags of a launcher.
func BenchmarkLines(b *testing.B) {
	for name, tag := range map[string]string{"plain": "", "Open MPI": "[1,0]<stdout>:", "MPICH": "[0] ", "Slurm": " 0: "} {
		b.Run(name, func(b *testing.B) {
			var text bytes.Buffer
			for i := range 100_000 {
				fmt.Fprintf(&text, "%s%-10d%10.2f%10.2f\n", tag, i, float64(i)/7, float64(i)/5)
			}
			out := benchrunner.Output{Stdout: text.Bytes()}
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				if n := len(out.Lines()); n != 100_000 {
					b.Fatal(n)
				}
			}
		})
	}
}

// BenchmarkLastMessage finds the last message in the output of a program whose disk was full.
func BenchmarkLastMessage(b *testing.B) {
	out := benchrunner.Output{Stderr: []byte(strings.Repeat("UCX  WARN  no route to host\n", 1<<20))}
	b.SetBytes(int64(len(out.Stderr)))
	for b.Loop() {
		if out.LastMessage() == "" {
			b.Fatal("no words")
		}
	}
}

// BenchmarkPlacementError finds one misplaced rank on 1024 nodes with 64 ranks each.
func BenchmarkPlacementError(b *testing.B) {
	layout := coll.Layout{Nodes: 1024, PPN: 64}
	var text bytes.Buffer
	for node := range layout.Nodes {
		for range layout.PPN {
			fmt.Fprintf(&text, "tutti: process on host n%d\n", node)
		}
	}
	out := benchrunner.Output{Stderr: text.Bytes()}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if got := out.PlacementError(layout); got != "" {
			b.Fatal(got)
		}
	}
}
