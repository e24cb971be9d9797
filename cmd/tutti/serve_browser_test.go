package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/internal/testutil/pagetest"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/service"
)

// TestServePage starts a campaign in a browser and waits until the campaign has converged. It checks that
// the downloaded MPICH file selects the algorithms of the downloaded table, and that MPICH loads the file.
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

	_, curve := pagetest.Download(t, ctx, ".files a[download='curve.csv']")
	if !strings.HasPrefix(string(curve), "library,collective,round") {
		t.Errorf("curve.csv begins with %.60q", curve)
	}
	name, file := pagetest.Download(t, ctx, ".files a[download='mpich.json']")
	if name != "mpich.json" {
		t.Errorf("downloaded %s, want mpich.json", name)
	}
	replayFiles(t, ctx)
	loadFile(t, file)
}

// checkSelection compares the number of points in the page's map with the answer of the API.
func checkSelection(t *testing.T, ctx context.Context, home string) {
	t.Helper()
	shown := pagetest.Eval[int](t, ctx, `document.querySelectorAll("td.c[data-point]").length`)
	if want := 2 * len(selections(t, ctx)[0].Choices); shown != want {
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

// replayFiles checks that the downloaded files select the same algorithms as the downloaded table.
func replayFiles(t *testing.T, ctx context.Context) {
	t.Helper()
	var files []mpi.File
	for _, name := range []string{"mpich.json", "mpich.ch4.json"} {
		link := fmt.Sprintf(".files a[download='%s']", name)
		if pagetest.Eval[bool](t, ctx, fmt.Sprintf("document.querySelector(%q) !== null", link)) {
			_, content := pagetest.Download(t, ctx, link)
			files = append(files, mpi.File{Name: name, Content: content})
		}
	}
	_, table := pagetest.Download(t, ctx, ".files a[download='selection.csv']")
	rows := campaigntest.Selected(t, table, "mpich")
	selected := map[coll.Algorithm]bool{}
	for _, r := range rows {
		selected[r.Options[0].Algorithm] = true
	}
	if len(selected) < 2 {
		t.Errorf("%v is selected everywhere", selected)
	}
	lib, cat, err := libraries.Release("mpich", "4.0.2")
	testutil.NoError(t, err)
	build := testutil.Must(lib.Open(cat, ""))(t)
	plan := testutil.Must(build.Fit(rows, mpi.FitOptions{}))(t)
	x := testutil.Must(build.Export(plan, "/tuned"))(t)
	x.Files = files
	if err := build.Replay(x, plan, rows); err != nil {
		t.Error(err)
	}
}

// loadFile runs collectives with an MPICH that loads the selection file. It checks the results of the
// collectives.
func loadFile(t *testing.T, file []byte) {
	t.Run("library", func(t *testing.T) {
		prog := testutil.BuildCollectives(t, testutil.Toolchain{Compiler: "mpicc.mpich", Launcher: "mpirun.mpich", Install: "mpich libmpich-dev"})
		path := filepath.Join(t.TempDir(), "mpich.json")
		testutil.NoError(t, os.WriteFile(path, file, 0o666))
		env := []string{"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=" + path}
		testutil.CheckAllRight(t, testutil.RunProgram(t, env, "mpirun.mpich", "-n", "4", prog, "check", "64"))
		// MPICH fails if the content of the file is not a valid tree. This failure proves that MPICH reads
		// the file.
		testutil.NoError(t, os.WriteFile(path, []byte(`{"collective=bcast":{"no such":{}}}`), 0o666))
		if out := testutil.RunProgram(t, env, "mpirun.mpich", "-n", "2", prog, "check", "64"); testutil.AllRight(out) {
			t.Errorf("the library runs with a file that is no tree, so it did not read the other:\n%s", out)
		}
	})
}
