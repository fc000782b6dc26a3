// SPDX-License-Identifier: Apache-2.0

package conformance

import "testing"

func TestCases(t *testing.T) {
	all, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		c := &all[i]
		t.Run(c.ID, func(t *testing.T) {
			text, err := c.Judge(Rules{})
			if err != nil {
				t.Fatal(err)
			}
			if text != "" {
				t.Error(text)
			}
		})
	}
}
