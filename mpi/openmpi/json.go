package openmpi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tutti/coll"
)

// distribution is a condition of a rule of 6.0: how the ranks of a communicator are distributed over nodes.
type distribution string

// The distributions that rules can require.
const (
	anyDistribution distribution = "any"
	onePerNode      distribution = "one-per-node"
	singleNode      distribution = "single-node"
)

// holds reports whether a communicator with this layout has the distribution.
func (s distribution) holds(l coll.Layout) bool {
	switch s {
	case onePerNode:
		return l.PPN == 1
	case singleNode:
		return l.Nodes == 1
	}
	return true
}

// jsonRules is the content of a rules file of 6.0, in the order of the file.
type jsonRules []jsonCollective

// jsonCollective holds the rules of one collective.
type jsonCollective struct {
	Collective coll.Collective
	Blocks     []jsonBlock
}

// jsonBlock applies to communicators with Low to High ranks, bounds included, if they have the
// distribution. Open MPI uses the first block that applies, even if this block has no rules.
type jsonBlock struct {
	Low, High    int
	Distribution distribution
	Rules        []jsonRule
}

// jsonRule applies to messages of Low to High bytes, bounds included. Open MPI uses the first rule that
// applies. If no rule applies, the library selects.
type jsonRule struct {
	Low, High   int64
	Algorithm   string // Open MPI's name or number; "ignore" and 0 leave the decision to the library
	FanInOut    int
	SegSize     int64
	MaxRequests int
}

// ignore is the name of the algorithm in a rule that leaves the choice to Open MPI.
const ignore = "ignore"

// Bytes returns the rules as the content of a file. Equal rules give equal bytes. It omits upper bounds
// that exclude nothing, because Open MPI reads the number of ranks "inf" as -1.
func (r jsonRules) Bytes() []byte {
	var b strings.Builder
	b.WriteString("{\n \"rule_file_version\": 3,\n \"module\": \"tuned\",\n \"collectives\": {")
	for i, c := range r {
		fmt.Fprintf(&b, "%s\n  %q: [", comma(i), c.Collective)
		for k, block := range c.Blocks {
			fmt.Fprintf(&b, "%s\n   {\"comm_size_min\": %d", comma(k), block.Low)
			if block.High < math.MaxInt32 {
				fmt.Fprintf(&b, ", \"comm_size_max\": %d", block.High)
			}
			fmt.Fprintf(&b, ", \"comm_rank_distribution\": %q, \"rules\": [", block.Distribution)
			for j, x := range block.Rules {
				b.WriteString(comma(j) + "\n    ")
				x.write(&b)
			}
			b.WriteString("\n   ]}")
		}
		b.WriteString("\n  ]")
	}
	b.WriteString("\n }\n}\n")
	return []byte(b.String())
}

func comma(i int) string {
	if i > 0 {
		return ","
	}
	return ""
}

func (x jsonRule) write(b *strings.Builder) {
	fmt.Fprintf(b, "{\"msg_size_min\": %d", x.Low)
	if x.High < math.MaxInt64 {
		fmt.Fprintf(b, ", \"msg_size_max\": %d", x.High)
	}
	fmt.Fprintf(b, ", \"alg\": %q", x.Algorithm)
	for _, p := range []struct {
		name  string
		value int64
	}{{"faninout", int64(x.FanInOut)}, {"seg_size", x.SegSize}, {"reqs", int64(x.MaxRequests)}} {
		if p.value != 0 {
			fmt.Fprintf(b, ", %q: %d", p.name, p.value)
		}
	}
	b.WriteByte('}')
}

