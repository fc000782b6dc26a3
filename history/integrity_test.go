// SPDX-License-Identifier: Apache-2.0

package history

import "testing"

func TestFindingIsOneLine(t *testing.T) {
	for _, row := range []struct {
		finding Finding
		want    string
	}{
		{Finding{File: "000-a.seg", NotClosed: true, Recovered: 17}, "000-a.seg: not closed, 17 events recovered from its open block"},
		{Finding{File: "000-a.seg", NotClosed: true, Torn: 3, Missing: 4096}, "000-a.seg: not closed, 3 bytes torn off, at most 4096 events missing"},
		{Finding{File: "names.seg", Damaged: 1, Unnamed: 2}, "names.seg: 1 parts damaged, 2 names missing"},
	} {
		if got := row.finding.String(); got != row.want {
			t.Errorf("got %q, want %q", got, row.want)
		}
	}
}
