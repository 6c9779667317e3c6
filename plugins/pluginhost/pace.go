package pluginhost

import (
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// pace says how long a plugin that failed is left alone. Pauses grow with the
// failures in the window; above most, each try waits for rest.
type pace struct {
	timing   Timing
	random   *rand.Rand
	failures []time.Time
}

func newPace(s *Spec) *pace {
	name := fnv.New64a()
	_, _ = name.Write([]byte(s.Name))
	return &pace{timing: s.Timing, random: rand.New(rand.NewPCG(s.Host.Seed, name.Sum64()))}
}

// after notes a failure and returns the pause that follows it, with a jitter of a
// fifth so that the plugins of many sites do not return as one.
func (p *pace) after(now time.Time) time.Duration {
	kept := p.failures[:0]
	for _, at := range p.failures {
		if now.Sub(at) < p.timing.Window {
			kept = append(kept, at)
		}
	}
	p.failures = append(kept, now)
	pause := p.timing.Rest
	if n := len(p.failures); n <= p.timing.Most {
		pause = p.timing.Backoff
		for ; n > 1 && pause < p.timing.BackoffMax; n-- {
			pause *= 2
		}
		pause = min(pause, p.timing.BackoffMax)
	}
	return pause + time.Duration(p.random.Int64N(int64(pause)/5+1))
}
