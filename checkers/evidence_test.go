// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"
	"testing"
)

// TestEveryExampleHasEvents: of what was found at an event, that one; of what was found
// missing at the end, the first about the message.
func TestEveryExampleHasEvents(t *testing.T) {
	many := tell(fifo).publish(ids(0, 39)...).drained()
	for name, c := range map[string]struct {
		tale *tale
		want string
	}{
		"lost":        {tell(fifo).publish(ids(0, 1)...).work("w0", "p0/0").drained(), "lost-undelivered p0/1 [2 3]"},
		"undrained":   {tell(fifo).publish("p0/0").deliver("w0", "p0/0"), "undrained p0/0 [0 1 2]"},
		"redelivered": {tell(fifo).publish("p0/0").deliver("w0", "p0/0").nack("w0", "p0/0").work("w0", "p0/0").drained(), "redelivered p0/0 [5]"},
	} {
		r, err := Check(c.tale.recorded(t))
		if err != nil || len(r.Anomalies) != 1 {
			t.Fatalf("%s: %v, %d anomalies", name, err, len(r.Anomalies))
		}
		a := &r.Anomalies[0]
		if got := fmt.Sprintf("%s %s %v", a.Name, a.Examples[0].ID, a.Examples[0].Events); got != c.want || a.Severity == 0 || a.Kind == "" {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	r, err := Check(many.recorded(t))
	if err != nil || r.Anomalies[0].Count != 40 || len(r.Anomalies[0].Examples) != maxExamples {
		t.Fatalf("%v: %d of %d lost are examples", err, len(r.Anomalies[0].Examples), r.Anomalies[0].Count)
	}
	for _, x := range r.Anomalies[0].Examples {
		if len(x.Events) == 0 {
			t.Errorf("%s has no event", x.ID)
		}
	}
}
