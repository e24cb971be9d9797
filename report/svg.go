package report

import (
	"bytes"
	"fmt"
	"html/template"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// sheet collects the styles that the plots of a page share. A plot written by
// vgsvg repeats its whole style at every element; on the page each style is one
// CSS class, whose colours are the variables of the theme.
type sheet struct {
	classes map[string]string
	rules   strings.Builder
	colours *strings.Replacer
}

func newSheet() *sheet {
	var pairs []string
	for _, k := range inks() {
		pairs = append(pairs, k.light, "var(--"+k.name+")")
	}
	return &sheet{classes: map[string]string{}, colours: strings.NewReplacer(pairs...)}
}

var (
	fontStyle = regexp.MustCompile(`^font-family:.*?;font-style:normal;`)
	blanks    = strings.NewReplacer(">\n<", "><", " />", "/>", ">\n", ">")
)

// textFlip turns text upright again in vgsvg's coordinates, which grow upwards.
// The page does it for all of them in one rule.
const textFlip = ` transform="scale(1, -1)"`

// svg draws on a canvas of w by h points and returns it as an element to stand
// in a page, described by label to those who cannot see it. scale is the number
// of pixels a point takes where there is room.
func (s *sheet) svg(w, h vg.Length, scale float64, label string, paint func(draw.Canvas)) (template.HTML, error) {
	canvas := vgsvg.New(w, h)
	paint(draw.New(canvas))
	var raw bytes.Buffer
	if _, err := canvas.WriteTo(&raw); err != nil {
		return "", fmt.Errorf("plot %q: %w", label, err)
	}
	_, body, found := strings.Cut(raw.String(), "<g ") // drops the prelude and vgsvg's own <svg>
	if !found {
		return "", fmt.Errorf("plot %q: no drawing", label)
	}
	body = s.withClasses("<g " + body)
	body = blanks.Replace(body)
	head := fmt.Sprintf(`<svg viewBox="0 0 %.5g %.5g" width="%.0f" height="%.0f" role="img" aria-label="%s">`,
		w.Points(), h.Points(), scale*w.Points(), scale*h.Points(), template.HTMLEscapeString(label))
	return template.HTML(head + strings.TrimSpace(body)), nil
}

// withClasses replaces each style in body by its class.
func (s *sheet) withClasses(body string) string {
	const opening = `style="`
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(body, opening)
		if !found {
			return b.String() + before
		}
		before = strings.TrimRight(before, "\n\t ")
		before = strings.TrimSuffix(before, textFlip)
		style, after, _ := strings.Cut(rest, `"`)
		b.WriteString(before + ` class="` + s.class(style) + `"`)
		body = after
	}
}

// class returns the class of a style, a new one at first sight.
func (s *sheet) class(style string) string {
	name, known := s.classes[style]
	if !known {
		name = "s" + strconv.Itoa(len(s.classes))
		s.classes[style] = name
		fmt.Fprintf(&s.rules, ".%s{%s}\n", name, s.colours.Replace(fontStyle.ReplaceAllString(style, "")))
	}
	return name
}

// css returns the rules of all classes so far.
func (s *sheet) css() template.CSS { return template.CSS(s.rules.String()) }
