// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/history/foreign"
)

// TestLogsAreTheSameWhenImported writes every history of a log as Jepsen would have, and
// wants the importer and the rules to find in it what they find in the case.
func TestLogsAreTheSameWhenImported(t *testing.T) {
	all, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for i := range all {
		c := &all[i]
		var opt struct{ WW bool }
		if err := c.field("opt", &opt); err != nil {
			t.Fatal(err)
		}
		if c.Kind != "log" || opt.WW {
			continue
		}
		compared++
		rows, err := c.rows()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := findingsIn(t, importedLog(t, rows)), findingsIn(t, toldLog(t, rows)); !slices.Equal(got, want) {
			t.Errorf("%s:\nimported %q\n    case %q", c.ID, got, want)
		}
	}
	if compared < 20 {
		t.Errorf("%d histories of logs were compared", compared)
	}
}

func toldLog(t *testing.T, rows []row) *history.Run {
	told, err := tellLog("case", false)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if err := told.row(r); err != nil {
			t.Fatal(err)
		}
	}
	run, err := told.run()
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func importedLog(t *testing.T, rows []row) *history.Run {
	var text strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&text, "{:index %s, :time %s, :process %s, :type :%s, :f :%s, :value %s}\n",
			word(r.at(0)), word(r.at(0)), word(r.at(1)), r.text(2), r.text(3), asEDN(r.at(4)))
	}
	format, err := foreign.Named("jepsen")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	if err := format.Read([]foreign.Input{{Name: "history.edn", ReadSeeker: strings.NewReader(text.String())}}, dir); err != nil {
		t.Fatalf("%v in\n%s", err, text.String())
	}
	run, err := history.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// asEDN writes a value of JSON as Jepsen would have: words as keywords.
func asEDN(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case string:
		return ":" + v
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = asEDN(v[i])
		}
		return "[" + strings.Join(parts, " ") + "]"
	case map[string]any:
		var parts []string
		for _, key := range sortedNames(v) {
			parts = append(parts, ":"+key+" "+asEDN(v[key]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return word(v)
}

func findingsIn(t *testing.T, run *history.Run) (all []string) {
	report, err := checkers.ExactLog(run)
	if err != nil {
		t.Fatal(err)
	}
	for i := range report.Findings {
		f := &report.Findings[i]
		place := strings.TrimPrefix(strings.TrimSuffix(f.Place, "/0"), "log/")
		all = append(all, fmt.Sprintf("%s %t %s offset %d %v index %d of %d delta %d ops %v writer %d reader %d",
			f.Rule, f.Internal, place, f.Offset, f.Offsets, f.Index, f.MaxIndex, f.Delta, f.Ops, f.Writer, f.Reader))
	}
	slices.Sort(all)
	return all
}