// toJSON converts classic rules. A classic block or rule ends where the next one begins. The function names
// returns the name of an algorithm with the given number. Rules of layouts with one rank on each node, or
// with one node, come first. They apply to communicators with exactly the layout's number of ranks.
func toJSON(rules classicRules, inCommonFile []layoutRules, name func(coll.Collective, int) string) jsonRules {
	var out jsonRules
	for _, c := range rules {
		j := jsonCollective{Collective: c.Collective}
		for _, l := range inCommonFile {
			n := l.layout.Ranks()
			own, common := l.rules.block(c.Collective, n), rules.block(c.Collective, n)
			if slices.Equal(own, common) {
				continue
			}
			b := jsonBlock{Low: n, High: n, Distribution: onePerNode, Rules: rulesToJSON(c.Collective, own, name)}
			if l.layout.Nodes == 1 {
				b.Distribution = singleNode
			}
			if len(b.Rules) == 0 { // not a block without rules, for the sake of readers that want one
				b.Rules = []jsonRule{{High: math.MaxInt64, Algorithm: ignore}}
			}
			j.Blocks = append(j.Blocks, b)
		}
		for i, block := range c.Blocks {
			b := jsonBlock{Low: block.Ranks, High: math.MaxInt32, Distribution: anyDistribution, Rules: rulesToJSON(c.Collective, block.Rules, name)}
			if i+1 < len(c.Blocks) {
				b.High = c.Blocks[i+1].Ranks - 1
			}
			if len(b.Rules) > 0 {
				j.Blocks = append(j.Blocks, b)
			}
		}
		if len(j.Blocks) > 0 {
			out = append(out, j)
		}
	}
	return out
}

func rulesToJSON(c coll.Collective, rules []rule, name func(coll.Collective, int) string) []jsonRule {
	var out []jsonRule
	for i, r := range rules {
		if r.Algorithm == 0 {
			continue
		}
		x := jsonRule{
			Low: r.Size, High: math.MaxInt64, Algorithm: name(c, r.Algorithm),
			FanInOut: r.FanInOut, SegSize: r.SegSize, MaxRequests: r.MaxRequests,
		}
		if i+1 < len(rules) {
			x.High = rules[i+1].Size - 1
		}
		out = append(out, x)
	}
	return out
}

// parseJSON reads a rules file of 6.0. The error matches errSyntax.
//
// Where Open MPI does not understand the file, it selects by itself, without a message. The function
// parseJSON is stricter, but accepts commas after the last value, as Open MPI does. Keys and collectives must be known, and each collective occurs once. Lower bounds
// must not exceed upper bounds. The number of ranks must be a number.
func parseJSON(text []byte) (jsonRules, error) {
	text = trailingComma.ReplaceAll(text, []byte("$1$2"))
	var doc struct {
		Schema      string          `json:"$schema"` // for editors
		Version     int             `json:"rule_file_version"`
		Module      string          `json:"module"`
		Collectives json.RawMessage `json:"collectives"`
	}
	if err := strictJSON(text, &doc); err != nil {
		return nil, err
	}
	if doc.Version != 3 || doc.Module != "tuned" || doc.Collectives == nil {
		return nil, fmt.Errorf("%w: want rule_file_version 3, module tuned and collectives", errSyntax)
	}
	d := json.NewDecoder(bytes.NewReader(doc.Collectives))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, fmt.Errorf("%w: collectives: want an object", errSyntax)
	}
	var out jsonRules
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("%w: collectives: %w", errSyntax, err)
		}
		c, err := coll.ParseCollective(fmt.Sprint(key))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errSyntax, err)
		}
		if slices.ContainsFunc(out, func(x jsonCollective) bool { return x.Collective == c }) {
			return nil, fmt.Errorf("%w: %s is given twice", errSyntax, c)
		}
		var blocks []json.RawMessage
		if err := d.Decode(&blocks); err != nil {
			return nil, fmt.Errorf("%w: %s: want a list: %w", errSyntax, c, err)
		}
		j := jsonCollective{Collective: c}
		for i, raw := range blocks {
			b, err := parseBlock(raw)
			if err != nil {
				return nil, fmt.Errorf("%w: %s: block %d: %w", errSyntax, c, i+1, err)
			}
			j.Blocks = append(j.Blocks, b)
		}
		out = append(out, j)
	}
	return out, nil
}

// trailingComma matches strings, which stay as they are, and commas before a closing bracket.
var trailingComma = regexp.MustCompile(`("(?:[^"\\]|\\.)*")|,(\s*[\]}])`)

