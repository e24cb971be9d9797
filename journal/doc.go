// Package journal records the events of a campaign in one append-only file of JSON lines,
// journal.jsonl, in the folder of the campaign. A campaign is resumed by reading its journal.
//
// The first line is the Header with the version of the schema. Every other line is a Record. A
// record is on disk (fsync) when Append returns. One process writes at a time: Create and Open
// create a lock file next to the journal. The lock needs only link(2) and O_EXCL of the file
// system, so it works on NFS and Lustre, where flock may not. Read takes no lock.
//
// A last line without its newline is a write that a crash interrupted. It is left out and reported
// in Contents.Warnings. Everything else that cannot be read is an error that names the file and the
// line.
//
//	j, err := journal.Create(dir, journal.Header{Campaign: "night", Seed: 1})
//	if err != nil {
//		return err // errors.Is(err, journal.ErrExists): use Open to continue
//	}
//	defer j.Close()
//	err = j.Append(journal.Record{Kind: journal.KindTrial, Problem: problem, Trial: &trial})
//	if err != nil {
//		return err // no record of the group is in the journal
//	}
//	contents, err := journal.Read(dir)
package journal
