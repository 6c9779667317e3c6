package pluginhost

import (
	"fmt"
	"time"
)

// State is what a plugin is doing.
type State uint8

// The states.
const (
	Starting State = iota + 1
	Up
	Down // it is started again at Status.RetryAt
	Closed
)

func (s State) String() string {
	switch s {
	case Starting:
		return "starting"
	case Up:
		return "up"
	case Down:
		return "down"
	case Closed:
		return "closed"
	}
	return fmt.Sprintf("state(%d)", uint8(s))
}

// Status is how a plugin is.
type Status struct {
	State    State
	Since    time.Time // of the state
	Restarts int       // starts after the first
	Failure  string    // why it was last down; empty: it never was
	RetryAt  time.Time // when it is started again, in the state Down
	PID      int       // in the state Up
}

// DownError says that a plugin is down: the call did not reach it.
type DownError struct {
	Plugin  string    // "plugin cheapest (/usr/lib/…/cheapest)"
	Reason  string    // "exit status 1"
	RetryAt time.Time // when it is started again; zero: it is being started, or closed

	wait time.Duration // until RetryAt, when the call was made
}

func (e *DownError) Error() string {
	if e.RetryAt.IsZero() {
		return fmt.Sprintf("%s is down (%s)", e.Plugin, e.Reason)
	}
	return fmt.Sprintf("%s is down (%s); next try in %v", e.Plugin, e.Reason, e.wait)
}

// down is why calls cannot reach the plugin in this state.
func (s *Status) down(plugin string) *DownError {
	e := &DownError{Plugin: plugin, Reason: s.Failure}
	switch s.State {
	case Down:
		e.RetryAt = s.RetryAt
		e.wait = max(0, time.Until(s.RetryAt)).Round(time.Second)
	case Closed:
		e.Reason = "closed"
	case Starting, Up:
		e.Reason = "it is being started"
		if s.Failure != "" {
			e.Reason += " again; before: " + s.Failure
		}
	}
	return e
}
