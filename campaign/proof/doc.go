// Package proof proves the selection files of a campaign on its machine: it writes the
// files of a library, has package verify look at them, leaves what was condemned to the
// default and writes them anew, until nothing is condemned.
//
//	p, err := proof.New(ctx, c, journal, state, options)
//	if err != nil {
//		return err
//	}
//	result, err := p.Library(ctx, c.Config.Libraries[0])
//	if err != nil {
//		return err
//	}
//	facts, err := p.Write(program) // every file, as the last pass left them
package proof
