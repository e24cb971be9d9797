// Package journal keeps what a campaign did: one append-only file of JSON lines,
// journal.jsonl, in the folder of the campaign. Resuming is reading it again.
//
// The first line is the Header with the version of the schema; every other line
// is a Record. A record is on disk (fsync) when Append returns. One process
// writes at a time: Create and Open take a lock file beside the journal that
// needs nothing but link(2) and O_EXCL of the file system, so it holds on NFS and
// Lustre where flock may not. Read takes no lock.
//
// A last line without its newline is a write that was cut short by a crash; it
// is dropped and told in Contents.Warnings. Everything else that cannot be read
// is an error that names the file and the line.
//
//	j, err := journal.Create(dir, journal.Header{Campaign: "night", Seed: 1})
//	if err != nil {
//		return err // errors.Is(err, journal.ErrExists): use Open to go on
//	}
//	defer j.Close()
//	err = j.Append(journal.Record{Kind: journal.KindTrial, Problem: problem, Trial: &trial})
//	if err != nil {
//		return err // nothing of the group is in the journal
//	}
//	contents, err := journal.Read(dir)
package journal
