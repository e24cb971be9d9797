package config

import (
	"errors"
	"fmt"
	"os"

	"tutti/topology"
	"tutti/topology/files"
)

// readTopology reads the switches from the file that is named, so that it is needed once.
func (c *Campaign) readTopology(fault func(key string, err error)) {
	r := &c.Runner
	switch {
	case r.Topology == "":
		return
	case len(r.Switches) > 0:
		fault("runner.topology", errors.New("runner.switches says which nodes share a switch, too: want one of them"))
		return
	}
	f, err := os.Open(r.Topology)
	if err != nil {
		fault("runner.topology", err)
		return
	}
	defer f.Close()
	t, err := files.Read(f, r.Topology, files.ReadOptions{})
	if err != nil {
		fault("runner.topology", err)
		return
	}
	for _, nodes := range t.Switches() {
		r.Switches = append(r.Switches, topology.HostList(nodes))
	}
	if len(r.Switches) == 0 {
		fault("runner.topology", fmt.Errorf("%s: no switch with nodes below it", r.Topology))
	}
}
