package workload

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// What [MC] tells of its NorduGrid.
const (
	nordugridCores = 356_856           // Table II
	nordugridJobs  = 126_344           // Table II
	nordugridSpan  = 90 * protocol.Day // Table II
	nordugridRun   = 3.4 * 8.8         // h in the mean: 3.4 times that of XSEDE [MC 5.4, 4.3.1]
)

const (
	// nordugridLeast is what the model's shortest popular value, five minutes,
	// becomes with the log's run times, which are 13.6 times as long when scaled.
	// With shorter ones there are too few estimates that the runs fit in.
	nordugridLeast = protocol.Hour
	nordugridDraws = 100
)

// nordugridSeed makes the table of systems.
const nordugridSeed = 2014

// pricedSystems is how many systems an area of prices has.
type pricedSystems struct {
	area    string
	systems int
}

// NorduGridSystems returns fifty systems in the price areas of Nord Pool, of
// Slovenia, and of Switzerland, the United Kingdom and Ukraine, where prices are
// fixed. They are a stand-in: the table of [MC] is not to be had, and nothing here
// but the total of 356,856 cores, the 26 systems with hourly and 24 with fixed
// prices, and the areas themselves is taken from the paper. How the systems are
// spread over the areas is a guess; their sizes and processors are drawn from one
// fixed seed, so that the table is the same in every experiment. Sizes are
// log-uniform with a ratio of 300, then scaled to the total. Processors are of
// common kinds of the years before 2014, with the thermal design power and the
// peak speed of a core. All price series are on Central European Time, so that no
// system has a lag.
func NorduGridSystems() []System {
	rng := randomStream(nordugridSeed, 0)
	var systems []System
	for _, fixed := range []bool{false, true} {
		for _, priced := range nordugridAreas(fixed) {
			for i := range priced.systems {
				chip := nordugridChips()[rng.IntN(len(nordugridChips()))]
				systems = append(systems, System{
					Name: priced.area + "-" + strconv.Itoa(i+1), MilliwattsPerCore: chip.milliwatts,
					MflopsPerCore: chip.mflops, PriceArea: priced.area, FixedPrice: fixed,
				})
			}
		}
	}
	nordugridSizes(systems, rng)
	return systems
}

// nordugridAreas are named as the series of prices in the authors' repository.
func nordugridAreas(fixed bool) []pricedSystems {
	if fixed {
		return []pricedSystems{{"Swiss_Static", 8}, {"UK_Static", 8}, {"Ukraine_Static", 8}}
	}
	return []pricedSystems{
		{"DK1", 2},
		{"DK2", 2},
		{"EE", 1},
		{"FI", 3},
		{"Kr.sand", 1},
		{"LT", 1},
		{"LV", 1},
		{"Molde", 1},
		{"Norway1", 2},
		{"Norway2", 1},
		{"Norway3", 1},
		{"SE1", 2},
		{"SE2", 1},
		{"SE3", 3},
		{"SE4", 2},
		{"Slovenia1", 1},
		{"Troms", 1},
	}
}

// chip is a processor, by the core.
type chip struct{ milliwatts, mflops int }

func nordugridChips() []chip {
	return []chip{
		{16_875, 23_200}, // Xeon E5-2690, 2.9 GHz: 135 W and 8 cores of 8 flops a cycle
		{11_875, 17_600}, // Xeon E5-2660, 2.2 GHz: 95 W and 8 cores
		{15_833, 10_640}, // Xeon X5650, 2.66 GHz: 95 W and 6 cores of 4 flops a cycle
		{20_000, 10_640}, // Xeon E5430, 2.66 GHz: 80 W and 4 cores
		{14_375, 12_000}, // Opteron 6220, 3.0 GHz: 115 W and 8 cores
		{7_188, 8_800},   // Opteron 6274, 2.2 GHz: 115 W and 16 cores
	}
}

// nordugridSizes gives the systems their cores.
func nordugridSizes(systems []System, rng *rand.Rand) {
	const ratio = 300
	sizes := make([]float64, len(systems))
	sum := 0.0
	for i := range sizes {
		sizes[i] = math.Pow(ratio, rng.Float64())
		sum += sizes[i]
	}
	left, largest := nordugridCores, 0
	for i := range systems {
		systems[i].Cores = int(nordugridCores * sizes[i] / sum)
		left -= systems[i].Cores
		if systems[i].Cores > systems[largest].Cores {
			largest = i
		}
	}
	systems[largest].Cores += left // what rounding down left over
	for i := range systems {
		systems[i].MaxRequest = systems[i].Cores
	}
}

// NorduGridOptions say how a log becomes a workload of the grid.
type NorduGridOptions struct {
	Jobs    int // drawn from the log; 0: 126,344, as in [MC] Table II
	History int // how many of these only make history
	// Unscaled leaves run times and submits as they are in the log. Without it both
	// are scaled: to a mean run of 29.9 h, and to 90 days for 126,344 jobs, in
	// proportion for others.
	Unscaled bool
	// KeepOverruns is that of [CleanOptions].
	KeepOverruns bool
}

