// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// Errors of a clock. They come wrapped with the details; test with errors.Is.
var (
	// ErrDeadlock: nothing is scheduled any more and the run's main task still waits.
	ErrDeadlock = errors.New("deadlock")
	// ErrLivelock: events go on and on at one instant, so time stands still.
	ErrLivelock = errors.New("livelock")
	// ErrTimeout: Gate.WaitFor was not woken in time.
	ErrTimeout = errors.New("wait timed out")
	// ErrKilled is the cause (context.Cause) of a killed task's context, and what Run
	// returns when its main task was killed.
	ErrKilled = errors.New("task killed")
)

// PanicError is what Run returns when a task or callback panicked.
type PanicError struct {
	Task  string // name of the task, or of the owner of the callback
	Value any
	Stack []byte
}

// Error includes the stack.
func (e *PanicError) Error() string {
	return fmt.Sprintf("clock: task %s panicked: %v\n%s", e.Task, e.Value, e.Stack)
}

// Unwrap returns the value of the panic if that was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// newPanicError must be called by the deferred function that recovered: later the stack
// of the panic is gone. One that passes through a second time stays as it was.
func newPanicError(task string, value any) *PanicError {
	if e, ok := value.(*PanicError); ok {
		return e
	}
	return &PanicError{Task: task, Value: value, Stack: debug.Stack()}
}

// mainKilled is what Run returns when its main task was killed.
func mainKilled(name string) error {
	return fmt.Errorf("clock: main task %s: %w", name, ErrKilled)
}

// engineName stands for a task's name where the engine is the owner.
const engineName = "engine"

// What misuse is answered with, as a panic.
const (
	foreignContext = "clock: this context is not the clock's: pass on the one given to Run or Go"
	derivedContext = "clock: a context derived by package context cannot end a wait on virtual time: use the clock's WithCancel or WithTimeout"
	closedRun      = "clock: Run called after Close"
	nestedRun      = "clock: Run called inside a run"
)
