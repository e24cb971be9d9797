// Package config reads campaign files and service files: YAML through viper. Variables TUTTI_*
// and flags override the keys of a campaign file. An unknown key, a missing unit or a number out
// of range is an error. The error names file, line and key of each fault, and what is allowed.
//
//	c, err := config.Load("configs/demo.yaml", config.Layers{Environ: os.Environ()})
//	if err != nil {
//		return err // one line for each fault
//	}
//	fmt.Println(c.Name, c.Stop.MachineTime)
//
// Relative paths in a file are relative to the folder of the file.
package config