// NorduGrid makes a workload from the log of another grid, whose sites are its
// partitions: [MC] took theirs from the Grid Workloads Archive, which has it no
// more; the log of LCG's 170 sites is the stand-in. Trends may be read from it, but
// no figure is one of the paper. Scaling stretches the log's days as well, to eight.
//
// The log's sites in the order of their jobs, most first, are dealt to the systems
// in the order of their cores, most first, and again from the largest as long as
// there are sites. Of the jobs as many as wanted are drawn at random, each as
// likely as the others. Estimates are by [Tsafrir] over all jobs with the longest
// run time as the largest [MC 4.3.2], which all systems take. Numbers and users
// are those of the log, and what ran for less than half a second is left out.
func NorduGrid(log *Trace, o NorduGridOptions, seed uint64) (*Grid, error) {
	if o.Jobs == 0 {
		o.Jobs = nordugridJobs
	}
	grid := &Grid{
		Name: "NorduGrid-like", Systems: NorduGridSystems(), History: o.History, Credits: log.Header.credits(),
	}
	sites := Split(log, SplitPartition)
	if len(sites) > 0 && sites[0].Number < 0 {
		return nil, fmt.Errorf("log: %d jobs have no partition, which tells their site; take the log of a grid",
			len(sites[0].Trace.Records))
	}
	grid.deal(sites, CleanOptions{Perfect: true, ZeroRuns: true, KeepOverruns: o.KeepOverruns})
	if err := o.check(grid); err != nil {
		return nil, err
	}
	grid.Jobs = sample(grid.Jobs, o.Jobs, randomStream(seed, 0))
	if !o.Unscaled {
		stretchRuns(grid.Jobs, nordugridRun*float64(protocol.Hour))
	}
	stretchSubmits(grid, o)
	longest := protocol.Hour
	for _, job := range grid.Jobs {
		longest = max(longest, job.Run)
	}
	estimates := Tsafrir{Max: longest, Draws: nordugridDraws}
	if !o.Unscaled {
		estimates.Least = nordugridLeast
	}
	assigned, err := estimates.Assign(grid.Jobs, mixBits(seed))
	if err != nil {
		return nil, err
	}
	for i := range grid.Systems {
		grid.Systems[i].MaxRun = longest
	}
	grid.Jobs = assigned
	return grid, nil
}

// check says what of the options or of the log's jobs does not fit.
func (o NorduGridOptions) check(whole *Grid) error {
	switch {
	case len(whole.Jobs) == 0:
		return errors.New("log: it has no jobs with a run time")
	case o.Jobs < tsafrirFewest || o.Jobs > len(whole.Jobs):
		return fmt.Errorf("jobs: %d are not from %d to the %d of the log", o.Jobs, tsafrirFewest, len(whole.Jobs))
	case o.History < 0 || o.History >= o.Jobs:
		return fmt.Errorf("history: %d is not from 0 to less than the %d jobs", o.History, o.Jobs)
	}
	for _, job := range whole.Jobs {
		if s := whole.Systems[job.Origin]; job.CPUs > s.Cores {
			return fmt.Errorf("log: job %d asks for %d cores, and system %s has %d; leave it out of the log",
				job.ID, job.CPUs, s.Name, s.Cores)
		}
	}
	return nil
}

// deal gives the sites' jobs to the systems that stand for the sites.
func (g *Grid) deal(sites []Part, o CleanOptions) {
	slices.SortStableFunc(sites, func(a, b Part) int { return cmp.Compare(len(b.Trace.Records), len(a.Trace.Records)) })
	order := make([]int, len(g.Systems))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(g.Systems[b].Cores, g.Systems[a].Cores) })
	jobs := make([][]Job, len(g.Systems))
	for i, site := range sites {
		at := order[i%len(order)]
		of, cleaning := Clean(site.Trace, o)
		jobs[at] = append(jobs[at], of...)
		g.Cleaning = g.Cleaning.plus(cleaning)
	}
	g.Jobs = Merge(jobs...)
}

// sample keeps n of the jobs in their order, each as likely as the others.
func sample(jobs []Job, n int, rng *rand.Rand) []Job {
	kept := make([]Job, 0, n)
	for i, job := range jobs {
		if rng.IntN(len(jobs)-i) < n-len(kept) {
			kept = append(kept, job)
		}
	}
	return kept
}

// stretchRuns scales the run times to a mean in ms, in whole seconds.
func stretchRuns(jobs []Job, mean float64) {
	sum := 0.0
	for _, job := range jobs {
		sum += float64(job.Run)
	}
	factor := mean * float64(len(jobs)) / sum
	for i := range jobs {
		run := protocol.Duration(math.Round(float64(jobs[i].Run)*factor/1000)) * protocol.Second
		jobs[i].Run = max(run, protocol.Second)
		jobs[i].Estimate = jobs[i].Run
	}
}

// stretchSubmits has the first job submitted at 0 and the others in proportion to
// the log.
func stretchSubmits(g *Grid, o NorduGridOptions) {
	first, factor := g.Jobs[0].Submit, 1.0
	if span := g.Span(); !o.Unscaled && span > 0 {
		factor = float64(nordugridSpan) * float64(o.Jobs) / nordugridJobs / float64(span)
	}
	for i := range g.Jobs {
		g.Jobs[i].Submit = protocol.Instant(math.Round(float64(g.Jobs[i].Submit-first)*factor/1000)) * 1000
	}
}
