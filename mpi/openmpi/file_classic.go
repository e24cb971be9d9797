package openmpi

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/mpi"
)

// versionWord begins a file of version 2, which 5.0.7 and later read.
const versionWord = "rule-file-version-"

// collectiveIDs is the number of collectives in Open MPI's list, from allgather to neighbor_alltoallw. A file with a
// larger number is ignored. Source: ompi/mca/coll/base/coll_base_functions.h, 4.1 to 6.0.
const collectiveIDs = 22

// numberReader reads numbers as Open MPI does, with fscanf("%li"): a leading 0 makes them octal, # begins a comment,
// and any other text is skipped letter by letter. Source: ompi/mca/coll/base/coll_base_util.c.
type numberReader struct {
	f        *ruleFile
	text     string
	at, line int
	counts   map[int]int // numbers on each line
	stopped  bool        // an error ended the file
	suspect  mpi.Finding // the first place at which a count does not seem to fit
}

func newNumberReader(f *ruleFile, text string) *numberReader {
	n := &numberReader{f: f, text: text, line: 1, counts: map[int]int{}}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		for _, w := range strings.Fields(line) {
			if _, err := strconv.ParseInt(w, 0, 64); err == nil {
				n.counts[i+1]++
			}
		}
	}
	return n
}

// fail adds an error and ends the file.
func (n *numberReader) fail(line int, format string, args ...any) {
	if n.stopped {
		return
	}
	n.stopped = true
	text := fmt.Sprintf(format, args...)
	if n.suspect.Text != "" {
		line, text = n.suspect.Line, fmt.Sprintf("%s; Open MPI gives up at line %d: %s", n.suspect.Text, line, text)
	}
	n.f.Add(line, mpi.FindingError, text)
}

// doubt notes a place at which a count does not seem to fit. It matters if Open MPI fails later, or reads other rules
// than the author meant.
func (n *numberReader) doubt(line int, format string, args ...any) {
	if n.suspect.Text == "" && !n.stopped {
		n.suspect = mpi.Finding{Line: line, Kind: mpi.FindingHarm, Text: fmt.Sprintf(format, args...)}
	}
}

