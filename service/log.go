package service

import (
	"io"
	"os"
	"strings"
)

// logTail is how much of a log is looked at for what a process said last.
const logTail = 4 << 10

// lastLine returns what tutti said last of itself in a log, or else the last line;
// "" when there is none.
func lastLine(path string) string {
	tail, err := readTail(path, logTail)
	if err != nil {
		return ""
	}
	text := "\n" + strings.TrimSpace(string(tail))
	if i := strings.LastIndex(text, "\ntutti: "); i >= 0 {
		text, _, _ = strings.Cut(text[i+1:], "\n")
		return text
	}
	return text[strings.LastIndexByte(text, '\n')+1:]
}

func readTail(path string, bytes int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, stat.Size()-bytes)
	return io.ReadAll(io.NewSectionReader(f, from, stat.Size()-from))
}

// capLog cuts a log down to its younger half when it is longer than so many bytes.
// The process goes on writing at its end; what it writes in this instant may be
// lost.
func capLog(path string, bytes int64) error {
	stat, err := os.Stat(path)
	if err != nil || stat.Size() <= bytes {
		return nil // none yet
	}
	tail, err := readTail(path, bytes/2)
	if err != nil {
		return err
	}
	if i := strings.IndexByte(string(tail), '\n'); i >= 0 {
		tail = tail[i+1:]
	}
	if err := os.Truncate(path, 0); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(tail)
	return err
}
