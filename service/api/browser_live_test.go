package api_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/internal/testutil/pagetest"
	"tutti/service"
	"tutti/service/api"
)

// hostile is a name of a campaign. If the page inserted it as HTML, a script would run.
const hostile = `<img src=x onerror="window.harmed=1">"'><script>window.harmed=1</script>{{7*7}}` + "\u202e"

func TestStartAndWatch(t *testing.T) {
	f := emptyFake()
	f.pause = 2 * time.Millisecond
	home, ctx := browse(t, f)
	pagetest.Do(t, ctx, chromedp.Navigate(home+"/"), chromedp.WaitVisible(chromedp.CSS("form.start")))
	if got := pagetest.Eval[string](t, ctx, `document.querySelector(".empty").textContent`); !strings.HasPrefix(got, "No campaign yet") {
		t.Errorf("the empty list says %q", got)
	}
	pagetest.Do(t, ctx,
		chromedp.SendKeys(chromedp.CSS("#name"), "from the page"), chromedp.Click(chromedp.CSS("input[value=allreduce]")),
		chromedp.Click(chromedp.CSS("summary")), chromedp.SendKeys(chromedp.CSS(`[id="stop.machine_time"]`), "90m"),
		chromedp.Click(chromedp.CSS("form.start button[type=submit]")))
	pagetest.Until(t, ctx, `location.hash === "#/campaigns/made1"`)
	// The charts and the figures must change while results arrive.
	pagetest.Until(t, ctx, `document.querySelectorAll(".plot canvas").length === 2`)
	early := pagetest.Eval[string](t, ctx, `document.querySelector(".figures").innerText`)
	pagetest.Until(t, ctx, `document.querySelectorAll("td.c[data-point]").length > 100`)
	pagetest.Until(t, ctx, `document.querySelector(".pill.done") && document.getElementById("link").textContent === "complete"`)
	if late := pagetest.Eval[string](t, ctx, `document.querySelector(".figures").innerText`); late == early || !strings.Contains(late, "4 of 4") {
		t.Errorf("figures while it ran %q, at the end %q", early, late)
	}
	// The page draws the last records after a short delay.
	pagetest.Until(t, ctx, `[...document.querySelectorAll(".dense tbody tr")].map((r) => r.cells[6].textContent).join(" ") === "converged converged converged converged"`)
	want := service.Request{Base: "night", Name: "from the page"}
	if len(f.requests) != 1 || f.requests[0].Base != want.Base || f.requests[0].Name != want.Name || fmt.Sprint(f.requests[0].Set) != "map[collectives:bcast stop.machine_time:90m]" {
		t.Errorf("requests are %+v", f.requests)
	}
	if name, got := pagetest.Download(t, ctx, ".files a[download='mpich.json']"); name != "mpich.json" || string(got) != tree {
		t.Errorf("downloaded %s %q, want mpich.json %q", name, got, tree)
	}
}

func TestHostileNames(t *testing.T) {
	f := emptyFake()
	f.add("c1", hostile, service.Done, 1, -1)
	f.add("c2", hostile, service.Failed, 1.3, 300).Error = hostile
	f.campaigns[0].Machine, f.campaigns[0].Reason = hostile, hostile
	home, ctx := browse(t, f)
	for hash, ready := range map[string]string{
		"#/":             `document.querySelectorAll("tbody tr").length === 2`,
		"#/campaigns/c2": drawn, "#/compare/c1/c2": `document.querySelectorAll("td.c[data-point]").length > 100`,
	} {
		visit(t, ctx, home+"/"+hash, ready)
		if !pagetest.Eval[bool](t, ctx, `document.body.textContent.includes("<script>window.harmed=1</script>")`) {
			t.Errorf("%s: the name is not shown as text", hash)
		}
		if pagetest.Eval[bool](t, ctx, `window.harmed === 1 || document.querySelector("main img, main script") !== null`) {
			t.Errorf("%s: the name became markup", hash)
		}
	}
}

