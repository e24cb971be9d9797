package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"tutti/internal/config"
	"tutti/service"
)

// Example runs one campaign with a service. The test binary acts as tutti.
func Example() {
	state, err := os.MkdirTemp("", "service")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(state)
	file := filepath.Join(state, "night.yaml")
	if err := os.WriteFile(file, []byte(`{"trials": 3, "libraries": [{"name": "mpich"}], "collectives": ["bcast"]}`), 0o600); err != nil {
		log.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	s, err := service.New(service.Options{
		Service: config.Service{State: filepath.Join(state, "service"), Bases: []config.Base{{Name: "night", Machine: "cluster", File: file}}},
		Command: []string{program}, Environ: append(os.Environ(), asTutti),
		Once: true, // Run returns when no campaign is due or waits
	})
	if err != nil {
		log.Fatal(err)
	}
	made, _, err := s.Create(context.Background(), service.Request{Base: "night"}, "")
	if err != nil {
		log.Fatal(err)
	}
	if err := s.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
	c, err := s.Campaign(made.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(made.State, c.State, c.Converged, c.Progress.Trials)
	// Output: queued done true 3
}

func ExampleEvent_Redacted() {
	line := service.Event{Seq: 1, Type: "header", Data: json.RawMessage(`{"kind":"header","spec":{"runner":{"kind":"slurm","env":["LICENSE=1234"]}}}`)}
	var header struct {
		Spec struct{ Runner json.RawMessage }
	}
	if err := json.Unmarshal(line.Redacted().Data, &header); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", header.Spec.Runner)
	// Output: {"kind":"slurm","env":["LICENSE=[hidden]"]}
}
