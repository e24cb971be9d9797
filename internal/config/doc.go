// Package config reads campaign files: YAML through viper, with TUTTI_* variables
// and flags on top. It is strict: an unknown key, a missing unit or a number out
// of range is a fault that names file, line, key and what is allowed, and all
// faults come at once.
//
//	c, err := config.Load("configs/demo.yaml", config.Layers{Environ: os.Environ()})
//	if err != nil {
//		return err // every fault on a line of its own
//	}
//	fmt.Println(c.Name, c.Stop.MachineTime)
//
// Relative paths in a file are relative to the folder of the file.
package config
