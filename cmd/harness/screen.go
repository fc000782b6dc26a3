// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/internal/suite"
	"github.com/seed-720a3c77/harness/reports"
	"github.com/seed-720a3c77/harness/runner"
)

// screen shows how a suite goes: one live block on a terminal, plain lines elsewhere.
// Its figures are counters, not verdicts.
type screen struct {
	w     io.Writer
	live  bool
	quiet bool
	done  chan struct{}

	mu       sync.Mutex
	cell     suite.Cell
	progress *runner.Progress
	since    time.Time
	drawn    bool
}

const redraw = 200 * time.Millisecond

func newScreen(w io.Writer, quiet bool) *screen {
	s := &screen{w: w, quiet: quiet, done: make(chan struct{})}
	if f, ok := w.(*os.File); ok && !quiet {
		s.live = term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
	}
	if s.live {
		go s.loop()
	}
	return s
}

func (s *screen) loop() {
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.draw()
		case <-s.done:
			return
		}
	}
}

// Begin remembers the cell under way.
func (s *screen) Begin(c suite.Cell, p *runner.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cell, s.progress, s.since = c, p, time.Now()
}

// End prints the cell's line where there is no live block.
func (s *screen) End(c suite.Cell, result *checkers.Result, not *checkers.NotRun) {
	s.mu.Lock()
	defer s.mu.Unlock()
	took := time.Since(s.since).Round(time.Millisecond)
	s.progress = nil
	if s.quiet || s.live || result == nil {
		return
	}
	fmt.Fprintf(s.w, "%s %d/%d %s: %s in %s\n", time.Now().Format(time.TimeOnly), c.Number, c.Of, c.Name(), reports.Word(result), took)
}

// Say prints a line above the block.
func (s *screen) Say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	fmt.Fprintln(s.w, text)
}

func (s *screen) draw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.progress == nil {
		return
	}
	s.erase()
	p := s.progress
	fmt.Fprintf(s.w, "%d/%d %s  %s  %s%s\n", s.cell.Number, s.cell.Of, s.cell.Name(), p.Phase(), time.Since(s.since).Round(time.Second), fault(p))
	fmt.Fprintf(s.w, "  sent %d of %d, acked %d, unknown %d   delivered %d, handled %d, failed %d, settled %d\n",
		p.Published.Load(), p.Planned.Load(), p.Acked.Load(), p.Unknown.Load(), p.Delivered.Load(), p.Handled.Load(), p.Failed.Load(), p.Settled.Load())
	s.drawn = true
}

func fault(p *runner.Progress) string {
	if f := p.Fault(); f != "" {
		return "  fault: " + f
	}
	return ""
}

// erase takes the block of two lines away.
func (s *screen) erase() {
	if s.drawn {
		fmt.Fprint(s.w, "\x1b[2A\x1b[0J")
		s.drawn = false
	}
}

// Close ends the block.
func (s *screen) Close() {
	close(s.done)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
}
