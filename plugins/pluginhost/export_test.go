package pluginhost

import (
	"log/slog"
	"time"
)

// CheckHello is checkHello.
func CheckHello(line, dir string, plain bool) error { return checkHello(line, dir, plain) }

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
