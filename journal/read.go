package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"tutti/internal/infile"
)

// FileName is the name of the journal inside the folder of a campaign.
const FileName = "journal.jsonl"

// MaxLine is the largest length of a line in bytes. It limits the memory that files other than journals can
// take. The longest line of a journal is a batch; 64 MiB suffice for about 400 000 candidates of 150 bytes.
const MaxLine = 64 << 20

// Errors that opening or reading a journal returns. Callers test for them with errors.Is.
var (
	ErrExists     = errors.New("a journal exists already")
	ErrLocked     = errors.New("in use by another process")
	ErrCorrupt    = errors.New("not a readable journal")
	ErrSchema     = errors.New("the journal was written by another version of tutti")
	ErrUnreadable = errors.New("the journal cannot be read")
)

// Contents has the header of a journal that was read, and the state after its records.
type Contents struct {
	Header   Header
	Records  int       // number of lines after the header
	Warnings []string  // about lines that were left out
	Begun    time.Time // when the last process began: time of the header or of the last resume
	Last     time.Time // of the last record, or of the header
	state    State
	path     string
	size     int64 // of the complete lines in bytes
}

// State returns the state of the campaign after the last record.
func (c *Contents) State() *State { return &c.state }

// Read reads the journal in the folder `dir`. It takes no lock, so it also works while a campaign runs.
//
// The error matches fs.ErrNotExist if there is no journal, ErrUnreadable if the system does not allow
// reading it, ErrSchema if it has another schema, and ErrCorrupt if the file is not a journal.
func Read(dir string) (*Contents, error) {
	f, err := openFile(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f, f.Name())
}

// ReadHeader reads the header of the journal in the folder `dir`, and no records. Its errors are those of Read.
func ReadHeader(dir string) (Header, error) {
	f, err := openFile(dir)
	if err != nil {
		return Header{}, err
	}
	defer f.Close()
	c := &Contents{path: f.Name()}
	err = c.readHeader(bufio.NewReaderSize(f, 64<<10))
	return c.Header, err
}

// Reread reads the journal again, from its beginning.
func (c *Contents) Reread() error {
	again, err := Read(filepath.Dir(c.path))
	if err == nil {
		*c = *again
	}
	return err
}

// openFile opens the journal in a folder for reading.
func openFile(dir string) (*os.File, error) {
	f, err := infile.Open(filepath.Join(dir, FileName), infile.NoLimit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("no journal in %s: %w", dir, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return f, nil
}

// read reads a journal. Errors contain the path.
func read(r io.Reader, path string) (*Contents, error) {
	c := &Contents{path: path, state: State{path: path}}
	in := bufio.NewReaderSize(r, 64<<10)
	if err := c.readHeader(in); err != nil {
		return nil, err
	}
	if err := c.readRecords(in); err != nil {
		return nil, err
	}
	return c, nil
}

// readHeader reads the first line of a journal and checks its schema.
func (c *Contents) readHeader(in *bufio.Reader) error {
	line, err := ReadLine(in, nil)
	switch {
	case errors.Is(err, io.EOF) && len(line) == 0:
		return fmt.Errorf("%s: %w: the file is empty, nothing was recorded: remove it to start again", c.path, ErrCorrupt)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s:1: %w: the header has no end of line", c.path, ErrCorrupt)
	case err == nil:
		c.Header, err = decodeHeader(line)
	}
	if err != nil {
		return fmt.Errorf("%s:1: %w", c.path, err)
	}
	c.size = int64(len(line))
	c.Begun, c.Last = c.Header.Created, c.Header.Created
	c.state.Created, c.state.Version = c.Header.Created, c.Header.Version
	return nil
}

// readRecords reads the remaining lines and adds their records to the state.
func (c *Contents) readRecords(in *bufio.Reader) error {
	b := block{in: in, at: span{end: c.size}}
	for r, err := range b.all() {
		if err != nil {
			return fmt.Errorf("%s:%d: %w", c.path, c.Records+2, err)
		}
		c.state.add(*r, b.at)
		c.Records++
		c.size, c.Last = b.at.end, r.Time
		switch r.Kind {
		case KindResume:
			c.Begun = c.Last
		case KindSpec:
			c.Header.Spec = r.Spec
		}
	}
	if b.torn > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf(
			"%s:%d: the last line is incomplete (%d bytes): the write was cut short and is left out", c.path, c.Records+2, b.torn))
	}
	return nil
}