func TestWidths(t *testing.T) {
	f := emptyFake()
	f.add("c1", strings.Repeat("long", 50), service.Done, 1, -1)
	f.add("c2", "after", service.Running, 1.3, 500)
	f.samples = sampleFolders()
	home, ctx := browse(t, f)
	for _, width := range []int64{360, 768, 1440} {
		if width > 360 && !testutil.AllCases() { // the narrowest page is the first that is too wide
			continue
		}
		for hash, ready := range map[string]string{
			"#/online":       onlineDrawn,
			"#/":             `document.querySelectorAll("tbody tr").length === 2`,
			"#/campaigns/c2": drawn, "#/compare/c1/c2": `document.querySelectorAll("td.c[data-point]").length > 100`,
		} {
			pagetest.Do(t, ctx, chromedp.EmulateViewport(width, 800))
			visit(t, ctx, home+"/"+hash, ready)
			if got := pagetest.Eval[int64](t, ctx, `document.documentElement.scrollWidth`); got > width {
				t.Errorf("%s at %d px is %d px wide", hash, width, got)
			}
		}
	}
}

// TestAnswersFail checks that the page repeats failed requests even if no new event of the campaign
// arrives.
func TestAnswersFail(t *testing.T) {
	f := emptyFake()
	f.failures.Store(2)
	f.add("c1", "first", service.Running, 1.3, 500)
	home, ctx := browse(t, f)
	visit(t, ctx, home+"/#/campaigns/c1", drawn)
	pagetest.Until(t, ctx, `document.querySelectorAll(".cards td wbr").length > 0`) // long names end lines behind underscores
}

// TestPreflightRecords checks that the page shows the jobs that read the settings of the machine in the log, but not among the
// problems.
func TestPreflightRecords(t *testing.T) {
	f := emptyFake()
	f.add("c1", "first", service.Running, 1, 60)
	home, ctx := browse(t, f)
	visit(t, ctx, home+"/#/campaigns/c1", drawn)
	names := pagetest.Eval[string](t, ctx, `[...document.querySelectorAll("[aria-pressed]")].map((b) => b.textContent).join()`)
	if want := "mpich bcast,mpich allreduce,openmpi bcast,openmpi allreduce"; names != want {
		t.Errorf("problems %q, want %q", names, want)
	}
	pagetest.Until(t, ctx, `document.body.textContent.includes("openmpi preflight: job tutti-a1b2c3d4-openmpi-preflight-r1-1 ended: completed")`)
}

func TestKeyboard(t *testing.T) {
	_, home, ctx := browseRunning(t)
	visit(t, ctx, home+"/", `document.querySelectorAll("tbody tr").length === 1`)
	press(t, ctx, kb.Tab)
	if got := focused(t, ctx); got != "Skip to the content" {
		t.Errorf("Tab leads first to %q", got)
	}
	tabTo(t, ctx, "first")
	press(t, ctx, kb.Enter)
	pagetest.Until(t, ctx, drawn)

	// Enter selects the second problem in the table of problems.
	tabTo(t, ctx, "mpich allreduce")
	press(t, ctx, kb.Enter)
	pagetest.Until(t, ctx, `document.querySelector("[aria-pressed=true]").textContent === "mpich allreduce"`)
	pagetest.Until(t, ctx, `document.querySelector("[role=grid]")?.ariaLabel === "mpich allreduce, 1\u00a0process per node"`)

	// When Tab is pressed repeatedly, only one cell of a map takes the focus. Arrow keys then move the focus in
	// the map, and the text next to it is about the focused cell.
	for range 30 {
		press(t, ctx, kb.Tab)
		if pagetest.Eval[bool](t, ctx, `document.activeElement.matches("td.c")`) {
			break
		}
	}
	steps := []struct{ key, want string }{
		{kb.ArrowDown, "2/1/524288"}, {kb.ArrowRight, "4/1/524288"}, {kb.End, "32/1/524288"}, {kb.PageDown, "32/1/1"},
		{kb.ArrowDown, "32/1/1"}, {kb.Home, "2/1/1"}, {kb.PageUp, "2/1/1048576"}, {kb.ArrowLeft, "2/1/1048576"},
	}
	for _, s := range steps {
		press(t, ctx, s.key)
		if got := pagetest.Eval[string](t, ctx, `document.activeElement.dataset.point`); got != s.want {
			t.Errorf("the key leads to %q, want %q", got, s.want)
		}
	}
	if got := pagetest.Eval[string](t, ctx, `document.querySelector(".detail h3").textContent`); got != "allreduce 2×1\u00a01\u00a0MiB" {
		t.Errorf("the detail is about %q", got)
	}
	if got := pagetest.Eval[int](t, ctx, `document.querySelectorAll("[role=grid] [tabindex='0']").length`); got != 3 {
		t.Errorf("%d stops in three maps, want one in each", got)
	}
	// The campaign can be paused with the keyboard alone.
	pagetest.Do(t, ctx, chromedp.Focus(chromedp.CSS("#theme")))
	tabTo(t, ctx, "pause")
	press(t, ctx, kb.Enter)
	pagetest.Until(t, ctx, `document.querySelector(".pill.paused") !== null`)
}

