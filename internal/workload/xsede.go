package workload

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// XSEDESystems returns the eight systems of [MC] Table I, with the limits, zones
// and unrounded figures of the authors' configuration, in its order.
//
// Theirs has Lonestar's clock two hours before that of the grid. It is in Texas,
// an hour behind, and so it is here. MaxRequest bounds what the workload asks for;
// the authors' metascheduler does not look at it.
func XSEDESystems() []System {
	const hour = protocol.Hour
	return []System{
		{"Blacklight", 4096, 87890, 9000, "Pittsburgh", false, 0, 24 * hour, 1024},
		{"Darter", 11968, 30589, 20790, "Tennessee", true, -hour, 24 * hour, 2048},
		{"Gordon", 16160, 22178, 21100, "San Diego", false, -3 * hour, 48 * hour, 1024},
		{"Trestles", 10368, 42670, 9640, "San Diego", false, -3 * hour, 48 * hour, 1024},
		{"Mason", 576, 39953, 7430, "Indiana", false, 0, 48 * hour, 128},
		{"Lonestar", 22656, 15830, 13330, "Texas", false, -hour, 24 * hour, 4096},
		{"Queenbee", 5440, 16250, 9380, "Louisiana", false, -hour, 72 * hour, 2048},
		{"Steele", 4992, 83750, 13340, "Indiana", false, 0, 72 * hour, 1024},
	}
}

// XSEDEOptions say how many jobs of the XSEDE grid are drawn.
type XSEDEOptions struct {
	History int     // jobs that only make history; 0: 500 for each system, as in the authors' code; negative: none
	Jobs    int     // that follow them; 0: 10,000, as in [MC] Table II
	Load    float64 // divides the times between submissions; 0 is 1
}

const (
	xsedeHistory = 500 // jobs for each system
	xsedeJobs    = 10_000
)

// XSEDE draws the workload of [MC 4.3.1]: each system's jobs by [Lublin] with
// estimates by [Tsafrir], merged and cut to the wanted count. No run is shorter
// than half an hour [MC 4.2.1]. The calibration is [XSEDELublin]'s; how the
// estimates are made is said there too. The same seed gives the same first jobs
// at any count, but for their estimates.
func XSEDE(o XSEDEOptions, seed uint64) (*Grid, error) {
	grid := &Grid{Name: "XSEDE", Systems: XSEDESystems(), History: o.History}
	switch {
	case o.History == 0:
		grid.History = xsedeHistory * len(grid.Systems)
	case o.History < 0:
		grid.History = 0
	}
	if o.Jobs == 0 {
		o.Jobs = xsedeJobs
	}
	if o.Jobs < 0 || o.Jobs > maxModelJobs-grid.History || grid.History > maxModelJobs {
		return nil, fmt.Errorf("jobs: %d after %d of history are not from 1 to %d", o.Jobs, grid.History, maxModelJobs)
	}
	bySystem, err := xsedeDraw(grid.History+o.Jobs, factorOrOne(o.Load), seed)
	if err != nil {
		return nil, err
	}
	for i, s := range grid.Systems {
		assigned, err := xsedeEstimates(s, bySystem[i], xsedeSeed(seed, i))
		if err != nil {
			return nil, fmt.Errorf("system %s: %w", s.Name, err)
		}
		bySystem[i] = assigned
	}
	grid.Jobs = Merge(bySystem...)
	return grid, nil
}

// xsedeSeed is that of a system's jobs, as [Mix] has it for its sources.
func xsedeSeed(seed uint64, system int) uint64 { return mixBits(seed) + uint64(system) } //nolint:gosec // an index

// xsedeDraw draws the first jobs of the whole grid; at one instant those of the
// earlier system come first.
func xsedeDraw(jobs int, load float64, seed uint64) ([][]Job, error) {
	models := XSEDELublin()
	sources := make([]*lublinSource, len(models))
	next := make([]Job, len(models))
	for i, m := range models {
		m.Load *= load
		source, err := m.open(xsedeSeed(seed, i))
		if err != nil {
			return nil, fmt.Errorf("system %d: %w", i+1, err)
		}
		sources[i], next[i] = source, source.next()
	}
	bySystem := make([][]Job, len(models))
	for range jobs {
		first := 0
		for i := range next {
			if next[i].Submit < next[first].Submit {
				first = i
			}
		}
		bySystem[first] = append(bySystem[first], next[first])
		next[first] = sources[first].next()
	}
	return bySystem, nil
}

// xsedeFit is what [XSEDELublin] changes for a system.
type xsedeFit struct {
	least  int     // smallest size above 1
	lower  float64 // LublinClass.Lower
	short  Gamma
	short0 float64 // probability of a short run
	long   float64 // shape of the long runs
	load   float64
}

