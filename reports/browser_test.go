// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/internal/testenv"
)

// newBrowser starts one headless browser for all pages of a test.
func newBrowser(t *testing.T) context.Context {
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(testenv.Chromium(t)), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("disable-background-networking", true), chromedp.WSURLReadTimeout(time.Minute))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(allocator)
	t.Cleanup(end)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start the browser: %v", err)
	}
	return ctx
}

// tab is a page with everything that it complained about or asked for.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	problems []string
}

// open shows results; with or without script, at a width.
func open(t *testing.T, browser context.Context, results *checkers.Results, width int64, script bool) *tab {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, []byte(render(t, "html", results)), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, end := chromedp.NewContext(browser)
	t.Cleanup(end)
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	t.Cleanup(stop)
	p := &tab{t: t, ctx: ctx}
	file := (&url.URL{Scheme: "file", Path: path}).String()
	p.run(command(network.Enable, network.EnableParams{}), command(log.Enable, cdp.Empty{}), chromedp.EmulateViewport(width, 900),
		command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !script}))
	if err := chromedp.Listen(ctx, func(event any) { p.note(event, file) }); err != nil {
		t.Fatal(err)
	}
	p.run(chromedp.Navigate(file))
	return p
}

// command is a step that sends one command.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

func (p *tab) note(event any, file string) {
	problem := ""
	switch e := event.(type) {
	case *cdpruntime.EventConsoleAPICalled:
		problem = "console: " + string(e.Type)
	case *cdpruntime.EventExceptionThrown:
		problem = "exception: " + e.ExceptionDetails.Text
	case *log.EventEntryAdded:
		problem = "log: " + e.Entry.Text
	case *network.EventRequestWillBeSent:
		if e.Request.URL != file && !strings.HasPrefix(e.Request.URL, "data:") {
			problem = "request: " + e.Request.URL
		}
	case *page.EventJavascriptDialogOpening:
		problem = "dialog: " + e.Message
	}
	if problem != "" {
		p.mu.Lock()
		p.problems = append(p.problems, problem)
		p.mu.Unlock()
	}
}

func (p *tab) run(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatalf("browser: %v", err)
	}
}

// is evaluates an expression of the page.
func is[T comparable](p *tab, expression string, want T) {
	p.t.Helper()
	got, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	if got != want {
		p.t.Errorf("%s is %v, want %v", expression, got, want)
	}
}

// quiet fails if the page complained, or asked for anything.
func (p *tab) quiet() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, problem := range p.problems {
		p.t.Error(problem)
	}
}

const (
	crash   = "#run-crash-kafka"
	visible = `[...document.querySelectorAll(%q)].filter(e => e.checkVisibility()).length`
)

// shown is how many elements can be seen.
func shown(p *tab, query string, want int) {
	p.t.Helper()
	is(p, fmt.Sprintf(visible, query), want)
}

func TestBrowserShowsTheMatrixAndThePlots(t *testing.T) {
	browser := newBrowser(t)
	for name, script := range map[string]bool{"with script": true, "without script": false} {
		t.Run(name, func(t *testing.T) {
			p := open(t, browser, sample(), 1400, script)
			shown(p, ".mx .cell", 15)
			shown(p, ".mx a.c", 6)
			shown(p, ".run", 0)
			p.run(chromedp.Click(`a.c[href="` + crash + `"]`))
			shown(p, ".run", 1)
			shown(p, ".suite", 0)
			shown(p, crash+" .stack .panel:not(.first):not(.last) svg.pl", 5)
			shown(p, crash+" .stack .bg .fw", 1)
			shown(p, crash+" .curve path.ln", 6)
			shown(p, crash+" .life > svg .efx", 2)
			shown(p, crash+" .led", 2)
			shown(p, crash+" .finding", 11)
			is(p, `document.querySelector("`+crash+`").innerText.includes("harness explain crash.kafka p0/17")`, true)
			p.run(chromedp.Click(crash + ` .toc a[href$="-ledger"]`))
			shown(p, ".run", 1)
			p.run(chromedp.Click(crash + ` .crumbs a`))
			shown(p, ".suite", 1)
			shown(p, ".run", 0)
			controls := 0
			if script {
				controls = 1
			}
			shown(p, ".theme", controls)
			p.quiet()
		})
	}
}

