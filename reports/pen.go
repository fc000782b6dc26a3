// SPDX-License-Identifier: Apache-2.0

package reports

// columnWidth is how wide a column of a timeline is in the stretched drawing.
const columnWidth = 10

// pen writes the data of an SVG path with few digits.
type pen struct{ b []byte }

func (p *pen) String() string { return string(p.b) }

func (p *pen) to(command byte, x, y float64) {
	p.b = append(p.b, command)
	p.number(x)
	p.b = append(p.b, ' ')
	p.number(y)
}

func (p *pen) across(x float64) { p.one('H', x) }

func (p *pen) down(y float64) { p.one('V', y) }

func (p *pen) close() { p.b = append(p.b, 'Z') }

func (p *pen) one(command byte, v float64) {
	p.b = append(p.b, command)
	p.number(v)
}

func (p *pen) number(v float64) {
	p.b = append(p.b, decimals(v, 1)...)
}

// line goes through the middle of its columns and has a gap where nothing was measured. A
// column alone is a stroke of its width, so that one sample can be seen.
func line(values []*int64, y scale) string {
	var p pen
	for _, run := range stretches(values) {
		if run.to-run.from == 1 {
			p.to('M', columnWidth*float64(run.from), y(float64(*values[run.from])))
			p.across(columnWidth * float64(run.to))
			continue
		}
		command := byte('M')
		for i := run.from; i < run.to; i++ {
			p.to(command, columnWidth*(float64(i)+0.5), y(float64(*values[i])))
			command = 'L'
		}
	}
	return p.String()
}

// steps is a line that keeps its value through each column.
func steps(values []*int64, y scale) string {
	var p pen
	for _, run := range stretches(values) {
		p.to('M', columnWidth*float64(run.from), y(float64(*values[run.from])))
		p.across(columnWidth * float64(run.from+1))
		for i := run.from + 1; i < run.to; i++ {
			p.down(y(float64(*values[i])))
			p.across(columnWidth * float64(i+1))
		}
	}
	return p.String()
}

// band fills the columns between two series; a nil lower one is the bottom of the panel.
func band(lower, upper []*int64, y scale, bottom float64) string {
	var p pen
	for i, high := range upper {
		if high == nil || lower != nil && (i >= len(lower) || lower[i] == nil) {
			continue
		}
		low := bottom
		if lower != nil {
			low = y(float64(*lower[i]))
		}
		p.rect(i, y(float64(*high)), low)
	}
	return p.String()
}

func (p *pen) rect(column int, top, bottom float64) {
	if bottom-top < 0.05 {
		return
	}
	p.to('M', columnWidth*float64(column), bottom)
	p.down(top)
	p.across(columnWidth * float64(column+1))
	p.down(bottom)
	p.close()
}

// stack fills the columns of counts that stand on others; base is raised by what is drawn.
func stack(values []*int64, base []float64, y scale) string {
	var p pen
	for i, v := range values {
		if v == nil || *v <= 0 || i >= len(base) {
			continue
		}
		p.rect(i, y(base[i]+float64(*v)), y(base[i]))
		base[i] += float64(*v)
	}
	return p.String()
}

// stretch is columns [from, to) without a gap.
type stretch struct{ from, to int }

func stretches(values []*int64) []stretch {
	var all []stretch
	for i := 0; i < len(values); i++ {
		if values[i] == nil {
			continue
		}
		from := i
		for i < len(values) && values[i] != nil {
			i++
		}
		all = append(all, stretch{from, i})
	}
	return all
}
