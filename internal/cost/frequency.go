package cost

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// speed is how fast the CPUs of a job run, and what comes of it.
type speed struct {
	mhz   int // 0: at the full frequency
	run   protocol.Duration
	power int64 // milliwatts, with cooling
}

// choose takes the lowest frequency at which the run grows no more than the site allows and
// stays within its limit [IS 4.2, Figure 3]. What is not known to wait for its memory runs
// at the full one.
func (e *Eco) choose(w *Work) speed {
	full := speed{run: w.Run, power: e.draw(w.Power, 1, 1)}
	if len(e.Frequencies) == 0 || w.Spec.PredictedRunTime <= 0 || w.Spec.Intensity <= 0 || w.Spec.Computing <= 0 {
		return full
	}
	first := e.Frequencies[0]
	for i := len(e.Frequencies) - 1; i > 0; i-- {
		mhz := e.Frequencies[i]
		longer, whole := stretch(w.Spec, int64(mhz), int64(first))
		run := protocol.Duration(int128.Product(int64(w.Run), longer).Up(whole))
		if longer-whole > whole/protocol.PPM*int64(e.Slowdown) || run > w.Spec.WallTime {
			continue
		}
		return speed{mhz: mhz, run: run, power: e.draw(w.Power, int64(mhz), int64(first))}
	}
	return full
}

// stretch is t(f)/t(f0) as a fraction, for the run of a job at f of f0:
//
//	(1 - c) + c·max(1, i·f0/f)
//
// where c is the share of the time in which it computes and i the share of the peak that it
// reaches then: as long as f exceeds i·f0, memory keeps it waiting, not the CPU.
func stretch(spec *protocol.Spec, f, f0 int64) (longer, whole int64) {
	c := min(int64(spec.Computing), protocol.PPM)
	i := min(int64(spec.Intensity), protocol.PPM)
	whole = protocol.PPM * protocol.PPM * f
	return (protocol.PPM-c)*protocol.PPM*f + c*max(protocol.PPM*f, i*f0), whole
}

// draw is the power with cooling of what draws so much at the full frequency f0, when it
// runs at f, in milliwatts: only the dynamic part falls, with the square of the frequency
// [IS 4.2].
func (e *Eco) draw(full, f, f0 int64) int64 {
	dynamic := protocol.PPM - int64(e.Static)
	share := int64(e.Static)*f0*f0 + dynamic*f*f // of PPM·f0²
	return int128.Product(full, share).Times(int64(e.Cooling)).Nearest(protocol.PPM*f0*f0, protocol.PPM)
}

// words say what became of the speed, for people.
func (s speed) words(run protocol.Duration) string {
	if s.mhz == 0 {
		return ""
	}
	tenths := int128.Product(int64(s.run-run), 1000).Nearest(max(1, int64(run)))
	return fmt.Sprintf("at %d MHz, the run takes %d.%d %% longer", s.mhz, tenths/10, tenths%10)
}
