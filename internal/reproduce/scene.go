package reproduce

import (
	"fmt"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// sceneName names a grid with its workload.
type sceneName string

// The scenes.
const (
	xsede             sceneName = "xsede"              // [MC 4.2.1], drawn from the seed
	sample            sceneName = "sample"             // the same grid with the authors' 4,100 jobs, all of them measured
	sampleEnd         sceneName = "sample-end"         // the same, with all but the last 100 as history
	nordugrid         sceneName = "nordugrid"          // a stand-in for [MC 4.2.2], with run times and gaps as the paper's
	nordugridUnscaled sceneName = "nordugrid-unscaled" // the same with those of the log
)

// scene is a grid with the jobs of one seed.
type scene struct {
	jobs    []workload.Job
	history int
	systems []workload.System
	sites   []sim.Site // without what they know ahead
	starts  []protocol.Instant
	areas   []*area        // nil: there are no prices
	ceiling []*price.Meter // prices without negative ones
}

// training is how long before the day of the first measured job the prices begin
// (facts/mcmf-experiments.md section 3).
const training = 3 * protocol.Day

// newScene puts the systems where their prices are. Every site's prices begin at its
// own midnight, three days before the one before the last job of the history.
func newScene(systems []workload.System, jobs []workload.Job, history int, areas map[string]*area) (*scene, error) {
	s := &scene{systems: systems, jobs: jobs, history: history}
	last := jobs[max(history-1, 0)].Submit
	start := last - last%protocol.Instant(protocol.Day) - protocol.Instant(training)
	for _, system := range systems {
		easy, err := engine.Named("easy")
		if err != nil {
			return nil, err
		}
		of, begins := areas[system.PriceArea], start.Add(-system.ZoneLag)
		paid := of.paid.Later(begins)
		s.areas, s.starts = append(s.areas, of), append(s.starts, begins)
		s.ceiling = append(s.ceiling, price.NewMeter(positive(paid)))
		s.sites = append(s.sites, sim.Site{
			Machine: sim.Machine{
				Name: siteName(system.Name), Nodes: system.Cores, CPUsPerNode: 1,
				Mflops: system.MflopsPerCore, MaxWallTime: system.MaxRun,
			},
			Local: easy,
			Electricity: sim.Electricity{
				Milliwatts: int64(system.MilliwattsPerCore), Paid: price.NewMeter(paid), Slots: paid.Slots,
			},
		})
	}
	return s, nil
}

// siteName makes a name of a system's that all protocols take.
func siteName(system string) protocol.SiteName {
	return protocol.SiteName(strings.NewReplacer(".", "-", "_", "-").Replace(strings.ToLower(system)))
}

// site is the index of a system by its name.
func (s *scene) site(system string) int {
	for i := range s.systems {
		if s.systems[i].Name == system {
			return i
		}
	}
	return -1
}

// serviceUnit is what an hour of a CPU costs on average at a site ([MC 5.5]), in units
// of the currency.
func (s *scene) serviceUnit(site int) float64 {
	sum := 0.0
	slots := s.areas[site].paid.Slots
	for _, slot := range slots {
		sum += float64(slot.Price) / float64(protocol.Unit)
	}
	return sum / float64(len(slots)) * float64(s.systems[site].MilliwattsPerCore) / 1e9
}

// scene makes a scene for a seed.
func (s *study) scene(name sceneName, seed uint64) (*scene, error) {
	switch name {
	case xsede:
		return s.xsede(seed)
	case sample, sampleEnd:
		return s.sample(name)
	case nordugrid, nordugridUnscaled:
		return s.nordugrid(name, seed)
	}
	for _, grid := range logGrids() {
		if grid.scene == name {
			return s.logged(&grid)
		}
	}
	return nil, fmt.Errorf("no scene is called %q", string(name))
}

func (s *study) xsede(seed uint64) (*scene, error) {
	jobs, history := s.options.xsedeSize()
	grid, err := workload.XSEDE(workload.XSEDEOptions{History: history, Jobs: jobs}, seed)
	if err != nil {
		return nil, err
	}
	areas, err := s.areasOf(grid.Systems, xsedePrices)
	if err != nil {
		return nil, err
	}
	return newScene(grid.Systems, grid.Jobs, grid.History, areas)
}

// sampleParts is how many times more jobs the authors' sample has than it measures.
const sampleParts = 41

// sample is the workload that the authors published; fewer jobs if the options say so.
func (s *study) sample(name sceneName) (*scene, error) {
	trace, err := s.data.trace("xsede-sample-4100.swf.gz")
	if err != nil {
		return nil, err
	}
	systems := workload.XSEDESystems()
	bySystem := make([][]workload.Job, len(systems))
	for _, part := range workload.Split(trace, workload.SplitExtra) {
		if part.Number < 1 || part.Number > len(systems) {
			return nil, fmt.Errorf("the authors' sample has jobs of system %d of %d", part.Number, len(systems))
		}
		bySystem[part.Number-1], _ = workload.Clean(part.Trace, workload.CleanOptions{})
	}
	jobs := workload.Merge(bySystem...)
	if n := s.options.Jobs; n > 0 && n < len(jobs) {
		jobs = jobs[:n]
	}
	areas, err := s.areasOf(systems, xsedePrices)
	if err != nil {
		return nil, err
	}
	history := 0
	if name == sampleEnd {
		history = len(jobs) - len(jobs)/sampleParts
	}
	return newScene(systems, jobs, history, areas)
}

// nordugrid has a twentieth of the jobs as history.
func (s *study) nordugrid(name sceneName, seed uint64) (*scene, error) {
	log, err := s.lcg()
	if err != nil {
		return nil, err
	}
	const whole, parts = 126_344, 20 // [MC] Table II
	jobs := whole
	if s.options.Jobs > 0 {
		jobs = s.options.Jobs
	}
	grid, err := workload.NorduGrid(log, workload.NorduGridOptions{
		Jobs: jobs, History: jobs / parts, Unscaled: name == nordugridUnscaled,
	}, seed)
	if err != nil {
		return nil, err
	}
	areas, err := s.areasOf(grid.Systems, nordugridPrices)
	if err != nil {
		return nil, err
	}
	return newScene(grid.Systems, grid.Jobs, grid.History, areas)
}

// Where the prices of an area are, and what they are paid in.
func xsedePrices(area string) (currency string, path []string) {
	return "USD", []string{"prices", "xsede-2014-06", strings.ReplaceAll(area, " ", "_") + ".csv"}
}

func nordugridPrices(area string) (currency string, path []string) {
	return "EUR", []string{"prices", "nordu-2014", area + ".csv.gz"}
}

// areasOf reads the prices of the systems' areas, each once.
func (s *study) areasOf(systems []workload.System, where func(string) (string, []string)) (map[string]*area, error) {
	areas := map[string]*area{}
	for _, system := range systems {
		one, err := s.area(where(system.PriceArea))
		if err != nil {
			return nil, fmt.Errorf("the prices of %s: %w", system.PriceArea, err)
		}
		areas[system.PriceArea] = one
	}
	return areas, nil
}
