package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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

// Contents contains the header and the records of a journal that Read or Open has read.
type Contents struct {
	Header   Header
	Records  []Record
	Warnings []string // about lines that were left out
}

// State returns the state of the campaign after the last record.
func (c *Contents) State() *State { return Replay(c.Records) }

// Read reads the journal in the folder dir. It takes no lock, so it also works while a campaign runs.
//
// The error matches fs.ErrNotExist if there is no journal, ErrUnreadable if the system does not allow
// reading it, ErrSchema if it has another schema, and ErrCorrupt if the file is not a journal.
func Read(dir string) (*Contents, error) {
	path := filepath.Join(dir, FileName)
	f, err := os.Open(path)
	if err != nil {
		return nil, missing(dir, err)
	}
	defer f.Close()
	contents, _, err := read(f, path)
	return contents, err
}

func missing(dir string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no journal in %s: %w", dir, err)
	}
	return fmt.Errorf("%w: %w", ErrUnreadable, err)
}

// read returns the contents of a journal and the length of its complete lines in bytes.
func read(r io.Reader, path string) (*Contents, int64, error) {
	lines := bufio.NewReaderSize(r, 64<<10)
	var (
		contents Contents
		whole    int64
		buf      []byte
	)
	for number := 1; ; number++ {
		line, err := ReadLine(lines, buf[:0])
		buf = line
		switch {
		case errors.Is(err, io.EOF) && len(line) == 0:
			if number == 1 {
				return nil, 0, fmt.Errorf("%s: %w: the file is empty, nothing was recorded: remove it to start again", path, ErrCorrupt)
			}
			return &contents, whole, nil
		case errors.Is(err, io.EOF):
			if number == 1 {
				return nil, 0, fmt.Errorf("%s:1: %w: the header has no end of line", path, ErrCorrupt)
			}
			contents.Warnings = append(contents.Warnings, fmt.Sprintf(
				"%s:%d: the last line is incomplete (%d bytes): the write was cut short and is left out", path, number, len(line)))
			return &contents, whole, nil
		case errors.Is(err, ErrCorrupt):
			return nil, 0, fmt.Errorf("%s:%d: %w", path, number, err)
		case err != nil:
			return nil, 0, fmt.Errorf("%s:%d: %w: %w", path, number, ErrUnreadable, err)
		}
		whole += int64(len(line))
		if err := contents.addLine(number, line); err != nil {
			return nil, 0, fmt.Errorf("%s:%d: %w", path, number, err)
		}
	}
}

// ReadLine reads the next line, including its newline. It appends the line to buf and returns the extended
// slice. At the end of the file, it returns io.EOF and the incomplete last line. If a line is longer than
// MaxLine, the error matches ErrCorrupt.
func ReadLine(r *bufio.Reader, buf []byte) ([]byte, error) {
	for {
		part, err := r.ReadSlice('\n')
		buf = append(buf, part...)
		if len(buf) > MaxLine {
			return nil, fmt.Errorf("%w: line longer than %d bytes", ErrCorrupt, MaxLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return buf, err
		}
	}
}

func (c *Contents) addLine(number int, line []byte) error {
	if number == 1 {
		header, err := decodeHeader(line)
		c.Header = header
		return err
	}
	var record Record
	if err := decodeStrict(line, &record); err != nil {
		return err
	}
	if err := record.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	c.Records = append(c.Records, record)
	return nil
}

// headerLine is the JSON form of the first line of the file.
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

// decodeStrict decodes exactly one JSON value into the value to. Unknown fields are errors.
func decodeStrict(line []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if rest := bytes.TrimSpace(line[d.InputOffset():]); len(rest) > 0 {
		return fmt.Errorf("%w: %d bytes after the record", ErrCorrupt, len(rest))
	}
	return nil
}