func press(t *testing.T, ctx context.Context, key string) {
	t.Helper()
	pagetest.Do(t, ctx, chromedp.KeyEvent(key))
}

func focused(t *testing.T, ctx context.Context) string {
	t.Helper()
	return pagetest.Eval[string](t, ctx, `document.activeElement.textContent.trim()`)
}

// tabTo presses Tab until an element with the given text has the focus. The focus must be visible.
func tabTo(t *testing.T, ctx context.Context, text string) {
	t.Helper()
	var seen []string
	for range 40 {
		press(t, ctx, kb.Tab)
		got := focused(t, ctx)
		if got == text {
			if pagetest.Eval[string](t, ctx, `getComputedStyle(document.activeElement).outlineStyle`) == "none" {
				t.Errorf("the focus on %q is not visible", text)
			}
			return
		}
		seen = append(seen, got)
	}
	t.Fatalf("Tab never leads to %q, but to %.60q", text, seen)
}

func TestWrongField(t *testing.T) {
	f := emptyFake()
	f.err = &config.FieldError{Field: "set.stop.slowdown", Text: `"fast": want a number above 1`}
	home, ctx := browse(t, f)
	pagetest.Do(t, ctx, chromedp.Navigate(home+"/"), chromedp.WaitVisible(chromedp.CSS("form.start")), chromedp.Click(chromedp.CSS("summary")),
		chromedp.SendKeys(chromedp.CSS(`[id="stop.slowdown"]`), "fast"), chromedp.Click(chromedp.CSS("form.start button[type=submit]")))
	pagetest.Until(t, ctx, `document.activeElement.id === "stop.slowdown" && document.activeElement.getAttribute("aria-invalid") === "true"`)
	if got := pagetest.Eval[string](t, ctx, `document.getElementById("stop.slowdown-wrong").textContent`); !strings.Contains(got, "want a number above 1") {
		t.Errorf("error of the field: %q", got)
	}
	// The corrected form must be sent with a new idempotency key.
	f.mu.Lock()
	f.err = nil
	f.mu.Unlock()
	pagetest.Do(t, ctx, chromedp.Click(chromedp.CSS("form.start button[type=submit]")))
	pagetest.Until(t, ctx, `location.hash.startsWith("#/campaigns/made")`)
}

// readToken returns a store that contains one token with the role "read". It also returns the token's secret.
func readToken(t *testing.T) (store *api.TokenStore, secret string) {
	t.Helper()
	store = testutil.Must(api.OpenTokens(filepath.Join(t.TempDir(), "tokens.json")))(t)
	secret = testutil.Must(store.Create("ann", api.Read))(t)
	return store, secret
}

