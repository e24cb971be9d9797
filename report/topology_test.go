package report

import (
	"encoding/base64"
	"errors"
	"fmt"
	"image/png"
	"regexp"
	"strings"
	"testing"

	"tutti/internal/testutil"
	"tutti/topology"
	"tutti/topology/discover"
)

// TestWriteTopologyHTML checks that the heat map has a pixel for each pair, and that nodes of one group are
// next to each other.
func TestWriteTopologyHTML(t *testing.T) {
	pairs := []discover.PairTime{{A: "a", B: "<c>", Seconds: 4e-6}, {A: "a", B: "b", Seconds: 1e-6}, {A: "d", B: "<c>", Seconds: 1e-6},
		{A: "b", B: "d", Seconds: 4e-6}, {A: "a", B: "d", Seconds: 4e-6}, {A: "b", B: "<c>", Seconds: 4e-6}}
	merged := topology.Merged{Tree: topology.Tree{Root: topology.Vertex{Kind: topology.Switch, Name: "s"}, Gaps: []string{"no n9"}}}
	var b strings.Builder
	testutil.NoError(t, WriteTopologyHTML(&b, "x<y>.csv", merged, pairs))
	page := b.String()
	wantTexts(t, page, "x&lt;y&gt;.csv", "gap: no n9", "light 1 µs, dark 4 µs", "<span>2 µs</span>", `>&lt;c&gt;</li>`)
	if !regexp.MustCompile(`<p>((a b|b a) (d &lt;c&gt;|&lt;c&gt; d)|(d &lt;c&gt;|&lt;c&gt; d) (a b|b a)) </p>`).MatchString(page) {
		t.Errorf("nodes of one group are apart:\n%s", page)
	}
	if n := strings.Count(page, "H"); n < 3 {
		t.Errorf("%d merges in the dendrogram, want 3", n)
	}
	_, rest, _ := strings.Cut(page, "base64,")
	text, _, _ := strings.Cut(rest, `"`)
	picture, err := png.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(strings.ReplaceAll(text, "&#43;", "+"))))
	if err != nil || picture.Bounds().Dx() != 4 || picture.At(0, 1) == picture.At(0, 3) {
		t.Errorf("picture %v, %v: want 4x4 pixels with two shades", picture, err)
	}
	if err := WriteTopologyHTML(&b, "x", merged, append(pairs, discover.PairTime{A: "a", B: "a", Seconds: 1})); !errors.Is(err, discover.ErrPair) {
		t.Errorf("a pair of one node: %v, want ErrPair", err)
	}
}

// TestRowNames checks that a heat map of many nodes has few names, each next to several rows.
func TestRowNames(t *testing.T) {
	var pairs []discover.PairTime
	for i := range 130 {
		for j := range i {
			pairs = append(pairs, discover.PairTime{A: fmt.Sprint("n", i), B: fmt.Sprint("n", j), Seconds: 1e-6})
		}
	}
	v := testutil.Must(newHeatView(pairs))(t)
	rows := 0
	for _, n := range v.Names {
		if n.Name != v.Nodes[rows] {
			t.Errorf("row %d: %s, want %s", rows, n.Name, v.Nodes[rows])
		}
		rows += n.Rows
	}
	if rows != 130 || v.Group != 3 || len(v.Names) != 44 {
		t.Errorf("%d names of %d rows for %d rows, want 44, 3, 130", len(v.Names), v.Group, rows)
	}
}
