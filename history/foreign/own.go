// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seed-720a3c77/harness/history"
)

// importOwn reads JSON Lines of this project. A task writes in the order of time, so that a
// file whose events go back was put together wrongly, and would be judged wrongly.
func importOwn(in Input, dir string) error {
	if err := history.Import(in, dir); err != nil {
		return err
	}
	run, err := history.Open(dir)
	if err == nil {
		err = inOrder(run)
	}
	if err != nil {
		os.RemoveAll(dir)
		return fmt.Errorf("import %s: %w", in.Name, err)
	}
	return nil
}

// wallSlack is by how much an event may be earlier than the one before it: on a wall clock
// several goroutines write for one task, and each reads its time before that.
const wallSlack = int64(10 * time.Millisecond)

func inOrder(run *history.Run) error {
	slack := wallSlack
	if run.Header.Clock == "virtual" {
		slack = 0
	}
	latest, number := int64(0), 0
	var wrong error
	err := run.Each(history.AllKinds, func(e *history.Event) {
		number++
		if e.T < latest-slack && wrong == nil {
			wrong = fmt.Errorf("event %d at %d ns comes after one of the same task at %d ns: sort the events of each task by t", number, e.T, latest)
		}
		latest = max(latest, e.T)
	})
	return errors.Join(err, wrong)
}
