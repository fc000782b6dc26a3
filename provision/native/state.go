// SPDX-License-Identifier: Apache-2.0

package native

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// state is what is written down about one broker. Nothing in it is believed unchecked.
type state struct {
	Setup     string    `json:"setup"` // checksum of how it was set up
	Version   string    `json:"version,omitempty"`
	Site      site      `json:"site"`
	Processes []process `json:"processes"` // in starting order; the last is the broker
}

// alive tells whether every process runs and there is at least one.
func (s state) alive() bool { return len(s.Processes) > 0 && s.dead() == "" }

// dead names the first process that has ended, or nothing.
func (s state) dead() string {
	for _, p := range s.Processes {
		if !p.Alive() {
			return p.Name
		}
	}
	return ""
}

// process finds a process by the name of its command.
func (s state) process(name string) (process, bool) {
	for _, p := range s.Processes {
		if p.Name == name {
			return p, true
		}
	}
	return process{}, false
}

// with returns a copy in which p takes the place of the process of the same name.
func (s state) with(p process) state {
	processes := make([]process, 0, len(s.Processes)+1)
	for _, old := range s.Processes {
		if old.Name != p.Name {
			processes = append(processes, old)
		}
	}
	s.Processes = append(processes, p)
	return s
}

// load reads the state. A missing, half-written or foreign file is an error.
func (c corner) load() (state, error) {
	text, err := os.ReadFile(c.statePath())
	if err != nil {
		return state{}, err
	}
	var s state
	if err := json.Unmarshal(text, &s); err != nil {
		return state{}, fmt.Errorf("%s: %w", c.statePath(), err)
	}
	return s, nil
}

// save replaces the state at once or not at all.
func (c corner) save(s state) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	next := c.statePath() + ".next"
	if err := os.WriteFile(next, text, 0o600); err != nil {
		return err
	}
	return os.Rename(next, c.statePath())
}

func (c corner) statePath() string {
	return filepath.Join(c.root, "state", c.engine+".json")
}
