package settings

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
	"tutti/mpi"
	"tutti/selection"
)

// scoresSyntax is the syntax of UCC's variables TUNE: tokens "COLLECTIVE:LOW-HIGH:host:[RANKS-RANKS]:inf:@ALGORITHM",
// separated by #. A range of bytes has both bounds, but where another token begins at the high bound, that token counts.
// A range of ranks has both bounds. UCC decides for calls outside all tokens. Tokens of one collective and memory must
// not overlap otherwise, and one token that cannot be read makes UCC ignore the whole value. Source: src/coll_score of
// UCC 1.4, and the score map that UCC 1.9 prints.
type scoresSyntax struct{ ranksSyntax }

const tokenSeparator = "#"

func (s scoresSyntax) settings(b build, t *selection.Tree) ([]mpi.Setting, error) {
	rules, err := rulesOf(b, t)
	if err != nil {
		return nil, err
	}
	var tokens []string
	for _, r := range rules {
		high := "inf"
		switch next := r.highBytes + 1; {
		case r.highBytes == maxInt:
		case r.highBytes == r.lowBytes, slices.ContainsFunc(rules, func(o rankRule) bool { return o.lowBytes == next && o.lowRanks == r.lowRanks }):
			high = strconv.FormatInt(next, 10)
		default:
			high = strconv.FormatInt(r.highBytes, 10)
		}
		name := b.cat.NameOf(t.Collective, r.id)
		tokens = append(tokens, fmt.Sprintf("%s:%d-%s:host:[%d-%d]:inf:@%s", t.Collective, r.lowBytes, high, r.lowRanks, r.highRanks, name))
	}
	return b.one(t.Collective, strings.Join(tokens, tokenSeparator))
}

func (scoresSyntax) separator() string { return tokenSeparator }

func (scoresSyntax) forced(b build, collective coll.Collective, _ mpi.Entry, alg coll.Algorithm) []mpi.Setting {
	v, _ := b.variable(collective)
	return []mpi.Setting{{Name: v.name, Value: fmt.Sprintf("%s:0-inf:host:inf:@%s", collective, alg.Name)}}
}

func (s scoresSyntax) selects(b build, set []mpi.Setting, p coll.Point, alg coll.Algorithm) error {
	return selectsByRange(b, set, p, alg, func(value string, ranks int, bytes int64) (int, bool, error) {
		return b.findToken(value, p.Collective, ranks, bytes)
	})
}

// findToken returns the number of the algorithm that the tokens select. It returns false if UCC decides.
func (b build) findToken(value string, c coll.Collective, ranks int, bytes int64) (id int, found bool, err error) {
	begins := int64(-1) // of the token that counts
	for token := range strings.SplitSeq(value, tokenSeparator) {
		f := strings.Split(token, ":")
		if len(f) != 6 || f[2] != "host" || f[4] != "inf" {
			return 0, false, fmt.Errorf("%w: %q: want COLLECTIVE:LOW-HIGH:host:[RANKS-RANKS]:inf:@ALGORITHM", errSyntax, token)
		}
		low, high, err := interval(f[1])
		lowRanks, highRanks, ranksErr := interval(strings.Trim(f[3], "[]"))
		e, algErr := b.cat.Lookup(c, coll.Algorithm{Name: strings.TrimPrefix(f[5], "@")})
		switch {
		case err != nil || ranksErr != nil || high <= low || highRanks < lowRanks:
			return 0, false, fmt.Errorf("%w: %q: want ascending ranges LOW-HIGH", errSyntax, token)
		case f[0] != string(c) || bytes < max(low, begins) || bytes > high || int64(ranks) < lowRanks || int64(ranks) > highRanks:
			continue
		case algErr != nil:
			return 0, false, algErr
		}
		id, found, begins = e.ID, true, low
	}
	return id, found, nil
}

func interval(text string) (low, high int64, err error) {
	first, last, _ := strings.Cut(text, "-")
	if low, err = strconv.ParseInt(first, 10, 64); err != nil || last == "inf" {
		return low, math.MaxInt64, err
	}
	high, err = strconv.ParseInt(last, 10, 64)
	return low, high, err
}
