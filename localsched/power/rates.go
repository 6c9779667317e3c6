package power

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Rates are what CPUs draw, in microwatts of one.
type Rates struct {
	Busy int64 // of a CPU that works for a job which draws as much as the site states
	Idle int64 // of a CPU that a job holds and does not use
}

// MaxRate is the most that a rate may be: a megawatt a CPU.
const MaxRate int64 = 1_000_000_000_000

// Check says what is wrong with the rates, if anything.
func (r Rates) Check() error {
	switch {
	case r.Busy < 1 || r.Busy > MaxRate:
		return fmt.Errorf("a CPU that works draws %d µW; say 1 to %d", r.Busy, MaxRate)
	case r.Idle < 0 || r.Idle > MaxRate:
		return fmt.Errorf("a CPU that is held idle draws %d µW; say 0 to %d", r.Idle, MaxRate)
	case r.Idle > r.Busy:
		return fmt.Errorf("a CPU that is held idle draws %s, more than one that works, %s",
			Text(ceil(r.Idle, 1000)), Text(ceil(r.Busy, 1000)))
	}
	return nil
}

// Draw is the power w_i of a job in milliwatts, rounded up ([BG] equations 2 and 3 as
// paper-notes has them): of the CPUs that it asks for at its own rate, which is share parts
// per million of Busy (0: all of it), and of the others that it holds at the idle rate. It
// is at most [MaxDraw].
func (r Rates) Draw(working, held, share int) int64 {
	if share == 0 {
		share = protocol.PPM
	}
	working = min(max(0, working), held)
	busy := int128.Product(int64(working), r.Busy).Times(int64(max(0, share))).Up(protocol.PPM)
	idle := int128.Product(int64(held-working), r.Idle)
	return min(int128.Whole(busy).Plus(idle).Up(1000), MaxDraw)
}

// MaxDraw bounds what one job draws, so that sums over a million jobs cannot overflow: 4 GW.
const MaxDraw int64 = 1 << 42

// ceil is a/b rounded up for a ≥ 0.
func ceil(a, b int64) int64 { return (a + b - 1) / b }

// Text is a power for people, such as "12.5 kW".
func Text(milliwatts int64) string {
	switch {
	case milliwatts == Unlimited:
		return "any power"
	case milliwatts >= protocol.Megawatt:
		return decimal.Text(milliwatts, 9, 0) + " MW"
	case milliwatts >= 1_000_000:
		return decimal.Text(milliwatts, 6, 0) + " kW"
	}
	return decimal.Text(milliwatts, 3, 0) + " W"
}
