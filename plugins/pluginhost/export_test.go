package pluginhost

import (
	"log/slog"
	"time"

	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
)

// CheckHello is checkHello.
func CheckHello(line, dir string, plain bool) error { return checkHello(line, dir, plain) }

// CorrectEnds is correctEnds.
func CorrectEnds(reply *localschedv1.WatchResponse) { correctEnds(reply) }

// Pauses are the pauses after failures at these times.
func Pauses(spec Spec, at []time.Time) (pauses []time.Duration) {
	spec.Timing = spec.Timing.withDefaults()
	p := newPace(&spec)
	for _, now := range at {
		pauses = append(pauses, p.after(now))
	}
	return pauses
}

// Output is what logs the text that a plugin writes, and its last words.
func Output(log *slog.Logger, chunks ...string) string {
	o := newOutput(log)
	w := &lineWriter{to: o}
	for _, chunk := range chunks {
		_, _ = w.Write([]byte(chunk))
	}
	w.flush()
	return o.lastWords()
}