// skip moves to the next number. It returns false at the end of the file. Text that is neither blank nor a comment is
// added to the findings.
func (n *numberReader) skip() bool {
	begin := -1
	note := func() {
		if begin >= 0 {
			word, _, _ := strings.Cut(n.text[begin:min(n.at, begin+40)], "\n")
			n.f.Add(n.line, mpi.FindingNote, fmt.Sprintf("the text %q is skipped, only its numbers count: put # before comments", word))
		}
		begin = -1
	}
	for ; n.at < len(n.text); n.at++ {
		c := n.text[n.at]
		next := byte(0)
		if n.at+1 < len(n.text) {
			next = n.text[n.at+1]
		}
		switch {
		case c == '\n':
			note()
			n.line++
		case strings.IndexByte(" \t\r\v\f", c) >= 0:
			note()
		case c == '#':
			note()
			end := strings.IndexByte(n.text[n.at:], '\n')
			if end < 0 {
				n.at = len(n.text)
				return false
			}
			n.at += end - 1
		case isDigit(c), (c == '-' || c == '+') && isDigit(next):
			note()
			return true
		default:
			if begin < 0 {
				begin = n.at
			}
		}
	}
	note()
	return false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// number reads the next number, which stands for `what`. After an error it returns 0.
func (n *numberReader) number(what string) (value int64, line int) {
	if n.stopped {
		return 0, n.line
	}
	if !n.skip() {
		n.fail(n.line, "the file ends, want %s: it is cut off, or a count before is too large", what)
		return 0, n.line
	}
	begin := n.at
	if n.text[n.at] == '-' || n.text[n.at] == '+' {
		n.at++
	}
	digits := isDigit
	switch {
	case strings.HasPrefix(strings.ToLower(n.text[n.at:min(len(n.text), n.at+2)]), "0x"):
		n.at += 2
		digits = func(c byte) bool { return isDigit(c) || 'a' <= c|32 && c|32 <= 'f' }
	case n.text[n.at] == '0':
		digits = func(c byte) bool { return '0' <= c && c <= '7' }
	}
	for n.at < len(n.text) && digits(n.text[n.at]) {
		n.at++
	}
	word := n.text[begin:n.at]
	value, err := strconv.ParseInt(word, 0, 64)
	if err != nil { // too large: strtol returns the largest number
		value = math.MaxInt64
	}
	if len(word) > 1 && word[0] == '0' && isDigit(word[1]) || n.at < len(n.text) && isDigit(n.text[n.at]) {
		end := n.at
		for end < len(n.text) && isDigit(n.text[end]) {
			end++
		}
		n.f.Add(n.line, mpi.FindingHarm, fmt.Sprintf("%s: Open MPI takes a leading 0 for octal and reads %d: remove the zero", n.text[begin:end], value))
	}
	if value < 0 {
		n.fail(n.line, "%d: want %s of at least 0", value, what)
		return 0, n.line
	}
	return value, n.line
}

// readClassic reads rules of version 1 or 2.
func (f *ruleFile) readClassic(text []byte) {
	f.Format = "rules of coll/tuned, version 1"
	body, version, begin := string(text), 1, 0
	if strings.HasPrefix(body, versionWord) {
		end := len(versionWord)
		for end < len(body) && isDigit(body[end]) {
			end++
		}
		version, _ = strconv.Atoi(body[len(versionWord):end])
		f.Format, begin = fmt.Sprintf("rules of coll/tuned, version %d", version), end
		if !mpi.AtLeast(f.cat.Version, 5, 0, 7) {
			f.OtherSeries = true
			f.Add(1, mpi.FindingError, fmt.Sprintf("Open MPI %s reads version 1 alone: version 2 is for 5.0.7 and later; remove the line and the fifth number of each rule", f.cat.Version))
		}
	} else if strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(body, "\ufeff")), versionWord) {
		f.Add(1, mpi.FindingError, versionWord+": want it at the very beginning of the file")
	}
	n := newNumberReader(f, body)
	n.at = begin
	collectives, line := n.number("the number of collectives")
	if collectives > collectiveIDs {
		n.fail(line, "%d collectives: want at most %d", collectives, collectiveIDs)
	}
	for i := int64(0); i < collectives && !n.stopped; i++ {
		f.readCollective(n, version)
	}
	if n.stopped {
		return
	}
	if n.suspect.Text != "" {
		f.Findings = append(f.Findings, n.suspect)
	}
	if n.skip() {
		f.Add(n.line, mpi.FindingUnreachable, "what follows is not read: the counts before say that the last rule is above")
	}
	if f.newer() && len(f.rules) > 0 {
		f.Add(0, mpi.FindingHarm, "Open MPI 6 reads the rules of a communicator size as those for smaller communicators, down to the size before: use the JSON format")
	}
}

// readCollective reads the rules of one collective.
func (f *ruleFile) readCollective(n *numberReader, version int) {
	id, line := n.number("the number of a collective")
	if id >= collectiveIDs {
		n.fail(line, "collective %d: want 0 to %d", id, collectiveIDs-1)
	}
	var c coll.Collective
	if !n.stopped && (id >= int64(len(numbers)) || numbers[id] == "") {
		f.Add(line, mpi.FindingUnreachable, fmt.Sprintf("collective %d: coll/tuned has no rules for it, want 0 to 4, 6 to 9 or 11 to 15", id))
	} else if !n.stopped {
		c = numbers[id]
	}
	for i, r := range f.rules {
		if c != "" && r.Collective == c && r.Unreachable == "" {
			f.rules[i].Unreachable = fmt.Sprintf("the collective follows again at line %d, which replaces it", line)
		}
	}
	blocks, countLine := n.number("the number of communicator sizes")
	var ranks []int64
	first := len(f.rules)
	for i := int64(0); i < blocks && !n.stopped; i++ {
		size, at := n.number("a communicator size")
		if n.counts[at] == 4+min(version-1, 1) || n.counts[at] == 4 {
			n.doubt(at, "this looks like a rule, but a communicator size is due: the number of rules before is too small, or the number of communicator sizes at line %d too large", countLine)
		}
		ranks = append(ranks, size)
		f.readBlock(n, placedRule{Collective: c, Block: int(i), BlockLine: at}, version)
	}
	if !n.stopped {
		f.placeRanks(first, ranks)
	}
}

