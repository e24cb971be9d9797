package api_test

import (
	"bytes"
	"context"
	"flag"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"tutti/internal/testutil"
	"tutti/internal/testutil/pagetest"
	"tutti/service"
)

var screenshots = flag.Bool("screenshots", false, "write docs/screenshots")

// TestScreenshots checks that the screenshot of every view is not blank. It checks both colour themes, and
// the width of a phone. With -screenshots it writes the screenshots to docs/screenshots.
func TestScreenshots(t *testing.T) {
	if !*screenshots {
		testutil.NeedAllCases(t)
	}
	f := emptyFake()
	f.add("c1", "before the upgrade", service.Done, 1, -1)
	f.add("c2", "after the upgrade", service.Done, 1.6, -1)
	f.add("c3", "night of MPICH 4.3", service.Running, 1, 560)
	f.samples = sampleFolders()[:1]
	home, ctx := browse(t, f)
	shots := []struct {
		name   string
		hash   string
		ready  string
		width  int64
		scheme string
	}{
		{"list-1440-light", "#/", `document.querySelectorAll("tbody tr").length === 3`, 1440, "light"},
		{"campaign-1440-light", "#/campaigns/c3", drawn, 1440, "light"},
		{"campaign-1440-dark", "#/campaigns/c3", drawn, 1440, "dark"},
		{"compare-1440-light", "#/compare/c1/c2", `document.querySelectorAll("td.c[data-point]").length > 100`, 1440, "light"},
		{"online-1440-light", "#/online", onlineDrawn, 1440, "light"},
		{"list-360-light", "#/", `document.querySelectorAll("tbody tr").length === 3`, 360, "light"},
		{"campaign-360-dark", "#/campaigns/c3", drawn, 360, "dark"},
		{"verdict-1440-dark", "#/campaigns/c2", drawn, 1440, "dark"},
		{"verdict-360-light", "#/campaigns/c2", drawn, 360, "light"},
	}
	for _, s := range shots {
		t.Run(s.name, func(t *testing.T) {
			pagetest.Do(t, ctx, chromedp.EmulateViewport(s.width, 900), scheme(s.scheme))
			visit(t, ctx, home+"/"+s.hash, s.ready)
			pagetest.Do(t, ctx, chromedp.Sleep(300*time.Millisecond))
			shot := testutil.Must(chromedp.Run(ctx, chromedp.FullScreenshot(100)))(t)
			checkPicture(t, shot, int(s.width))
			if *screenshots {
				write(t, s.name, shot)
			}
		})
	}
}

// drawn is a JavaScript expression that is true when the view of a campaign is complete.
const drawn = `document.querySelectorAll(".plot canvas").length === 2 && document.querySelectorAll("td.c[data-point]").length > 100 &&
	document.querySelectorAll(".bars li").length > 2 && document.querySelectorAll(".log li").length > 20`

func scheme(name string) chromedp.Action[chromedp.Void] { return media("prefers-color-scheme", name) }

func media(feature, value string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: feature, Value: value}},
		})
		return err
	})
}

// checkPicture checks that a screenshot has the given width and at least 12 colours.
func checkPicture(t *testing.T, shot []byte, width int) {
	t.Helper()
	picture := testutil.Must(png.Decode(bytes.NewReader(shot)))(t)
	if got := picture.Bounds().Dx(); got != width {
		t.Errorf("the picture is %d px wide, want %d", got, width)
	}
	colours := map[[3]uint32]bool{}
	for y := 0; y < picture.Bounds().Dy(); y += 7 {
		for x := 0; x < width; x += 7 {
			r, g, b, _ := picture.At(x, y).RGBA()
			colours[[3]uint32{r, g, b}] = true
		}
	}
	if len(colours) < 12 {
		t.Errorf("the picture has %d colours: want a page", len(colours))
	}
}

func write(t *testing.T, name string, shot []byte) {
	t.Helper()
	dir := filepath.Join("..", "..", "docs", "screenshots")
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), shot, 0o644)
	}
	if err != nil {
		t.Error(err)
	}
}
