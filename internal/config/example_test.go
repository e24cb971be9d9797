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

func ExampleLoadService() {
	s, err := config.LoadService("../../configs/service-demo.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Listen, s.Bases[0].Name, s.Bases[0].Schedule, s.Quota.Campaign, s.Quota.Day)
	// Output: 127.0.0.1:8372 demo * * * * * 10 24
}

func ExampleCheckSettings() {
	asked, err := config.CheckSettings("../../configs/demo.yaml", map[string]string{"stop.slowdown": "1.05"})
	fmt.Println(asked.Measures, err)
	_, err = config.CheckSettings("../../configs/demo.yaml", map[string]string{"stop.slowdown": "fast"})
	fmt.Println(err)
	// Output:
	// false <nil>
	// set.stop.slowdown: "fast": want a number from 1 to 1000
}