func TestBrowserTimelineByKeyboard(t *testing.T) {
	p := open(t, newBrowser(t), suiteOf(violated()), 1400, true)
	const readout = `document.querySelector(".at").textContent`
	const view = `document.querySelector(".stack .z").getAttribute("viewBox")`
	p.run(chromedp.Focus(".stack"), chromedp.KeyEvent(kb.Home))
	is(p, readout, "t = 0\u00a0s")
	is(p, `document.querySelector("[data-s='0']").textContent`, "1,000/s")
	p.run(chromedp.KeyEvent(kb.ArrowRight))
	is(p, readout, "t = 0.5\u00a0s, in f1")
	is(p, `document.querySelector(".cur").checkVisibility()`, true)
	is(p, `document.querySelector(".said").textContent.includes("session died 0")`, true)
	is(p, view, "0 0 60 90")
	p.run(chromedp.KeyEvent("+"))
	is(p, view+` !== "0 0 60 90"`, true)
	p.run(chromedp.KeyEvent("0"))
	is(p, view, "0 0 60 90")
	is(p, readout, "")
	is(p, `document.querySelector("[data-s='0']").textContent`, "max 1,000")
	p.quiet()
}

func TestBrowserFiltersAndTheme(t *testing.T) {
	p := open(t, newBrowser(t), sample(), 1400, true)
	p.run(chromedp.Focus(`.chip[data-v="violated"]`), chromedp.KeyEvent(kb.Enter))
	is(p, `document.querySelectorAll(".mx .cell:not(.off)").length`, 1)
	shown(p, ".mx .gr", 1)
	p.run(chromedp.Click(`.chip[data-v="violated"]`))
	shown(p, ".mx .gr", 5)
	const ground = `getComputedStyle(document.body).backgroundColor`
	is(p, ground, "rgb(255, 255, 255)")
	p.run(chromedp.Click(".suite .theme"), chromedp.Click(".suite .theme"))
	is(p, ground, "rgb(16, 19, 22)")
	p.quiet()
}

// TestBrowserNothingIsWiderThanAPhone: no page scrolls sideways, whatever stands in it.
func TestBrowserNothingIsWiderThanAPhone(t *testing.T) {
	browser := newBrowser(t)
	long := strings.Repeat("unbreakable", 40)
	for name, results := range map[string]*checkers.Results{"sample": sample(), "one run": suiteOf(violated()), "long words": poisoned(long)} {
		for _, width := range []int64{320, 390, 768, 1440} {
			t.Run(fmt.Sprintf("%s at %d", name, width), func(t *testing.T) {
				p := open(t, browser, results, width, true)
				for i := range append(results.Runs, checkers.Result{}) {
					p.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = [...document.querySelectorAll(".run")].map(e => e.id)[%d] || ""`, i)))
					is(p, `document.documentElement.scrollWidth`, int(width))
				}
				p.quiet()
			})
		}
	}
}

func TestBrowserRunsNothingThatAMessageSays(t *testing.T) {
	browser := newBrowser(t)
	for name, results := range map[string]*checkers.Results{"suite": poisoned(hostile), "one run": suiteOf(poisoned(hostile).Runs[2])} {
		t.Run(name, func(t *testing.T) {
			p := open(t, browser, results, 1400, true)
			is(p, `window.owned === undefined`, true)
			is(p, `document.querySelectorAll("img, iframe, a[href^='javascript'], a[href^='http']").length`, 0)
			is(p, `document.querySelectorAll("script:not([type])").length`, 1)
			is(p, `document.body.textContent.includes("<img src=x onerror=window.owned=1>")`, true)
			p.quiet()
		})
	}
}

func TestBrowserEmptyPages(t *testing.T) {
	browser := newBrowser(t)
	for name, results := range map[string]*checkers.Results{"no runs": {}, "zero run": suiteOf(checkers.Result{}), "zero runs": suiteOf(checkers.Result{}, checkers.Result{})} {
		t.Run(name, func(t *testing.T) {
			p := open(t, browser, results, 390, true)
			is(p, `[...document.querySelectorAll(".pl, .z, .led, .lg")].length`, 0)
			is(p, `document.querySelectorAll(".empty").length > 0`, true)
			is(p, `document.documentElement.scrollWidth`, 390)
			p.quiet()
		})
	}
}
