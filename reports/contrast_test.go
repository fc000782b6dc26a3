// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	themeBlocks = regexp.MustCompile(`(?s)\{color-scheme:(light|dark);(.*?)\}`)
	colorTokens = regexp.MustCompile(`--([a-z0-9]+):#([0-9a-f]{3,6})`)
)

// TestColoursCanBeRead: text has 4.5:1 on every ground it stands on, marks have 3:1.
func TestColoursCanBeRead(t *testing.T) {
	style, err := assets.ReadFile("assets/report.css")
	if err != nil {
		t.Fatal(err)
	}
	themes := themeBlocks.FindAllStringSubmatch(string(style), -1)
	if len(themes) != 3 {
		t.Fatalf("%d themes, want light and twice dark", len(themes))
	}
	if themes[1][2] != themes[2][2] {
		t.Error("dark by the system and dark by choice are not the same")
	}
	for _, theme := range themes {
		colors := map[string]float64{}
		for _, token := range colorTokens.FindAllStringSubmatch(theme[2], -1) {
			colors[token[1]] = luminance(t, token[2])
		}
		needs(t, theme[1], colors, 4.5, "ink ink2 ink3 link pass viol inc", "bg bg2")
		needs(t, theme[1], colors, 4.5, "ink ink2 ink3 viol", "violbg")
		needs(t, theme[1], colors, 4.5, "ink ink2 inc", "incbg")
		needs(t, theme[1], colors, 4.5, "ink", "fw")
		needs(t, theme[1], colors, 3, "ctl fl blue grey teal verm yell pink purp q1 q6", "bg")
	}
}

func needs(t *testing.T, theme string, colors map[string]float64, least float64, fronts, grounds string) {
	t.Helper()
	for _, front := range strings.Fields(fronts) {
		for _, ground := range strings.Fields(grounds) {
			a, known := colors[front]
			b, also := colors[ground]
			if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); !known || !also || ratio < least {
				t.Errorf("%s: --%s on --%s has a contrast of %.2f, want %.1f", theme, front, ground, ratio, least)
			}
		}
	}
}

// luminance is the relative luminance of a colour, as WCAG 2 defines it.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		part := float64(n) / 255
		if part <= 0.04045 {
			sum += weight * part / 12.92
			continue
		}
		sum += weight * math.Pow((part+0.055)/1.055, 2.4)
	}
	return sum
}
