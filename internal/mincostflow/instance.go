package mincostflow

import (
	"encoding/binary"
	"fmt"
)

// ReferenceScale is the cost scale of [MC] and of the reference instances: costs
// are 0 to 100.
const ReferenceScale = 100

// The scales that Instance takes: the weights 1/4 and 3/4 of one must be whole,
// and products must stay in 64 bits.
const (
	minScale = 4
	maxScale = 100_000_000
)

// Instance draws a problem as of a metascheduler's cycle: systems with a wait, a
// speed and a price, jobs with a run time, four in five pairs compatible, costs
// that are a quarter response time and three quarters price, each relative to the
// job's worst system. It is integer-only, so that any language makes the same
// bytes from the same seed. Costs are 0 to scale; see [ReferenceScale]. Other
// scales, multiples of 4 up to 100,000,000, draw the same systems and jobs and
// round the same formula later: with N = 100 × scale, which is the reference's
// 10,000,
//
//	cost = (scale/4 × (resp×N/mr) + 3×scale/4 × (pr×N/mp) + N/2) / N
func Instance(jobs, systems, capacity int, seed uint64, scale int) (*Problem, error) {
	switch {
	case jobs < 0 || jobs > MaxJobs:
		return nil, fmt.Errorf("jobs: %d is not 0 to %d", jobs, MaxJobs)
	case systems < 0 || systems > MaxSystems:
		return nil, fmt.Errorf("systems: %d is not 0 to %d", systems, MaxSystems)
	case capacity < 0:
		return nil, fmt.Errorf("capacity: %d is less than 0", capacity)
	case scale < minScale || scale > maxScale || scale%4 != 0:
		return nil, fmt.Errorf("scale: %d is not a multiple of 4 from %d to %d", scale, minScale, maxScale)
	}
	p := &Problem{
		Jobs: jobs, Systems: systems,
		Costs:    make([]int32, jobs*systems),
		Capacity: make([]int, systems),
	}
	draw := splitmix64(seed)
	sites := make([]drawnSystem, systems)
	for s := range sites {
		p.Capacity[s] = capacity
		sites[s] = drawnSystem{
			wait:  60 + int64(draw.next()%86400),
			speed: 50 + int64(draw.next()%151),
			price: 2000 + int64(draw.next()%8001),
		}
	}
	scores := make([]score, systems)
	for j := range jobs {
		weigh(p.Costs[j*systems:(j+1)*systems], scores, sites, &draw, int64(scale))
	}
	return p, nil
}

type drawnSystem struct{ wait, speed, price int64 }

// score is the quote of one system for a job; without a price the job cannot run there.
type score struct{ response, price int64 }

// weigh draws one job and the costs of its row.
func weigh(row []int32, scores []score, sites []drawnSystem, draw *splitmix64, scale int64) {
	r := draw.next()
	base := int64(60) << (r % 10)
	run := base + int64((r>>8)%uint64(base)) //nolint:gosec // below 2 × base
	worst := score{response: 1, price: 1}
	for s := range sites {
		r := draw.next()
		scores[s] = score{}
		if r%100 < 20 {
			continue
		}
		site := &sites[s]
		scores[s].response = site.wait*(50+int64((r>>16)%101))/100 + run*100/site.speed
		scores[s].price = site.price * (80 + int64((r>>32)%41)) * 10 / site.speed
		worst.response = max(worst.response, scores[s].response)
		worst.price = max(worst.price, scores[s].price)
	}
	n := 100 * scale
	for s := range scores {
		if scores[s].price == 0 {
			row[s] = Missing
			continue
		}
		slow, costly := scores[s].response*n/worst.response, scores[s].price*n/worst.price
		row[s] = int32((scale/4*slow + 3*scale/4*costly + n/2) / n) //nolint:gosec // up to the scale
	}
}

// splitmix64 is a generator of random numbers; its value is the seed.
type splitmix64 uint64

func (x *splitmix64) next() uint64 {
	*x += 0x9E3779B97F4A7C15
	z := uint64(*x)
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	return z ^ (z >> 31)
}

// Fingerprint is what tells instances apart: the number of pairs, the sum of
// their costs, and FNV-1a over the costs.
type Fingerprint struct {
	Pairs   int
	CostSum int64
	Hash    uint64
}

// The parameters of FNV-1a with 64 bits. The basis has lost its last digit in the
// reference, and is kept as it is there.
const (
	fnvBasis = 1469598103934665603
	fnvPrime = 1099511628211
)

// Fingerprint of a problem's costs. If all are below 255, as at the reference's
// scale, the hash takes a byte for each, 255 for what is missing; else four, the
// lowest first, all ones for what is missing.
func (p *Problem) Fingerprint() Fingerprint {
	const missing = 255
	f := Fingerprint{Hash: fnvBasis}
	wide := false
	for _, c := range p.Costs {
		if c != Missing {
			f.Pairs++
			f.CostSum += int64(c)
			wide = wide || c >= missing
		}
	}
	var bytes [4]byte
	width := 1
	if wide {
		width = len(bytes)
	}
	for _, c := range p.Costs {
		if c == Missing {
			c = -1
		}
		binary.LittleEndian.PutUint32(bytes[:], uint32(c)) //nolint:gosec // all ones for what is missing
		for _, b := range bytes[:width] {
			f.Hash = (f.Hash ^ uint64(b)) * fnvPrime
		}
	}
	return f
}
