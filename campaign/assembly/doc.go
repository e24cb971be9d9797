// Package assembly builds a campaign from its configuration or its journal: the problems and the
// machines that they are measured on. It creates schedulers, launchers and benchmark programs.
//
//	c, err := assembly.New(cfg)
//	if err != nil {
//		return err
//	}
//	if err := c.Connect(journal.NewID(), os.Environ()); err != nil {
//		return err
//	}
//	results, err := c.Run(ctx, &journal.State{}, log, nil)
//
// Reread builds the campaign of a folder. Forecast returns the jobs that a campaign would submit
// first.
package assembly
