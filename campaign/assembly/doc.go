// Package assembly puts the parts of a campaign together: from a campaign file to
// problems with the machines they are measured on, and from a journal back to them. It
// is where schedulers, launchers and benchmark programs meet their settings.
//
//	c, err := assembly.New(cfg)
//	if err != nil {
//		return err
//	}
//	if err := c.Connect(store.NewID(), os.Environ()); err != nil {
//		return err
//	}
//	results, err := c.Run(ctx, &store.State{}, journal, nil)
//
// Reread does the same for a campaign that has a folder. Forecast says what a campaign
// would submit before anything is.
package assembly