// readBlock reads the rules for one communicator size.
func (f *ruleFile) readBlock(n *numberReader, r placedRule, version int) {
	count, countLine := n.number("the number of rules")
	first := len(f.rules)
	var sizes []int64
	oneLine := false
	for k := int64(0); k < count && !n.stopped; k++ {
		var begun, end int
		r.Size, begun = n.number("a message size")
		alg, _ := n.number("an algorithm")
		fan, _ := n.number("a fan in/out")
		r.SegSize, end = n.number("a segment size")
		if version > 1 && n.digitFollows() {
			_, end = n.number("a number of requests")
		}
		if oneLine && begun != end {
			n.doubt(begun, "rule %d of %d, announced at line %d, has not all its numbers on this line: the number of rules is too large, or a number is missing", k+1, count, countLine)
		}
		oneLine = k == 0 && begun == end || oneLine
		if !n.stopped && k == 0 && r.Size != 0 {
			n.fail(begun, "message size %d: want 0 for the first rule of a communicator size", r.Size)
		}
		if n.stopped {
			return
		}
		r.Algorithm, r.FanInOut, r.Line = int(min(alg, math.MaxInt32)), int(min(fan, math.MaxInt32)), begun
		sizes = append(sizes, r.Size)
		f.rules = append(f.rules, r)
	}
	placeSizes(f.rules[first:], sizes)
}

// digitFollows reports whether another number follows on the line, as Open MPI finds out.
func (n *numberReader) digitFollows() bool {
	for n.at < len(n.text) && (n.text[n.at] == ' ' || n.text[n.at] == '\t') {
		n.at++
	}
	return n.at < len(n.text) && isDigit(n.text[n.at])
}

// placeSizes sets the sizes that the rules of a block serve. Open MPI goes on to the next rule as long as the next
// rule's size is not above that of the message.
func placeSizes(rules []placedRule, sizes []int64) {
	for k, reached := range reachedSpans(sizes) {
		rules[k].Sizes = reached
		if reached.empty() {
			rules[k].Unreachable = fmt.Sprintf("the size %d is out of order: want ascending sizes", sizes[k])
		}
	}
}

// placeRanks sets the numbers of ranks that the blocks of a collective serve. Its rules begin at index `first`.
func (f *ruleFile) placeRanks(first int, ranks []int64) {
	spans := reachedSpans(ranks)
	if len(spans) > 0 && !f.newer() {
		spans[0].Low = 0 // smaller communicators take the first block
	}
	if f.newer() { // each block ends below its size, the last one never
		for i := range spans {
			low, high := int64(0), int64(math.MaxInt32)
			for _, r := range ranks[:i] {
				low = max(low, r)
			}
			if i+1 < len(ranks) {
				high = ranks[i] - 1
			}
			spans[i] = span{low, high}
		}
	}
	setRanks(f.rules[first:], ranks, spans)
	decides := func(r placedRule) bool { return r.Block == 0 && r.Algorithm != 0 }
	if len(ranks) > 0 && ranks[0] > 2 && !f.newer() && slices.ContainsFunc(f.rules[first:], decides) {
		f.Add(f.rules[first].BlockLine, mpi.FindingNote, fmt.Sprintf("communicators of fewer than %d ranks take these rules, too: begin with a communicator size 1 whose only rule is 0 0 0 0", ranks[0]))
	}
}

// setRanks sets the numbers of ranks that rules serve, by their blocks. `ranks` has the sizes of the blocks in the file.
func setRanks(rules []placedRule, ranks []int64, spans []span) {
	for i, r := range rules {
		if rules[i].Ranks = spans[r.Block]; rules[i].Ranks.empty() {
			rules[i].Unreachable = fmt.Sprintf("the communicator size %d at line %d is out of order: want ascending sizes", ranks[r.Block], r.BlockLine)
		}
	}
}

// reachedSpans returns, for entries that begin at the given values, the values that reach each entry. A search goes on
// to the next entry as long as the next one begins at most at the searched value. O(n) time.
func reachedSpans(starts []int64) []span {
	out := make([]span, len(starts))
	most := int64(0)
	for i, s := range starts {
		most = max(most, s)
		high := int64(math.MaxInt64)
		if i+1 < len(starts) {
			high = starts[i+1] - 1
		}
		out[i] = span{most, high}
	}
	return out
}