func strictJSON(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%w: %w", errSyntax, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: more text after the rules", errSyntax)
	}
	return nil
}

func parseBlock(raw []byte) (jsonBlock, error) {
	var in struct {
		Low          *int              `json:"comm_size_min"`
		High         *int              `json:"comm_size_max"`
		Distribution *distribution     `json:"comm_rank_distribution"`
		Rules        []json.RawMessage `json:"rules"`
	}
	if err := strictJSON(raw, &in); err != nil {
		return jsonBlock{}, err
	}
	b := jsonBlock{Low: valueOr(in.Low, 0), High: valueOr(in.High, math.MaxInt32), Distribution: valueOr(in.Distribution, anyDistribution)}
	switch {
	case in.Rules == nil:
		return b, errors.New("no rules")
	case b.Low < 0 || b.Low > b.High || b.High > math.MaxInt32:
		return b, fmt.Errorf("communicators of %d to %d: want an ascending range up to %d", b.Low, b.High, math.MaxInt32)
	case !slices.Contains([]distribution{anyDistribution, onePerNode, singleNode}, b.Distribution):
		return b, fmt.Errorf("comm_rank_distribution %q: want any, one-per-node or single-node", b.Distribution)
	}
	for i, raw := range in.Rules {
		r, err := parseJSONRule(raw)
		if err != nil {
			return b, fmt.Errorf("rule %d: %w", i+1, err)
		}
		b.Rules = append(b.Rules, r)
	}
	return b, nil
}

func valueOr[T any](p *T, otherwise T) T {
	if p != nil {
		return *p
	}
	return otherwise
}

func parseJSONRule(raw []byte) (jsonRule, error) {
	var in struct {
		Low         *int64          `json:"msg_size_min"`
		High        json.RawMessage `json:"msg_size_max"`
		Algorithm   json.RawMessage `json:"alg"`
		FanInOut    int32           `json:"faninout"`
		SegSize     int64           `json:"seg_size"`
		MaxRequests int32           `json:"reqs"`
	}
	if err := strictJSON(raw, &in); err != nil {
		return jsonRule{}, err
	}
	r := jsonRule{
		Low: valueOr(in.Low, 0), High: math.MaxInt64,
		FanInOut: int(in.FanInOut), SegSize: in.SegSize, MaxRequests: int(in.MaxRequests),
	}
	if text := string(in.High); in.High != nil && text != `"inf"` && text != `"Inf"` && text != `"INF"` {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return r, fmt.Errorf("msg_size_max %s: want a number or \"inf\"", text)
		}
		r.High = n
	}
	if err := json.Unmarshal(in.Algorithm, &r.Algorithm); err != nil {
		n, err := strconv.Atoi(string(in.Algorithm))
		if err != nil {
			return r, fmt.Errorf("alg %q: want a name or a number", in.Algorithm)
		}
		r.Algorithm = strconv.Itoa(n)
	}
	_, err := coll.NewAlgorithm(r.Algorithm)
	switch {
	case err != nil:
		return r, fmt.Errorf("alg: %w", err)
	case r.Low < 0 || r.Low > r.High:
		return r, fmt.Errorf("messages of %d to %d: want an ascending range", r.Low, r.High)
	case r.FanInOut < 0 || r.SegSize < 0 || r.MaxRequests < 0:
		return r, errors.New("want no negative numbers")
	}
	return r, nil
}

// Find returns the rule that Open MPI 6.0 uses on a communicator with the given layout. It returns false if
// Open MPI selects by itself.
func (r jsonRules) Find(c coll.Collective, l coll.Layout, size int64) (jsonRule, bool) {
	for _, rules := range r {
		if rules.Collective != c {
			continue
		}
		for _, b := range rules.Blocks {
			if n := l.Ranks(); n < b.Low || n > b.High || !b.Distribution.holds(l) {
				continue
			}
			for _, x := range b.Rules {
				if size >= x.Low && size <= x.High {
					return x, x.Algorithm != ignore && x.Algorithm != "0"
				}
			}
			return jsonRule{}, false
		}
	}
	return jsonRule{}, false
}
