package api_test

import (
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"tutti/internal/testutil"
	"tutti/internal/testutil/pagetest"
	"tutti/service"
)

// faults is a script that returns the accessibility faults of a page: missing names, duplicate ids,
// skipped heading levels, and text contrast below 4.5 (WCAG 2.2, 1.4.3).
const faults = `(() => {
  const out = [];
  const visible = (e) => e.checkVisibility() && e.getClientRects().length > 0;
  const say = (e, text) => out.push(text + ": " + e.outerHTML.slice(0, 120));
  const all = [...document.body.querySelectorAll("*")].filter(visible);
  const ids = new Set();
  for (const e of document.querySelectorAll("[id]")) {
    if (ids.has(e.id)) say(e, "id used twice");
    ids.add(e.id);
  }
  for (const e of all) {
    if (e.matches("input, select, textarea") && !(e.labels?.length || e.ariaLabel)) say(e, "no label");
    if (e.matches("button, a[href], summary") && !(e.textContent.trim() || e.ariaLabel)) say(e, "no name");
    if (e.matches("table") && !(e.caption || e.ariaLabel)) say(e, "table without caption");
    if (e.matches("img") && !e.hasAttribute("alt")) say(e, "image without text");
    if (e.matches("section, [role=grid], nav, dialog") && !(e.ariaLabel || document.getElementById(e.getAttribute("aria-labelledby")))) say(e, "region without name");
    for (const name of ["aria-describedby", "aria-labelledby", "for"]) {
      for (const id of (e.getAttribute(name) ?? "").split(" ").filter(Boolean)) if (!document.getElementById(id)) say(e, name + " names nothing");
    }
  }
  let level = 0;
  for (const h of all.filter((e) => /^H[1-6]$/.test(e.tagName))) {
    const now = Number(h.tagName[1]);
    if (now > level + 1) say(h, "heading skips a level");
    level = now;
  }
  if (document.querySelectorAll("h1").length !== 1) out.push("not one h1");
  if (!document.documentElement.lang) out.push("no language");
  const colour = (text) => {
    const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
    return { rgb: [r, g, b], a };
  };
  const luminance = ({ rgb }) => {
    const [r, g, b] = rgb.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = colour(getComputedStyle(e).backgroundColor);
      if (c.a === 1) return c;
    }
    return colour("rgb(255, 255, 255)");
  };
  let least = 21, texts = 0;
  for (const e of all) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || e.closest(".visually-hidden, :disabled, option")) continue;
    const [a, b] = [luminance(colour(getComputedStyle(e).color)), luminance(behind(e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    texts++;
    least = Math.min(least, ratio);
    if (ratio < 4.5) say(e, "contrast " + ratio.toFixed(2));
  }
  return { faults: [...new Set(out)], least, texts };
})()`

// TestAccess checks that no view of the page has accessibility faults.
func TestAccess(t *testing.T) {
	f := emptyFake()
	f.add("c1", "first", service.Done, 1, -1)
	f.add("c2", "second", service.Running, 1.6, 560)
	f.add("c3", "third", service.Failed, 1.2, 100).Error = "exit status 3"
	f.add("c4", "fourth", service.Queued, 1.2, 0)
	f.add("c5", "fifth", service.Paused, 1.2, 100)
	home, ctx := browse(t, f)
	views := []struct{ name, hash, ready, more string }{
		{"list", "#/", `document.querySelectorAll("tbody tr").length === 5`, `document.querySelector("details").open = true`},
		{"campaign", "#/campaigns/c2", drawn, ``},
		{"slowdown by default", "#/campaigns/c2", drawn, chooseLayer("default_slowdown")},
		{"mistake probability", "#/campaigns/c2", drawn, chooseLayer("p_mistake")},
		{"done", "#/campaigns/c1", drawn, ``},
		{"queued", "#/campaigns/c4", `document.querySelector(".pill.queued") !== null`, ``},
		{"compare", "#/compare/c1/c2", `document.querySelectorAll("td.c[data-point]").length > 100`, ``},
	}
	for _, theme := range []string{"light", "dark"} {
		if theme == "dark" && !testutil.AllCases() {
			views = views[:1]
		}
		for _, v := range views {
			t.Run(v.name+" "+theme, func(t *testing.T) {
				if !slices.Contains([]string{"list", "campaign", "compare"}, v.name) {
					testutil.NeedAllCases(t)
				}
				pagetest.Do(t, ctx, scheme(theme))
				visit(t, ctx, home+"/"+v.hash, v.ready)
				if v.more != "" {
					pagetest.Eval[any](t, ctx, v.more)
				}
				got := pagetest.Eval[struct {
					Faults []string
					Least  float64
					Texts  int
				}](t, ctx, faults)
				for _, f := range got.Faults {
					t.Error(f)
				}
				if got.Texts < 20 {
					t.Errorf("%d texts were looked at: want a page", got.Texts)
				}
				t.Logf("least contrast %.2f in %d texts", got.Least, got.Texts)
			})
		}
	}
}

func chooseLayer(value string) string {
	return `(() => { const s = document.getElementById("second-layer"); s.value = "` + value + `"; s.dispatchEvent(new Event("change")); return true; })()`
}

func TestThemeAndMotion(t *testing.T) {
	_, home, ctx := browseRunning(t)
	pagetest.Do(t, ctx, scheme("light"), chromedp.Navigate(home+"/#/campaigns/c1"))
	pagetest.Until(t, ctx, drawn)
	const paper = `getComputedStyle(document.body.parentNode).backgroundColor`
	light := pagetest.Eval[string](t, ctx, paper)
	pagetest.Do(t, ctx, scheme("dark"))
	pagetest.Until(t, ctx, paper+` !== "`+light+`"`)
	pagetest.Do(t, ctx, chromedp.Click(chromedp.CSS("#theme"))) // selects the light theme
	pagetest.Until(t, ctx, paper+` === "`+light+`" && document.getElementById("theme").textContent === "theme: light"`)
	pagetest.Do(t, ctx, chromedp.Reload())
	pagetest.Until(t, ctx, drawn)
	if got := pagetest.Eval[string](t, ctx, paper); got != light {
		t.Errorf("after reloading the chosen theme is gone: %s, want %s", got, light)
	}
	if got := pagetest.Eval[string](t, ctx, `getComputedStyle(document.getElementById("link"), "::before").animationName`); got != "breathe" {
		t.Errorf("animation %q, want breathe", got)
	}
	pagetest.Do(t, ctx, media("prefers-reduced-motion", "reduce"))
	pagetest.Until(t, ctx, `getComputedStyle(document.getElementById("link"), "::before").animationName === "none"`)
}
