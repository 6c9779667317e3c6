package reproduce

import (
	"context"
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/parallel"
	"github.com/switchyard-hpc/switchyard/internal/workload"
)

// study is the runs of some exhibits.
type study struct {
	options  Options
	data     dataDir
	outcomes map[trial][]*outcome // by seed

	areas map[string]*area
	log   *workload.Trace
}

func newStudy(o Options) (*study, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	return &study{
		options: o, data: dataDir(o.Data), outcomes: map[trial][]*outcome{}, areas: map[string]*area{},
	}, nil
}

// area is the prices of a file, which is read once.
func (s *study) area(currency string, path []string) (*area, error) {
	name := path[len(path)-1]
	if known, ok := s.areas[name]; ok {
		return known, nil
	}
	series, err := s.data.hourly(currency, path...)
	if err != nil {
		return nil, err
	}
	made, err := newArea(series, currency)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s.areas[name] = made
	return made, nil
}

// lcg is the log of the grid that stands in for NorduGrid's, which is read once.
func (s *study) lcg() (log *workload.Trace, err error) {
	if s.log == nil {
		s.log, err = s.data.trace("LCG.swf.gz")
	}
	return s.log, err
}

// seedsOf are how many seeds a scene is run with: of those that nothing is drawn for,
// and of those that cost most, one.
func (s *study) seedsOf(name sceneName) int {
	if name == xsede {
		return s.options.Seeds
	}
	return 1
}

// task is one simulation.
type task struct {
	trial trial
	scene *scene
	seed  int // index
}

// tasks are the simulations of trials that are not yet run. Scenes of one name and seed
// are made once.
func (s *study) tasks(trials []trial) ([]task, error) {
	type key struct {
		name sceneName
		seed int
	}
	scenes := map[key]*scene{}
	var tasks []task
	for _, t := range trials {
		if s.outcomes[t] != nil {
			continue
		}
		s.outcomes[t] = make([]*outcome, s.seedsOf(t.scene))
		for seed, value := range s.options.SeedNumbers()[:s.seedsOf(t.scene)] {
			at := key{t.scene, seed}
			if scenes[at] == nil {
				made, err := s.scene(t.scene, value)
				if err != nil {
					return nil, err
				}
				scenes[at] = made
			}
			tasks = append(tasks, task{t, scenes[at], seed})
		}
	}
	return tasks, nil
}

// run simulates all tasks, several at once. It calls done for each that is over, from one
// goroutine at a time.
func (s *study) run(ctx context.Context, tasks []task, done func()) error {
	count := parallel.Counter{Tell: func(int) { done() }}
	return parallel.Each(ctx, s.options.Crew(), len(tasks), func(ctx context.Context, i int) (err error) {
		t := &tasks[i]
		s.outcomes[t.trial][t.seed], err = t.trial.run(ctx, t.scene, s.options.SeedNumbers()[t.seed])
		count.Add()
		return err
	})
}

// each is a value of every seed of a trial.
func (s *study) each(t trial, value func(*outcome) float64) []float64 {
	out := make([]float64, 0, len(s.outcomes[t]))
	for _, one := range s.outcomes[t] {
		out = append(out, value(one))
	}
	return out
}

// against is a value of every seed of two trials, such as their ratio.
func (s *study) against(t, base trial, value func(one, base *outcome) float64) []float64 {
	out := make([]float64, 0, len(s.outcomes[t]))
	for seed, one := range s.outcomes[t] {
		out = append(out, value(one, s.outcomes[base][seed]))
	}
	return out
}
