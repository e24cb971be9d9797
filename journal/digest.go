package journal

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// Digest returns the hash of what a journal records, as 64 hexadecimal digits. It is the sum modulo 2^256 of the
// SHA-256 of its lines without their times (a multiset hash: Bellare and Micciancio, "A new paradigm for collision-free
// hashing", 1997). The header, jobs, preflights and resumes do not count, so an interrupted campaign has the digest of one
// that ran through. It reads the file once and decodes nothing.
func Digest(dir string) (string, error) { return digest(dir, counts) }

// MeasurementDigest returns the hash of what a journal records about tuning, computed like Digest. Verifications do not
// count, so that verifying one library does not change the files of another, nor do later configurations.
func MeasurementDigest(dir string) (string, error) {
	return digest(dir, func(line []byte) bool { return counts(line) && !isKind(line, KindVerify) && !isKind(line, KindSpec) })
}

// digest returns the hash of the lines for which the function counts returns true.
func digest(dir string, counts func(line []byte) bool) (string, error) {
	f, err := openFile(dir)
	if err != nil {
		return "", err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	var sum [4]uint64
	var line []byte
	for first := true; ; first = false {
		line, err = ReadLine(in, line[:0])
		switch {
		case errors.Is(err, io.EOF):
			return digestText(sum), nil // the incomplete last line is left out, as in Read
		case err != nil:
			return "", fmt.Errorf("%s: %w", f.Name(), err)
		case first || !counts(line):
			continue
		}
		addHash(&sum, sha256.Sum256(withoutTime(line)))
	}
}

// counts reports whether a line belongs to the digest.
func counts(line []byte) bool {
	isJob := func(k Kind) bool { return isKind(line, k) && bytes.Contains(line, []byte(`"job":{`)) }
	isPreflight := bytes.Contains(line, []byte(`"collective":"`+Preflight+`"`))
	return !isKind(line, KindJob) && !isKind(line, KindResume) && !isJob(KindVerify) && !isPreflight
}

func isKind(line []byte, k Kind) bool {
	return bytes.HasPrefix(line, []byte(`{"kind":"`+string(k)+`"`))
}

// withoutTime removes the time of a record from its line. The slice is changed in place.
func withoutTime(line []byte) []byte {
	start := bytes.Index(line, []byte(`"time":"`))
	if start < 0 {
		return line
	}
	length := bytes.IndexByte(line[start+len(`"time":"`):], '"')
	if length < 0 {
		return line
	}
	return append(line[:start], line[start+len(`"time":"`)+length+1:]...)
}

func addHash(sum *[4]uint64, hash [sha256.Size]byte) {
	carry := uint64(0)
	for i := range sum {
		sum[i], carry = bits.Add64(sum[i], binary.LittleEndian.Uint64(hash[8*i:]), carry)
	}
}

func digestText(sum [4]uint64) string {
	var out []byte
	for _, word := range sum {
		out = binary.LittleEndian.AppendUint64(out, word)
	}
	return hex.EncodeToString(out)
}
