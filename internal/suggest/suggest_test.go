// SPDX-License-Identifier: Apache-2.0

package suggest

import "testing"

func TestNearest(t *testing.T) {
	choices := []string{"steady", "slow-handler", "poison-pill", "crash-mid-batch"}
	for word, want := range map[string]string{
		"stedy": "steady", "STEADY": "steady", "slowhandler": "slow-handler", "poisen-pil": "poison-pill", "xyzzyx": "", "": "",
	} {
		if got := Nearest(word, choices); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestUnknownListsWhatThereIs(t *testing.T) {
	got := Unknown("engine", "zzzzzzzz", []string{"sqs", "kafka"})
	if want := `unknown engine "zzzzzzzz"; there are: kafka, sqs`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestUnknownWhereThereIsNone(t *testing.T) {
	got := Unknown("key", "foo", nil)
	if want := `unknown key "foo"; there is none`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