// Limits of a block. The last line may exceed the number of bytes.
const (
	blockLines = 4096
	blockBytes = 1 << 20
)

// block is a part of a journal whose lines are decoded in parallel.
type block struct {
	in      *bufio.Reader
	text    []byte
	lines   [][]byte // of text, with their newlines
	records []Record // of the lines
	errs    []error  // of the lines
	at      span     // of the line that all returned last
	torn    int      // length of the incomplete last line of the journal
}

// all returns the records of all lines. If a line cannot be read, the last value is an error.
func (b *block) all() iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		for end := error(nil); end == nil; {
			end = b.read()
			b.decode()
			for i, line := range b.lines {
				b.at = span{b.at.end, b.at.end + int64(len(line))}
				if !yield(&b.records[i], b.errs[i]) || b.errs[i] != nil {
					return
				}
			}
			if end != nil && !errors.Is(end, io.EOF) {
				yield(nil, end)
			}
		}
	}
}

// read replaces the block's lines by the next lines of the journal. At the journal's end the error is
// io.EOF.
func (b *block) read() error {
	b.text, b.lines = b.text[:0], b.lines[:0]
	for len(b.lines) < blockLines && len(b.text) < blockBytes {
		text, err := ReadLine(b.in, b.text)
		if err != nil {
			b.torn = len(text) - len(b.text)
			return err
		}
		b.lines = append(b.lines, text[len(b.text):])
		b.text = text
	}
	return nil
}

// decode decodes the lines.
func (b *block) decode() {
	workers, n := runtime.GOMAXPROCS(0), len(b.lines)
	b.records, b.errs = slices.Grow(b.records[:0], n)[:n], slices.Grow(b.errs[:0], n)[:n]
	var group sync.WaitGroup
	for first := range workers {
		group.Go(func() {
			for i := first; i < n; i += workers {
				b.records[i] = Record{}
				b.errs[i] = decodeRecord(b.lines[i], &b.records[i])
			}
		})
	}
	group.Wait()
}

// ReadLine reads the next line, including its newline. It appends the line to `buf` and returns the extended slice.
// At the end of the file, it returns io.EOF and the incomplete last line. If a line is longer than MaxLine, the
// error matches ErrCorrupt.
func ReadLine(r *bufio.Reader, buf []byte) ([]byte, error) {
	begin := len(buf)
	for {
		part, err := r.ReadSlice('\n')
		buf = append(buf, part...)
		if len(buf)-begin > MaxLine {
			return nil, fmt.Errorf("%w: line longer than %d bytes", ErrCorrupt, MaxLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return buf, err
		}
	}
}

// decodeRecord reads a record from a line. It returns an error if the line is not a valid record.
func decodeRecord(line []byte, r *Record) error {
	if err := decodeStrict(line, r); err != nil {
		return err
	}
	if err := r.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}

// headerLine is the form in which the header is written to the first line of the file.
type headerLine struct {
	Kind Kind `json:"kind"`
	Header
}

// decodeHeader decodes a header. It checks the schema first, since headers of other schemas may have other
// fields.
func decodeHeader(line []byte) (Header, error) {
	var first struct {
		Kind   Kind `json:"kind"`
		Schema int  `json:"schema"`
	}
	if err := json.Unmarshal(line, &first); err != nil {
		return Header{}, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	switch {
	case first.Kind != KindHeader:
		return Header{}, fmt.Errorf("%w: the first line is of kind %q, want %q", ErrCorrupt, first.Kind, KindHeader)
	case first.Schema != Schema:
		return Header{}, fmt.Errorf("%w: schema %d, this tutti reads %d", ErrSchema, first.Schema, Schema)
	}
	var header headerLine
	err := decodeStrict(line, &header)
	return header.Header, err
}

// decodeStrict decodes exactly one JSON value into `to`. Unknown fields are errors.
func decodeStrict(line []byte, to any) error {
	if err := json.Unmarshal(line, to, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}
