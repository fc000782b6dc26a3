// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"fmt"
	"html/template"
	"io"
)

// Spacetime is a run in space and time: lanes side by side, time downwards, a mark for each
// event, and the life-line of each message from mark to mark. It is plain data of whoever has
// the history.
type Spacetime struct {
	Title string
	// About is a sentence under the title; Replay the command that runs it again.
	About, Replay string
	Lanes         []string
	Marks         []SpacetimeMark
	// Left is how many marks are left out at the end.
	Left int
}

// SpacetimeMark is one event. Kind is message, bad, born, left or killed (of the lane), or other.
type SpacetimeMark struct {
	AtNs int64
	Lane int
	ID   string
	Kind string
	Text string
}

// The rows of a drawing are as high as a line of text, so that marks stand beside their words.
const (
	spaceRow    = 24
	spaceColors = 8
)

// spacetimeView is a page: three columns with a row for each mark.
type spacetimeView struct {
	*Spacetime
	Height int
	Heads  []spaceHead
	Lines  []spaceLine
	Dots   []spaceDot
	Rows   []spaceText
	More   string
}

type spaceHead struct {
	X, Name string
	Number  int
}

// spaceLine is a stretch of a lane or of a life-line.
type spaceLine struct {
	Class, X1, X2 string
	Y1, Y2        int
}

type spaceDot struct {
	Class, X string
	Y        int
	Cross    bool
}

type spaceText struct {
	At, Lane, Text, Class string
	Number                int // of the lane
}

// SpacetimeHTML writes one page that stands alone: it loads nothing and has no script.
func SpacetimeHTML(w io.Writer, s *Spacetime) error {
	pages, err := template.New("spacetime.html").Funcs(functions()).ParseFS(assets, "assets/spacetime.html")
	if err != nil {
		return fmt.Errorf("spacetime: %w", err)
	}
	if err := pages.Execute(w, newSpacetime(s)); err != nil {
		return fmt.Errorf("spacetime: %w", err)
	}
	return nil
}

func newSpacetime(s *Spacetime) *spacetimeView {
	v := &spacetimeView{Spacetime: s, Height: max(1, len(s.Marks)) * spaceRow}
	for i, name := range s.Lanes {
		v.Heads = append(v.Heads, spaceHead{v.x(i), name, i + 1})
		v.lane(i)
	}
	v.lives()
	for i := range s.Marks {
		v.mark(i)
	}
	if s.Left > 0 {
		v.More = plural(s.Left, "more event is", "more events are") + " left out."
	}
	return v
}

// x is the middle of a lane.
func (v *spacetimeView) x(lane int) string {
	return percent((float64(lane) + 0.5) / float64(max(1, len(v.Lanes))))
}

func spaceY(row int) int { return row*spaceRow + spaceRow/2 }

// lane draws a lane from top to bottom, dashed while its worker is dead.
func (v *spacetimeView) lane(lane int) {
	from, class := 0, "lane"
	for i := range v.Marks {
		m := &v.Marks[i]
		if m.Lane != lane || m.Kind != "born" && m.Kind != "left" && m.Kind != "killed" {
			continue
		}
		if m.Kind == "born" && class == "lane" {
			class = "lane gone" // nobody was there before
		}
		v.line(class, lane, lane, from, spaceY(i))
		from, class = spaceY(i), "lane"
		if m.Kind != "born" {
			class = "lane gone"
		}
	}
	v.line(class, lane, lane, from, v.Height)
}

// lives draws each message from one mark to its next.
func (v *spacetimeView) lives() {
	last, color := map[string]int{}, map[string]int{}
	for i := range v.Marks {
		m := &v.Marks[i]
		if m.ID == "" {
			continue
		}
		if before, known := last[m.ID]; known {
			v.line("life "+spaceColor(color[m.ID]), v.Marks[before].Lane, m.Lane, spaceY(before), spaceY(i))
		} else {
			color[m.ID] = len(color)
		}
		last[m.ID] = i
		v.Dots = append(v.Dots, spaceDot{Class: spaceColor(color[m.ID]), X: v.x(m.Lane), Y: spaceY(i)})
	}
}

func spaceColor(n int) string { return "m" + itoa(n%spaceColors) }

func (v *spacetimeView) line(class string, from, to, y1, y2 int) {
	v.Lines = append(v.Lines, spaceLine{class, v.x(from), v.x(to), y1, y2})
}

// mark has the words of one mark, and a cross where something broke.
func (v *spacetimeView) mark(i int) {
	m := &v.Marks[i]
	row := spaceText{At: Duration(m.AtNs), Text: m.Text, Number: m.Lane + 1}
	if m.Lane >= 0 && m.Lane < len(v.Lanes) {
		row.Lane = v.Lanes[m.Lane]
	}
	switch m.Kind {
	case "bad", "killed":
		row.Class = "bad"
		v.Dots = append(v.Dots, spaceDot{Class: "bad", X: v.x(m.Lane), Y: spaceY(i), Cross: true})
	case "message":
	default:
		v.Dots = append(v.Dots, spaceDot{Class: "other", X: v.x(m.Lane), Y: spaceY(i)})
	}
	v.Rows = append(v.Rows, row)
}
