package sim

import (
	"errors"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Electricity is what a site's machine draws and pays. All instants are on the
// workload's clock.
type Electricity struct {
	Milliwatts int64 // of a CPU that works; 0: not stated, quotes have no energy term
	// Ahead answers what the site's peer asks about prices; nil: it knows none.
	Ahead func(price.Query) (price.Forecast, error)
	Paid  *price.Meter // what it really costs, for the metrics; nil: nothing
	Slots []price.Slot // of Paid, for the authors' way of counting
	// Dated is Paid by the calendar that begins at [Config.Begin], in Currency, for what
	// [Site.Costs] make of it; nil: they know no prices.
	Dated    *price.Meter
	Currency string
}

// errNoPrices answers a peer whose site has no prices.
var errNoPrices = errors.New("this site knows no prices")

// priced answers a peer's question about prices, which it asks on the peers' clock.
func (s *site) priced(op event.PriceOp) (event.Result, error) {
	ahead := s.electricity.Ahead
	if ahead == nil {
		return nil, errNoPrices
	}
	op.From, op.Until = op.From-s.grid.zero, op.Until-s.grid.zero
	priced, err := ahead(price.Query(op))
	if err != nil {
		return nil, err
	}
	priced.Prices, priced.TwoPrice = priced.Prices.Later(s.grid.zero), priced.TwoPrice.Later(s.grid.zero)
	priced.PublishedUntil += s.grid.zero
	return event.PriceResult(priced), nil
}

// Stage is how jobs' data reach the sites that run them ([MC] equation 10). Nodes
// stand held from a job's start until its data are there.
type Stage struct {
	Sizes []int64      // of the jobs' data, in bytes; one is drawn for each job from the seed. None: there are no data
	Links [][]DataLink // from the site where a job was submitted to the one that runs it; nil: no data travel
}

// some says whether any job has data.
func (s *Stage) some() bool {
	return slices.ContainsFunc(s.Sizes, func(bytes int64) bool { return bytes > 0 })
}

// DataLink is the way of data between two sites.
type DataLink struct {
	Latency   protocol.Duration
	Bandwidth int64          // bytes a second; 0: data take no time
	PerGB     protocol.Micro // what it costs the origin, in the currency of its [Site]: a GB, either way
	PerHour   protocol.Micro // an hour in which data travel
}

// takes is how long the transfer of bytes takes.
func (l DataLink) takes(bytes int64) protocol.Duration {
	if bytes == 0 || l.Bandwidth == 0 {
		return 0
	}
	return protocol.Transfer(bytes, l.Latency, l.Bandwidth)
}

// transfer is how long a job's data travel to a site.
func (g *grid) transfer(index int32, to int) protocol.Duration {
	bytes, from := g.cfg.dataOf(index), g.jobs[index].Origin
	if c := g.component(index); c != nil {
		bytes = c.Spec.Data
	}
	if from == to {
		return 0
	}
	return g.dataLink(from, to).takes(bytes)
}

// chance is a number below n that is drawn from the seed for one thing: the same for
// the same job and place, whatever else happens.
func (c Config) chance(kind, job, place uint64, n uint64) uint64 {
	x := c.Seed
	for _, part := range [...]uint64{kind, job, place} {
		x = splitmix(x ^ part)
	}
	return x % n
}

// splitmix is one step of the generator splitmix64.
func splitmix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// What chances are drawn for.
const (
	chanceOfGrid uint64 = iota + 1
	chanceOfPower
	chanceOfWait
	chanceOfRun
	chanceOfCPU
	chanceOfEnergy
	chanceOfOperations
	chanceOfAccesses
	chanceOfWords
	chanceOfMessages
	chanceOfData
)

// throughGrid says whether a job of the workload goes through the grid; the others
// are submitted at their site, for it alone.
func (c Config) throughGrid(index int32) bool {
	if int(index) < c.History {
		return false
	}
	return c.LocalShare == 0 || c.chance(chanceOfGrid, uint64(index), 0, protocol.PPM) >= uint64(c.LocalShare) //nolint:gosec // not negative
}

// powerOf is the share of a site's power that a job draws, in parts per million: what the
// workload says, else what is drawn; 0: all of it, which none that is drawn is.
func (c Config) powerOf(job *workload.Job, index int32) int {
	if own := c.requestOf(index); own != nil && own.Power > 0 {
		return own.Power
	}
	if job.Power > 0 {
		return job.Power
	}
	if c.PowerLow == c.PowerHigh {
		return c.PowerLow
	}
	return max(1, c.PowerLow+int(c.chance(chanceOfPower, uint64(index), 0, uint64(c.PowerHigh-c.PowerLow+1)))) //nolint:gosec // checked: in order
}

// dataOf is the size of a job's data in bytes.
func (c Config) dataOf(index int32) int64 {
	if own := c.requestOf(index); own != nil && own.Data > 0 {
		return own.Data
	}
	switch n := len(c.Stage.Sizes); n {
	case 0:
		return 0
	case 1:
		return c.Stage.Sizes[0]
	default:
		return c.Stage.Sizes[c.chance(chanceOfData, uint64(index), 0, uint64(n))] //nolint:gosec // not negative
	}
}

// dataOutOf is the size in bytes of what a job brings home. Only requests state it.
func (c Config) dataOutOf(index int32) int64 {
	if own := c.requestOf(index); own != nil {
		return own.DataOut
	}
	return 0
}

// perturb adds to a planned wait a chance between minus and plus Perturb ([MC 5.3]).
func (c Config) perturb(wait protocol.Duration, index int32, site int) protocol.Duration {
	if c.Perturb == 0 {
		return wait
	}
	drawn := c.chance(chanceOfWait, uint64(index), uint64(site), uint64(2*c.Perturb+1)) //nolint:gosec // not negative
	return max(0, wait+protocol.Duration(drawn)-c.Perturb)                              //nolint:gosec // below 2·Perturb
}
