package journal

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"os"
	"unique"

	"tutti/coll"
)

// storedRecords is a list of records. Records that were read from a journal are not kept in memory. They are
// read again when they are needed. The list therefore takes little memory.
type storedRecords struct {
	path  string   // of the journal
	spans []span   // parts of the file that contain the records
	count int      // number of records in the spans
	added []Record // the records after those, which this process has written
}

// span is a part of a file in bytes. It ends before the byte `end`.
type span struct{ begin, end int64 }

// add appends a record. `at` is the position of its line in the file. It is zero for a record that
// this process has written.
func (l *storedRecords) add(r Record, path string, at span) {
	if at == (span{}) {
		l.added = append(l.added, r)
		return
	}
	l.path = path
	l.count++
	if last := len(l.spans) - 1; last >= 0 && l.spans[last].end == at.begin {
		l.spans[last].end = at.end
		return
	}
	l.spans = append(l.spans, at)
}

// all returns the records in order. If a record cannot be read, the last value is an error.
func (l *storedRecords) all() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if len(l.spans) > 0 {
			f, err := os.Open(l.path)
			if err != nil {
				yield(Record{}, fmt.Errorf("%w: %w", ErrUnreadable, err))
				return
			}
			defer f.Close()
			n := 0
			for r, err := range l.lines(f).all() {
				if err != nil {
					yield(Record{}, fmt.Errorf("%s: %w", l.path, err))
					return
				}
				if n++; !yield(*r, nil) {
					return
				}
			}
			if n != l.count {
				yield(Record{}, fmt.Errorf("%s: %w: the file has changed since it was read", l.path, ErrCorrupt))
				return
			}
		}
		for _, r := range l.added {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// parts returns a part of each record in order. If a record cannot be read, the last value is an error.
func parts[T any](l *storedRecords, of func(Record) T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for record, err := range l.all() {
			var part T
			if err == nil {
				part = of(record)
			}
			if !yield(part, err) {
				return
			}
		}
	}
}

// lines returns a block that reads the records' lines from the file.
func (l *storedRecords) lines(f io.ReaderAt) *block {
	parts := make([]io.Reader, len(l.spans))
	for i, s := range l.spans {
		parts[i] = io.NewSectionReader(f, s.begin, s.end-s.begin)
	}
	return &block{in: bufio.NewReader(io.MultiReader(parts...))}
}

// Batch returns the candidates of the round. It returns none if they are not recorded yet.
func (r *Round) Batch() (batch []coll.Candidate, err error) {
	for record, err := range r.batch.all() {
		if err != nil {
			return nil, err
		}
		batch = record.Batch
	}
	return batch, nil
}

// Trials returns the trials in the order in which they ended. If one cannot be read, the last value is an error.
func (r *Round) Trials() iter.Seq2[coll.Trial, error] {
	return parts(&r.trials, func(record Record) coll.Trial {
		t := *record.Trial
		t.Algorithm, t.Collective = unique.Make(t.Algorithm).Value(), unique.Make(t.Collective).Value()
		t.Job, t.Placement = unique.Make(t.Job).Value(), unique.Make(t.Placement).Value()
		return t
	})
}

// Steps returns the steps of all sessions in order. If one cannot be read, the last value is an error.
func (v *Verification) Steps() iter.Seq2[VerifyStep, error] {
	return parts(&v.steps, func(record Record) VerifyStep { return *record.Verify })
}
