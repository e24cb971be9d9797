// Package verification verifies the selection files of a campaign on its machine: it writes the
// files of a library, has package verify compare them with the library's defaults, reverts slower
// selections to the default and writes the files again, until no selection is slower. It also
// measures how far the machine's times have drifted since the campaign.
//
//	v, err := verification.New(ctx, c, jnl, state, options)
//	if err != nil {
//		return err
//	}
//	result, err := v.Verify(ctx, c.Config.Libraries[0])
//	if err != nil {
//		return err
//	}
//	facts, err := v.Write(program) // every file, as the last pass left them
package verification
