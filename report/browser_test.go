package report

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"tutti/internal/testutil/pagetest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := pagetest.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "browser:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func TestModules(t *testing.T) { pagetest.CheckModules(t, "assets/*.js", "jstest/") }

// serve serves a report and returns its address. The test fails if the page loads other files or logs an
// error on the console.
func serve(t *testing.T, f Facts) string {
	t.Helper()
	page := []byte(writtenHTML(t, f))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/favicon.ico" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		http.ServeContent(w, r, "report.html", time.Time{}, bytes.NewReader(page))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

const drawn = `document.querySelectorAll("td.c[data-point]").length > 20 && document.querySelectorAll(".plot canvas").length >= 2`

// openAll is a script that opens every part of the page whose content is drawn only when it is opened.
const openAll = `(() => { for (const d of document.querySelectorAll("details")) d.open = true; })()`

// TestPageInBrowser checks that the script draws maps, charts and the parts that are opened. It also checks
// that a problem can be selected.
func TestPageInBrowser(t *testing.T) {
	f := fullFacts()
	live := liveFacts()
	f.Verification, f.Excluded, f.MachineTime, f.Environments = live.Verification, live.Excluded, live.MachineTime, live.Environments
	home := serve(t, f)
	ctx := pagetest.Browse(t, home)
	pagetest.Do(t, ctx, chromedp.Navigate(home+"/"))
	pagetest.Until(t, ctx, drawn)
	if n := pagetest.Eval[int](t, ctx, `document.querySelectorAll("*").length`); n > 5000 {
		t.Errorf("%d elements, want at most 5000", n)
	}
	pagetest.Eval[any](t, ctx, openAll)
	pagetest.Until(t, ctx, `document.querySelectorAll(".problem .charts canvas").length > 5 && document.querySelector("#verification .charts canvas") !== null`)
	text := pagetest.Eval[string](t, ctx, `document.querySelector("main").innerText.replaceAll("\u00a0", " ")`)
	wantTexts(t, text,
		"binomial at 4×2 64 KiB", "against linear, expected loss 7 %, expected gain 0.4 %", "expected gain 0.00032 %",
		"Compared with the earlier campaign monday", "101 % slower", "no change beyond noise", "not measured", "20 % less time",
		"allreduce 4x2 64KiB: 3.3 times the mean", "ties\n1 of 12", "gp", "measured twice\n19", "default kept\n3 of 12 (25 %)",
		"loss at held-out points: gp 0.8 %, forest 4.9 % (best of 20), ± 1.1 %", "not guarded", "killed by signal 11", "as fast",
	)
	pagetest.Do(t, ctx, chromedp.Navigate(home+"/#openmpi-bcast"))
	pagetest.Until(t, ctx, `document.querySelector(".problem h2").textContent === "openmpi bcast" && document.querySelector("[aria-pressed=true]").textContent === "openmpi bcast"`)
	pagetest.Eval[any](t, ctx, openAll)
	pagetest.Until(t, ctx, `[...document.querySelectorAll(".problem td")].some((c) => c.textContent === "pruned")`) // the hyperparameter study
	for _, width := range []int64{360, 768, 1440} {
		pagetest.Do(t, ctx, chromedp.EmulateViewport(width, 800))
		pagetest.Until(t, ctx, fmt.Sprintf(`document.documentElement.scrollWidth <= %d`, width))
	}
}

// TestHostileAndAbsentFactsInBrowser checks that names with HTML appear as text. Missing facts must cause
// no errors in the script.
func TestHostileAndAbsentFactsInBrowser(t *testing.T) {
	for _, f := range []Facts{hostileFacts(), {}, {Problems: []ProblemFacts{{Library: "mpich", Collective: "bcast"}}}} {
		home := serve(t, f)
		ctx := pagetest.Browse(t, home)
		pagetest.Do(t, ctx, chromedp.Navigate(home+"/"))
		pagetest.Eval[any](t, ctx, openAll)
		if pagetest.Eval[bool](t, ctx, `window.harmed === 1 || document.querySelector("main img, main script") !== null`) {
			t.Error("a name became markup")
		}
	}
}

// TestPageWithoutScript checks that, without JavaScript, the page shows the chart and the selection of
// every problem.
func TestPageWithoutScript(t *testing.T) {
	home := serve(t, smallFacts())
	ctx := pagetest.Browse(t, home)
	pagetest.Do(t, ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}), chromedp.Navigate(home+"/"))
	pagetest.Until(t, ctx, `document.querySelectorAll(".static svg").length === 4 && document.querySelectorAll(".static pre").length === 4`)
	if pagetest.Eval[bool](t, ctx, `document.documentElement.scrollWidth > 1440`) {
		t.Error("the page is wider than the window")
	}
}