// TestLoginPage checks what browsers without a login see, after a wrong token, too.
func TestLoginPage(t *testing.T) {
	tokens, _ := readToken(t)
	home := serve(t, emptyFake(), api.Options{Tokens: tokens}).URL
	ctx := pagetest.Browse(t, home)
	pagetest.Do(t, ctx, chromedp.EmulateViewport(360, 640), chromedp.Navigate(home+"/"))
	for _, after := range []string{"no token", "a wrong token"} {
		if got := pagetest.Eval[int64](t, ctx, `document.documentElement.scrollWidth`); got > 360 {
			t.Errorf("after %s: %d px wide", after, got)
		}
		for _, f := range pagetest.Eval[struct{ Faults []string }](t, ctx, faults).Faults {
			t.Errorf("after %s: %s", after, f)
		}
		if wrong := pagetest.Eval[bool](t, ctx, `document.querySelector("[role=alert]") !== null`); wrong != (after == "a wrong token") {
			t.Errorf("after %s: the page says that it is wrong: %v", after, wrong)
		}
		pagetest.Do(t, ctx, chromedp.SendKeys(chromedp.CSS("#token"), "wrong"))
		if _, err := chromedp.RunResponse(ctx, chromedp.KeyEvent(kb.Enter)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLoginOnThePage(t *testing.T) {
	f := emptyFake()
	f.add("c1", "first", service.Running, 1, 560)
	tokens, secret := readToken(t)
	home := serve(t, f, api.Options{Tokens: tokens}).URL
	ctx := pagetest.Browse(t, home)
	// If the login ends while the page is open, the page must show the login form.
	pagetest.Do(t, ctx, chromedp.Navigate(home+"/"))
	pagetest.Do(t, ctx, chromedp.SendKeys(chromedp.CSS("input[name=token]"), secret))
	if _, err := chromedp.RunResponse(ctx, chromedp.KeyEvent(kb.Enter)); err != nil {
		t.Fatal(err)
	}
	pagetest.Until(t, ctx, `document.querySelectorAll("tbody tr").length === 1`)
	pagetest.Eval[bool](t, ctx, `fetch("logout", {method: "POST"}).then(() => true)`)
	pagetest.Do(t, ctx, chromedp.Click(chromedp.CSS("tbody a")), chromedp.WaitVisible(chromedp.CSS("#token")),
		chromedp.SendKeys(chromedp.CSS("#token"), "wrong"), chromedp.KeyEvent(kb.Enter))
	pagetest.Until(t, ctx, `document.getElementById("login-error").textContent !== ""`)
	pagetest.Eval[any](t, ctx, `document.getElementById("token").value = ""`)
	pagetest.Do(t, ctx, chromedp.SendKeys(chromedp.CSS("#token"), secret), chromedp.KeyEvent(kb.Enter))
	pagetest.Until(t, ctx, drawn)
	// Users with the role "read" must see no buttons.
	if pagetest.Eval[bool](t, ctx, `[...document.querySelectorAll(".operate")].some((b) => b.checkVisibility())`) {
		t.Error("a reader is offered to operate the campaign")
	}
}

// TestNodeHours checks that the list shows the node-hours of today and a campaign shows its budget.
func TestNodeHours(t *testing.T) {
	_, home, ctx := browseRunning(t)
	visit(t, ctx, home+"/", `document.querySelector(".hours")?.innerText.includes("10 of today's 120 remain")`)
	if got := pagetest.Eval[string](t, ctx, `document.querySelector(".hours").innerText`); !strings.Contains(got, "83.8 spent, 26.2 reserved") || !strings.Contains(got, "a campaign gets at most 40") {
		t.Errorf("node-hours: %q", got)
	}
	const field = `document.getElementById("stop.node_hours").checkVisibility()`
	pagetest.Eval[any](t, ctx, `(() => { document.querySelector("details").open = true; })()`)
	pagetest.Until(t, ctx, field)
	pagetest.Eval[any](t, ctx, `(() => { const s = document.getElementById("base"); s.value = "demo"; s.dispatchEvent(new Event("change")); })()`)
	pagetest.Until(t, ctx, `!`+field) // recorded data need no node-hours
	visit(t, ctx, home+"/#/campaigns/c1", drawn)
	if got := pagetest.Eval[string](t, ctx, `document.querySelector(".figures").innerText`); !strings.Contains(got, "21.2 of 40") {
		t.Errorf("figures: %q", got)
	}
}

func TestServiceGone(t *testing.T) {
	f, home, ctx := browseRunning(t)
	visit(t, ctx, home+"/#/campaigns/unknown", `document.querySelector("main [role=alert]")?.textContent.includes("no such campaign")`)
	f.err = errors.New("disk full")
	pagetest.Do(t, ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(home+"/"), chromedp.Click(chromedp.CSS("form.start button[type=submit]")))
	pagetest.Until(t, ctx, `document.querySelector("form.start > .wrong").textContent !== ""`)
}
