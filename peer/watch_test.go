package peer_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A local scheduler whose watch fails is tried again less and less often, and it is reported
// once when it fails and once when it works again.
func TestWatchThatFails(t *testing.T) {
	t.Parallel()
	l := newLone(t, func(*rules.Config) {}, idle(peertest.Greedy{}, atOnce))
	answer := func(err error) {
		watched := event.WatchResult{Watched: localsched.Watched{Load: protocol.Load{CPUs: 4}}}
		l.step(event.CallDone{ID: l.watching, Result: watched, Err: err})
	}
	reported := func() (lines []string) {
		for _, f := range l.facts {
			if f.Kind == event.LogCallFailed || f.Kind == event.LogCallRestored {
				lines = append(lines, string(f.Kind)+": "+f.Text)
			}
		}
		return lines
	}
	for round := range 2 {
		tries := 0
		for end := l.now.Add(protocol.Hour); l.now < end; {
			asked := l.watching
			answer(errors.New("the plugin is away"))
			tries++
			for l.watching == asked {
				l.now = l.wake
				l.step(event.Tick{})
			}
		}
		if tries < 100 || tries > 180 { // every 30 s in the end
			t.Errorf("tried %d times in an hour", tries)
		}
		if lines := reported(); len(lines) != 1+2*round || !strings.HasPrefix(lines[2*round], "call-failed: watch: the plugin is away") {
			t.Errorf("after an hour without: told %q", lines)
		}
		for range 3 {
			answer(nil)
		}
		if lines := reported(); len(lines) != 2+2*round || !strings.HasPrefix(lines[1+2*round], "call-restored: watch: it works again after ") {
			t.Errorf("when it works: told %q", lines)
		}
	}
}
