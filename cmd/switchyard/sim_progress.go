package main

import (
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows people at a terminal how far a long run is. Without a terminal it
// shows nothing.
type progress struct {
	mu  sync.Mutex
	bar *progressbar.ProgressBar
}

// newProgress returns a bar of total steps, or one that shows nothing.
func (a *app) newProgress(total int, doing string) *progress {
	file, ok := a.stderr.(*os.File)
	if !ok || !terminal(file) {
		return &progress{}
	}
	return &progress{bar: progressbar.NewOptions(total,
		progressbar.OptionSetWriter(file), progressbar.OptionSetDescription(doing),
		progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetWidth(30),
		progressbar.OptionClearOnFinish())}
}

// set moves the bar. A terminal that is gone is no reason to stop.
func (p *progress) set(done int) {
	if p.bar == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.bar.Set(done)
}

// end removes the bar.
func (p *progress) end() {
	if p.bar == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.bar.Finish()
}

// progressOf returns a bar whose number of steps becomes known with the first call of step.
func (a *app) progressOf(doing string) (step func(done, of int), end func()) {
	bar := &progress{}
	started := false
	return func(done, of int) {
		if !started {
			bar, started = a.newProgress(of, doing), true
		}
		bar.set(done)
	}, func() { bar.end() }
}
