// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"
	"testing"
)

// TestBadCasesAreRefused: a line that is no case is an error that names the line, one whose
// rows are not of its kind a bad result; neither is a case that was judged.
func TestBadCasesAreRefused(t *testing.T) {
	for line, want := range map[string]string{
		`{"id":"x"`:                             "line 1: not a case",
		`{"kind":"queue","expect":{}}`:          "line 1: a case wants an id and a kind",
		`{"id":"x","kind":"amqq","expect":{}}`:  `line 1: x: unknown kind "amqq"; did you mean "amqp"?`,
		`{"id":"x","kind":"queue","h":[]}`:      "line 1: x: a case wants something that it expects",
		"\n" + `{"id":"x","kind":"queue","h":1`: "line 2: not a case",
	} {
		if _, err := Read(strings.NewReader(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

func TestBadRowsAreTold(t *testing.T) {
	for line, want := range map[string]string{
		`{"id":"x","kind":"amqp","h":[["pub","m"],["delivr","c","m"]],"expect":{"left":[]}}`: `row 2: not of the form of its kind: unknown row "delivr"; did you mean "deliver"?`,
		`{"id":"x","kind":"seq","h":[["recv",1,"one"]],"expect":{"violations":[]}}`:          "want a whole number",
		`{"id":"x","kind":"queue","h":{},"expect":{"valid":true}}`:                           "h: json",
	} {
		cases, err := Read(strings.NewReader("\n" + line))
		if err != nil {
			t.Fatal(err)
		}
		_, apart := RunCases(cases)
		if len(apart) != 1 || apart[0].Bad != 2 || !strings.Contains(apart[0].Text, want) {
			t.Errorf("%s: %+v, want line 2 and %q", line, apart, want)
		}
	}
}

// TestFilesOfOthersAreRead: with a byte order mark, ends of lines of another system, empty
// lines, fields that nobody knows.
func TestFilesOfOthersAreRead(t *testing.T) {
	all, err := Read(strings.NewReader("\ufeff" + `{"expect":{"valid":true},"more":[1],"h":[],"kind":"queue","id":"x"}` + "\r\n\r\n" + `{"id":"y","kind":"set","h":[],"absent":["lost"]}`))
	if err != nil || len(all) != 2 || all[0].ID != "x" || all[1].ID != "y" {
		t.Errorf("read %v, %v", all, err)
	}
}
