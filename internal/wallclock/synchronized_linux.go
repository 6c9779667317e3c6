package wallclock

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Synchronized says whether the kernel takes the clock for synchronized, and how far it may be off.
func Synchronized() (synced bool, off time.Duration, err error) {
	var state unix.Timex // whose Modes of 0 changes nothing
	if _, err = unix.Adjtimex(&state); err != nil {
		return false, 0, fmt.Errorf("adjtimex: %w", err)
	}
	return state.Status&unix.STA_UNSYNC == 0, time.Duration(state.Maxerror) * time.Microsecond, nil
}
