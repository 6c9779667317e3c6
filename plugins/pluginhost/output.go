package pluginhost

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bounds of what a plugin's output may add to the log.
const (
	maxLine  = 8 << 10 // bytes; the rest of a line is dropped
	perBurst = 200     // lines
	refill   = 10 * time.Millisecond
)

// output logs the lines that a plugin writes, as many as are good for the log.
type output struct {
	log *slog.Logger

	mu      sync.Mutex
	room    int // lines that may be logged now
	filled  time.Time
	dropped int
	last    string // the last words of the present life
	cause   string // of its panic
}

func newOutput(log *slog.Logger) *output {
	return &output{log: log, room: perBurst, filled: time.Now()}
}

// copy logs all that comes.
func (o *output) copy(from io.Reader) {
	lines := &lineWriter{to: o}
	_, _ = io.Copy(lines, from)
	lines.flush()
}

// lineWriter cuts a stream into lines.
type lineWriter struct {
	to      *output
	mu      sync.Mutex
	partial []byte
}

// Write implements [io.Writer] and never fails.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for rest := p; len(rest) > 0; {
		part, after, whole := bytes.Cut(rest, []byte{'\n'})
		w.partial = append(w.partial, part[:min(len(part), maxLine-len(w.partial))]...)
		if whole {
			w.to.say(string(w.partial))
			w.partial = w.partial[:0]
		}
		rest = after
	}
	return len(p), nil
}

func (w *lineWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.partial) > 0 {
		w.to.say(string(w.partial))
		w.partial = nil
	}
}

// say logs a line if there is room.
func (o *output) say(line string) {
	line = strings.ToValidUTF8(strings.TrimRight(line, "\r"), "?")
	if line == "" {
		return
	}
	level, attrs := read(line)
	o.mu.Lock()
	defer o.mu.Unlock()
	if level > slog.LevelDebug {
		o.last = attrs[0].Value.String()
	}
	if o.cause == "" && (strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")) {
		o.cause = line
	}
	now := time.Now()
	if gained := int(now.Sub(o.filled) / refill); gained > 0 {
		o.room, o.filled = min(o.room+gained, perBurst), now
	}
	if o.room == 0 {
		o.dropped++
		return
	}
	if o.dropped > 0 {
		o.log.Warn("plugin_output_dropped", "lines", o.dropped)
		o.dropped = 0
	}
	o.room--
	o.log.LogAttrs(context.Background(), level, "plugin_says", attrs...)
}

// begin begins a life of the plugin: what an earlier one said explains nothing now.
func (o *output) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last, o.cause = "", ""
}

// lastWords are what explains best why the plugin ended, empty if it was silent.
func (o *output) lastWords() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.cause != "" {
		return o.cause
	}
	return o.last
}

// read takes a line apart that hclog or slog wrote as JSON. The first attribute is
// the text.
func read(line string) (slog.Level, []slog.Attr) {
	plain := []slog.Attr{slog.String("text", line)}
	if line[0] != '{' {
		return slog.LevelInfo, plain
	}
	var fields map[string]any
	if json.Unmarshal([]byte(line), &fields) != nil {
		return slog.LevelInfo, plain
	}
	text, ok := take(fields, "@message", "msg")
	if !ok {
		return slog.LevelInfo, plain
	}
	name, _ := take(fields, "@level", "level")
	_, _ = take(fields, "@timestamp", "time")
	attrs := []slog.Attr{slog.String("text", text)}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		attrs = append(attrs, slog.Any("plugin."+key, fields[key]))
	}
	return levelOf(name), attrs
}

// take removes the fields of these names and returns the first that is a text.
func take(fields map[string]any, names ...string) (text string, ok bool) {
	for _, name := range names {
		if !ok {
			text, ok = fields[name].(string)
		}
		delete(fields, name)
	}
	return text, ok
}

func levelOf(name string) slog.Level {
	switch strings.ToLower(name) {
	case "trace", "debug":
		return slog.LevelDebug
	case "warn", "warning":
		return slog.LevelWarn
	case "error", "fatal":
		return slog.LevelError
	}
	return slog.LevelInfo
}
