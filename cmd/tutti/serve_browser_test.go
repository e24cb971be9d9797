package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"

	"tutti/internal/testutil"
	"tutti/internal/testutil/pagetest"
	"tutti/service"
)

// TestServePage starts a campaign in a browser and waits until it has converged. It checks the selection on the
// page and the downloaded files.
func TestServePage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	smallService(t, dir, "")
	s := serve(t, dir)
	t.Cleanup(func() {
		if code := s.end(syscall.SIGTERM); code != codeDone {
			t.Errorf("tutti serve: exit code %d", code)
		}
	})
	home := s.address
	t.Cleanup(func() {
		if err := pagetest.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx := pagetest.Browse(t, home)
	pagetest.Do(t, ctx, chromedp.Navigate(home+"/"), chromedp.WaitVisible(chromedp.CSS("form.start")),
		chromedp.SendKeys(chromedp.CSS("#name"), "<b>from the page</b>"), chromedp.Click(chromedp.CSS("form.start button[type=submit]")))
	pagetest.Until(t, ctx, `location.hash.startsWith("#/campaigns/")`)
	pagetest.Until(t, ctx, `document.querySelectorAll(".plot canvas").length === 2`)
	pagetest.Until(t, ctx, `document.querySelector(".pill.done")?.textContent.includes("converged")`)
	if got := pagetest.Eval[string](t, ctx, `document.querySelector("h1").textContent`); got != "<b>from the page</b>" {
		t.Errorf("heading %q", got)
	}
	pagetest.Until(t, ctx, `document.querySelectorAll("td.c[data-point]").length > 20 && document.querySelectorAll(".bars li").length > 1`)
	pagetest.Until(t, ctx, `document.getElementById("link").textContent === "complete"`)
	checkSelection(t, ctx, home)

	for _, name := range []string{"curve.csv", "mpich.json"} {
		saved, content := pagetest.Download(t, ctx, fmt.Sprintf(".files a[download='%s']", name))
		files := testutil.Must(filepath.Glob(filepath.Join(dir, "state", "campaigns", "*", "results", name)))(t)
		if saved != name || len(files) != 1 || !bytes.Equal(content, readFile(t, files[0])) {
			t.Errorf("downloaded %s as %s: %.60q, want the content of %q", name, saved, content, files)
		}
	}
}

// checkSelection compares the number of points in the page's map with the answer of the API.
func checkSelection(t *testing.T, ctx context.Context, home string) {
	t.Helper()
	shown := pagetest.Eval[int](t, ctx, `document.querySelectorAll("td.c[data-point]").length`)
	if want := 2 * len(selections(t, ctx)[0].Cells); shown != want {
		t.Errorf("%d cells, want %d: tuned and default at every point", shown, want)
	}
}

// selections requests the selection from the API, in the browser.
func selections(t *testing.T, ctx context.Context) []service.Selection {
	t.Helper()
	text := pagetest.Eval[string](t, ctx, `fetch("api/v1/campaigns/" + location.hash.split("/")[2] + "/selection").then((r) => r.text())`)
	var answer struct{ Selections []service.Selection }
	if err := json.Unmarshal([]byte(text), &answer); err != nil || len(answer.Selections) == 0 {
		t.Fatalf("selections: %v in %.200s", err, text)
	}
	return answer.Selections
}
