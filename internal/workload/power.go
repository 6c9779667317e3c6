package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// PowerRange is what the jobs of a machine draw, in watts per rack.
type PowerRange struct {
	Low, High int
	// Alike is the part of the spread, from 0 to 1, that lies between users and
	// not between the jobs of one: at 0 each job is drawn by itself, at 1 all jobs
	// of a user draw the same. The logs of Intrepid and SDSC-BLUE have no numbers
	// of executables, so that the user stands for user and name.
	Alike float64
}

// PowerRanges returns the three ranges of [BG] Table 1.
func PowerRanges() [3]PowerRange {
	return [3]PowerRange{{Low: 20_000, High: 33_000}, {Low: 30_000, High: 90_000}, {Low: 30_000, High: 120_000}}
}

// The normal distribution of [DrawPower], in parts of the range's width.
const (
	powerMean      = 3.0 / 13 // 23 kW of 20 to 33
	powerDeviation = 1.0 / 10 // 1.3 kW of 20 to 33
)

// maxPowerRange bounds ranges, in watts per rack.
const maxPowerRange = 1_000_000_000

// Validate reports the first field that no range can have.
func (p PowerRange) Validate() error {
	switch {
	case p.Low < 1:
		return fmt.Errorf("power: low: %d W per rack, a job draws at least 1", p.Low)
	case p.High <= p.Low || p.High > maxPowerRange:
		return fmt.Errorf("power: high: %d W per rack is not above low, %d, and at most %d", p.High, p.Low, maxPowerRange)
	case !(p.Alike >= 0 && p.Alike <= 1):
		return fmt.Errorf("power: alike: %v is not from 0 to 1", p.Alike)
	}
	return nil
}

// DrawPower returns the jobs with powers drawn from a seed, in parts per million
// of the top of the range: of what a rack draws whose site states p.High for it.
//
// [BG 4.1] says "normal within the range" and that most jobs lie at 22 to 24 of 20
// to 33 kW, which a normal distribution about the middle of the range has for a
// tenth of them. So the mean is the middle of 22 to 24, 23 kW, and the deviation a
// tenth of the width, 1.3 kW: 56 % lie there. What falls outside the range, one
// draw in a hundred, is drawn again. The other ranges have the same shape: the mean
// 3/13 of the width above the low end (43.8 of 30 to 90 kW, 50.8 of 30 to 120).
//
// What a job draws depends on the seed, its origin, its number and its user, not on
// the jobs beside it: a month cut from a workload keeps its powers.
func DrawPower(jobs []Job, p PowerRange, seed uint64) ([]Job, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	d := powerDraw{PowerRange: p, seed: seed, users: map[[2]int]float64{}}
	drawn := slices.Clone(jobs)
	for i := range drawn {
		drawn[i].Power = d.power(drawn[i])
	}
	return drawn, nil
}

// powerDraw is one call of [DrawPower].
type powerDraw struct {
	PowerRange

	seed  uint64
	users map[[2]int]float64 // where they lie, by origin and number
}

// power draws a job's, in parts per million of the top of the range.
func (d *powerDraw) power(j Job) int {
	shared, own := 0.0, 1.0
	if j.User >= 0 {
		shared, own = math.Sqrt(d.Alike)*d.user(j.Origin, j.User), math.Sqrt(1-d.Alike)
	}
	rng := d.stream(j.Origin, powerOfJob, j.ID)
	z := shared + own*rng.NormFloat64()
	for !inPowerRange(z) {
		z = shared + own*rng.NormFloat64()
	}
	watts := float64(d.Low) + (powerMean+powerDeviation*z)*float64(d.High-d.Low)
	return int(math.Round(watts * protocol.PPM / float64(d.High)))
}

// user draws where a user lies, in deviations from the mean and within the range, so
// that the jobs around it can.
func (d *powerDraw) user(origin, number int) float64 {
	key := [2]int{origin, number}
	z, known := d.users[key]
	if known {
		return z
	}
	rng := d.stream(origin, powerOfUser, int64(number))
	z = rng.NormFloat64()
	for !inPowerRange(z) {
		z = rng.NormFloat64()
	}
	d.users[key] = z
	return z
}

// The purposes of the streams of random numbers.
const (
	powerOfJob = iota
	powerOfUser
	powerPurposes
)

// stream is that of one job or user of an origin.
func (d *powerDraw) stream(origin, purpose int, number int64) *rand.Rand {
	return randomStream(mixBits(d.seed)+uint64(origin*powerPurposes+purpose), int(number)) //nolint:gosec // an index
}

// inPowerRange reports whether z standard deviations from the mean lie in the range.
func inPowerRange(z float64) bool {
	return z >= -powerMean/powerDeviation && z <= (1-powerMean)/powerDeviation
}