// XSEDELublin returns the calibrated model of each system, in the order of
// [XSEDESystems].
//
// It starts from [LublinTypeless], whose shares of serial and power-of-two sizes,
// daily cycle and times between arrivals the authors' sample of 4,100 jobs bears
// out. For each system are set: the sizes from the sample's smallest above 1 to the
// limit, with Medium 2.5 below it and Lower so that the mean is the sample's; the
// shape of the long runs so that the mean of the run times, cut to the limit, is
// the sample's by 8.8/9.0028, which makes the grid's mean the 8.8 h of [MC 4.3.1];
// and the load so that the mean rate of arrivals is the sample's, 3.22 an hour in
// the mean over the systems. Sizes do not change run times (the sample's
// correlation is −0.06 to 0.11). The remaining figures of the run times are the
// likeliest for the sample's jobs of half an hour and more outside Gordon, whose
// short runs keep the reference's distribution: their share gives its mean.
// The tests make this fit again and compare.
//
// Estimates are by [Tsafrir] with the system's limit as the largest. Its popular
// values from five minutes on cannot serve runs of nine hours, so they are given:
// the largest has the model's share of the most popular value, and the other jobs
// ask for the full hour above 1.2 times their run time, as the sample's median is. The sample's users
// of Queenbee and Steele do not ask for 72 hours but for 49 to 58.
func XSEDELublin() []Lublin {
	systems := XSEDESystems()
	models := make([]Lublin, len(systems))
	for i, fit := range xsedeFits() {
		m := LublinTypeless().For(systems[i].MaxRequest)
		m.MaxLogRun = xsedeMaxLogRun
		m.LeastRun = xsedeLeastRun
		m.Limit = systems[i].MaxRun
		m.Load = fit.load
		c := &m.Classes[0]
		c.Low = math.Log2(float64(fit.least))
		c.Lower = fit.lower
		c.Short, c.Short0, c.Slope = fit.short, fit.short0, 0
		c.Long = Gamma{fit.long, xsedeLongScale}
		models[i] = m
	}
	return models
}

// What the systems' models have in common.
const (
	xsedeLeastRun  = 30 * protocol.Minute // [MC 4.2.1]
	xsedeMaxLogRun = 12.2                 // the sample's longest runs are of e^12.16 s
	xsedeLongScale = 0.0315
)

func xsedeFits() []xsedeFit {
	const usual0 = 0.302
	usual := Gamma{91.8, 0.1014}
	return []xsedeFit{
		{least: 16, lower: 0.8773, short: usual, short0: usual0, long: 331.6, load: 1.1550},
		{least: 16, lower: 0.7598, short: usual, short0: usual0, long: 335.0, load: 0.6707},
		{least: 16, lower: 0.9105, short: Gamma{4.2, 0.94}, short0: 0.8102, long: 333.6, load: 0.5958},
		{least: 32, lower: 0.6921, short: usual, short0: usual0, long: 337.4, load: 1.0769},
		{least: 8, lower: 0.9232, short: usual, short0: usual0, long: 330.4, load: 0.5273},
		{least: 12, lower: 0.8791, short: usual, short0: usual0, long: 333.2, load: 0.7663},
		{least: 8, lower: 0.9245, short: usual, short0: usual0, long: 323.9, load: 0.9415},
		{least: 8, lower: 0.8398, short: usual, short0: usual0, long: 328.0, load: 0.7981},
	}
}

const (
	// estimateSlack is by what a job's estimate exceeds its run time, before it is
	// rounded up to a full hour: the median of the authors' sample, without the
	// jobs that ask for the largest.
	estimateSlack = 1.2
	// slackStep widens it where the model can then not give every job an estimate.
	slackStep = 0.2
	slackMost = 4
)

// xsedeEstimates gives a system's jobs their estimates. So few jobs that the
// popular values are more ask for their own hours.
func xsedeEstimates(s System, jobs []Job, seed uint64) ([]Job, error) {
	var assigned []Job
	var err error
	for slack := estimateSlack; slack < slackMost; slack += slackStep {
		model := Tsafrir{Max: s.MaxRun, Least: xsedeLeastRun, Bins: estimateBins(s, jobs, slack)}
		if len(model.Bins) > len(jobs) {
			return ownEstimates(s, jobs), nil
		}
		if assigned, err = model.Assign(jobs, seed); !errors.Is(err, errEstimatesTooShort) {
			return assigned, err
		}
	}
	return nil, err
}

func ownEstimates(s System, jobs []Job) []Job {
	own := slices.Clone(jobs)
	for i := range own {
		own[i].Estimate = fullHours(s, own[i].Run, estimateSlack)
	}
	return own
}

// fullHours is a run time with some slack, in hours that the system takes.
func fullHours(s System, run protocol.Duration, slack float64) protocol.Duration {
	hours := math.Ceil(slack * float64(run) / float64(protocol.Hour))
	return min(protocol.Duration(hours)*protocol.Hour, s.MaxRun)
}

// estimateBins are the popular estimates of a system, see [XSEDELublin].
func estimateBins(s System, jobs []Job, slack float64) []EstimateBin {
	shares := map[protocol.Duration]float64{}
	largest := largestEstimates(s)
	for _, at := range largest {
		shares[at] += headShare(1) / float64(len(largest))
	}
	for _, j := range jobs {
		shares[fullHours(s, j.Run, slack)] += (tsafrirHeadShare - headShare(1)) / float64(len(jobs))
	}
	bins := make([]EstimateBin, 0, len(shares))
	for _, at := range slices.Sorted(maps.Keys(shares)) {
		bins = append(bins, EstimateBin{Time: at, Share: shares[at]})
	}
	return bins
}

// largestEstimates is what the users of a system ask for who want all they can get.
func largestEstimates(s System) []protocol.Duration {
	if s.MaxRun <= 48*protocol.Hour {
		return []protocol.Duration{s.MaxRun}
	}
	var largest []protocol.Duration
	for hours := protocol.Duration(49); hours <= 58; hours++ {
		largest = append(largest, hours*protocol.Hour)
	}
	return largest
}
