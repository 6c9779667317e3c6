package daemon

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// How much garbage may gather in the memory of a peer before it is collected: as much as is in
// use, as Go has it, up to maxGarbage; half as much as is in use where that is more.
const (
	maxGarbage      = 100 << 20 // bytes
	garbageInterval = 10 * time.Second
	minPercent      = 50 // percent of what is in use
)

// boundGarbage keeps a peer with very many jobs from holding twice what they need. Who sets GOGC
// has said otherwise.
func (d *Daemon) boundGarbage(ctx context.Context) error {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	d.launch(ctx, "the bound of garbage", func(ctx context.Context) error {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		pace := time.NewTicker(garbageInterval)
		defer pace.Stop()
		for percent := 100; ; { // as Go begins
			select {
			case <-ctx.Done():
				return nil
			case <-pace.C:
			}
			metrics.Read(live)
			if next := gcPercent(live[0].Value.Uint64()); next != percent { // setting it stops all goroutines
				debug.SetGCPercent(next)
				percent = next
			}
		}
	})
	return nil
}

// gcPercent is at how many percent of the bytes in use garbage is to be collected.
func gcPercent(live uint64) int {
	if live <= maxGarbage {
		return 100
	}
	return max(minPercent, int(100*maxGarbage/live))
}
