// Package tokens bounds how much of something may be asked for per second, by a token
// bucket: what was not used is saved up to a burst, and what is taken beyond that must be
// waited for. A bucket has no clock of its own.
package tokens

import "github.com/switchyard-hpc/switchyard/protocol"

// Bucket holds tokens. The zero Bucket refuses nothing. It is not safe for use from several
// goroutines.
type Bucket struct {
	rate  int64 // tokens a second; 0: no bound
	burst int64 // the most that are saved up
	level int64 // thousandths of a token; negative: taken in advance
	at    protocol.Instant
}

// New is a full bucket that gets rate tokens a second and holds burst. Both are positive and
// at most 2^40.
func New(rate, burst int64) Bucket { return Bucket{rate: rate, burst: burst, level: burst * 1000} }

// Wait says how long it takes until the bucket is out of debt; 0: tokens may be taken now.
// Time that runs back counts as none.
func (b *Bucket) Wait(now protocol.Instant) protocol.Duration {
	b.fill(now)
	if b.level >= 0 || b.rate == 0 {
		return 0
	}
	return protocol.Duration((-b.level + b.rate - 1) / b.rate)
}

// Take takes n tokens, in advance if there are fewer: who takes many at once waits longer
// for the next.
func (b *Bucket) Take(now protocol.Instant, n int64) {
	b.fill(now)
	b.level -= n * 1000
}

// Try takes n tokens if the bucket is out of debt, and says whether it was.
func (b *Bucket) Try(now protocol.Instant, n int64) bool {
	if b.Wait(now) > 0 {
		return false
	}
	b.Take(now, n)
	return true
}

// fill adds what has come since the last time: rate thousandths of a token in a millisecond.
func (b *Bucket) fill(now protocol.Instant) {
	if b.at == 0 {
		b.at = now
	}
	passed := int64(now.Sub(b.at))
	if passed <= 0 {
		return
	}
	b.at = now
	missing := b.burst*1000 - b.level
	if b.rate == 0 || passed >= missing/b.rate+1 {
		b.level = b.burst * 1000
		return
	}
	b.level += passed * b.rate
}
