// SPDX-License-Identifier: Apache-2.0

package spawn

import (
	"strings"
	"testing"
)

func TestTheLastIsKept(t *testing.T) {
	long := strings.Repeat("x", tailSize)
	for _, c := range []struct {
		writes []string
		last   int
		want   string
	}{
		{nil, tailSize, ""},
		{[]string{"a\n", "b\n"}, tailSize, "a\nb"},
		{[]string{"ab", "cd"}, 3, "...bcd"},
		{[]string{long}, tailSize, long},
		{[]string{long, "yz"}, tailSize, "..." + long[2:] + "yz"},
		{[]string{"a", long + strings.Repeat("y", tailSize)}, tailSize, "..." + strings.Repeat("y", tailSize)},
		{[]string{long + long, "the end\xff\n"}, 11, "...xxthe end?"},
	} {
		var out tail
		for _, w := range c.writes {
			if n, err := out.Write([]byte(w)); n != len(w) || err != nil {
				t.Errorf("%d, %v", n, err)
			}
		}
		if got := out.last(c.last); got != c.want {
			t.Errorf("%.40q, want %.40q", got, c.want)
		}
		if len(out.kept) > tailSize {
			t.Errorf("%d bytes are kept", len(out.kept))
		}
	}
}
