package protocol

import (
	"errors"
	"fmt"
)

// Machine is one CPU of a site's machine as the Γ model sees it (facts/iss-gamma.md,
// after Gruber et al. 2003). A rate of 0 is not stated.
type Machine struct {
	Flops   int64 // R∞: peak, in flop/s
	Words   int64 // M∞: of main memory, in 64-bit words a second
	Network int64 // C∞: that it sends, in 64-bit words a second; on a bus: that all CPUs of a job send together
	Latency int64 // L: of a message, in nanoseconds
	Bus     bool  // the CPUs of a job share Network
}

// Stated says whether the machine says enough to predict run times on it.
func (m Machine) Stated() bool { return m.Flops > 0 && m.Words > 0 && m.Network > 0 }

// Behavior is what a component does over its whole run, as the Γ model sees it. The zero
// value says nothing.
type Behavior struct {
	Mflop    int64   `json:"mflop"`                // O: operations of all its CPUs together, in millions
	Mwords   int64   `json:"mwords,omitempty"`     // W: accesses of all its CPUs to main memory, in millions of 64-bit words; 0: as few as it takes to reach the peak
	Sent     int64   `json:"sent_words,omitempty"` // S: 64-bit words that each CPU sends, when it runs on CPUs
	Messages int64   `json:"messages,omitempty"`   // Z: messages that each CPU sends, when it runs on CPUs
	CPUs     int     `json:"cpus,omitempty"`       // that Sent and Messages are stated for; 0: any number
	Scaling  Scaling `json:"scaling,omitempty"`    // of Sent and Messages with the number of CPUs
}

// Stated says whether the behavior says enough to predict run times from it.
func (b Behavior) Stated() bool { return b.Mflop > 0 }

func (b Behavior) check() error {
	for _, one := range []struct {
		name string
		n    int64
	}{{"mflop", b.Mflop}, {"mwords", b.Mwords}, {"sent_words", b.Sent}, {"messages", b.Messages}, {"cpus", int64(b.CPUs)}} {
		if one.n < 0 {
			return fmt.Errorf("%s is %d; use 0 or more", one.name, one.n)
		}
	}
	switch b.Scaling {
	case Constant, Surface:
		return nil
	case Multicast:
		if b.CPUs == 1 {
			return errors.New("one CPU sends nothing to all; state it for 2 CPUs or more")
		}
		return nil
	}
	return fmt.Errorf("the scaling %.40q is unknown; use %q, %q or none", string(b.Scaling), Surface, Multicast)
}

// Scaling says how what each CPU sends changes with the number of CPUs P, from that P0
// which it is stated for.
type Scaling string

// The scalings.
const (
	Constant  Scaling = ""           // not at all
	Surface   Scaling = "surface"    // words by (P0/P)^(2/3): a 3-D domain that is cut in P parts [IS 2.2]
	Multicast Scaling = "all-to-all" // words by P0/P, messages by (P-1)/(P0-1): a transposition, as of a 3-D FFT [IS 2.3]
)

// Usage is what a job was measured to do, or says itself that it did. What is 0 was not
// measured.
type Usage struct {
	CPU      Duration `json:"cpu_ms,omitempty"`     // of all its CPUs together, user and system
	MemoryMB int64    `json:"memory_mb,omitempty"`  // most at once of all its processes
	Energy   int64    `json:"energy_mj,omitempty"`  // of its CPUs, in millijoules
	Mflop    int64    `json:"mflop,omitempty"`      // operations, as [Behavior.Mflop]
	Mwords   int64    `json:"mwords,omitempty"`     // as [Behavior.Mwords]
	Sent     int64    `json:"sent_words,omitempty"` // as [Behavior.Sent], on the CPUs that it ran on
	Messages int64    `json:"messages,omitempty"`   // as [Behavior.Messages], on the CPUs that it ran on
	MHz      int      `json:"mhz,omitempty"`        // that its CPUs ran at
	Power    int      `json:"power_ppm,omitempty"`  // of its CPUs, in parts per million of what the site states, which works it out from Energy
}
