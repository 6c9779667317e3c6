package process

import (
	"fmt"
	"os"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/usage"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// firstSample is how long after a job's start it is measured for the first time. Each pause is
// twice as long as the one before, up to [usage.MaxPause], so that short jobs are seen and
// long ones not disturbed.
const firstSample = 100 * time.Millisecond

// sampleTimer tells a shim when to measure its job.
type sampleTimer struct {
	*time.Timer

	interval time.Duration
}

func newSampleTimer() *sampleTimer {
	return &sampleTimer{Timer: time.NewTimer(firstSample), interval: firstSample}
}

func (l *sampleTimer) again() {
	l.interval = min(2*l.interval, usage.MaxPause.Std())
	l.Reset(l.interval)
}

// measure measures the job once more.
func (w *watch) measure() {
	reaped, err := usage.Children()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	w.meter.Sample(reaped)
}

// usage is what the job, of which no process is left, has done: as it was measured and, of
// what only the program knows, as it reports. The notice is what is wrong with the report.
func (w *watch) usage() (used protocol.Usage, notice string) {
	w.measure()
	used = w.meter.Usage()
	report, err := usage.TakeReport(w.record.OpenUsage(w.opened))
	if err != nil {
		notice = err.Error()
	}
	return usage.Prefer(report, used), notice
}
