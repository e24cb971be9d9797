package config_test

import (
	"fmt"

	"tutti/internal/config"
)

func ExampleLoad() {
	c, err := config.Load("../../configs/demo.yaml", config.Layers{Set: []string{"stop.machine_time=2h"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Name, c.Method, c.Stop.MachineTime)
	// Output: demo regret 2h0m0s
}
