package superscheduler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The experiments: two that are built in, and two files.
const (
	heavy     = "heavy"
	light     = "light"
	sixMonths = "six-months"
	oneMonth  = "one-month"
)

// blueHorizon is the log of M3 from March to August 2002.
const blueHorizon = "SDSC-BLUE-2000-4.2-cln.swf.gz"

// sweep is what one sim sweep runs.
type sweep struct {
	experiment string
	set        []string            // KEY=VALUES, as --set takes them
	schemes    []experiment.Scheme // in the order of [experiment.Schemes]; nil: those of the experiment
	seeds      int                 // 0: as many as the experiment states
	observed   bool                // traits of the schedules are wanted
}

// local and S-I are all that many exhibits compare.
func localAndSender() []experiment.Scheme {
	return []experiment.Scheme{experiment.Local, experiment.Sender}
}

// point is one combination of a sweep.
type point struct {
	experiment string
	settings   string // those that change the experiment, as KEY=VALUE with spaces between them
	scheme     experiment.Scheme
}

// result is what the simulations of a point gave.
type result struct {
	settings []experiment.Setting
	seeds    int
	observed bool

	metrics experiment.Point
	traits  []traits // by seed
}

// study is the points of some exhibits.
type study struct {
	options reproduce.Size
	shrink  func(*experiment.Plan) // of tests: makes an experiment smaller before its files are read

	plans   map[string]*experiment.Plan
	order   []point
	results map[point]*result
}

// plan is an experiment, with its files read.
func (s *study) plan(name string) (*experiment.Plan, error) {
	if known := s.plans[name]; known != nil {
		return known, nil
	}
	plan, err := s.read(name)
	if err != nil {
		return nil, err
	}
	if s.shrink != nil {
		s.shrink(plan)
	}
	if err = plan.Open(); err != nil {
		return nil, err
	}
	if s.plans == nil {
		s.plans = map[string]*experiment.Plan{}
	}
	s.plans[name] = plan
	return plan, nil
}

func (s *study) read(name string) (*experiment.Plan, error) {
	if slices.Contains(experiment.Presets(), name) {
		return experiment.Preset(name)
	}
	plan, err := experiment.Read(filepath.Join(s.options.Experiments, name+".toml"))
	if err != nil {
		return nil, fmt.Errorf("an experiment of the paper: %w; name the directory of one-month.toml and six-months.toml with --experiments", err)
	}
	for i := range plan.Workloads {
		if w := &plan.Workloads[i]; w.Trace != "" {
			w.Trace = experiment.Path(s.log(filepath.Base(string(w.Trace))))
		}
	}
	return plan, nil
}

// log is the path of a trace.
func (s *study) log(name string) string { return filepath.Join(s.options.Data, "traces", name) }

// axes are the settings of a sweep.
func (w *sweep) axes() ([]experiment.Axis, error) {
	var axes []experiment.Axis
	for _, text := range w.set {
		axis, err := experiment.ParseAxis(text)
		if err != nil {
			return nil, err
		}
		axes = append(axes, axis)
	}
	return axes, nil
}

// seedsOf is how many seeds a sweep has.
func (s *study) seedsOf(w sweep, plan *experiment.Plan) int {
	switch {
	case s.options.Stated:
		return s.options.Seeds
	case w.seeds > 0:
		return w.seeds
	}
	return plan.Seeds
}

// changes are the settings that the experiment does not have without them. Whoever gives --experiments may have other
// values in its file than the paper.
func changes(plan *experiment.Plan, settings []experiment.Setting) []experiment.Setting {
	return slices.DeleteFunc(slices.Clone(settings), plan.Has)
}

// pointOf is the point of the changes of an experiment.
func pointOf(name string, changes []experiment.Setting, scheme experiment.Scheme) point {
	var words []string
	for _, one := range changes {
		words = append(words, one.Key+"="+one.Value)
	}
	return point{name, strings.Join(words, " "), scheme}
}

// each calls do with the points of a sweep, in its order: with all settings, and with those that change the experiment.
func (s *study) each(w sweep, do func(at point, settings, changed []experiment.Setting)) error {
	plan, err := s.plan(w.experiment)
	if err != nil {
		return err
	}
	axes, err := w.axes()
	if err != nil {
		return err
	}
	schemes := w.schemes
	if schemes == nil {
		schemes = plan.All()
	}
	for _, settings := range experiment.Combine(axes) {
		changed := changes(plan, settings)
		for _, scheme := range schemes {
			do(pointOf(w.experiment, changed, scheme), settings, changed)
		}
	}
	return nil
}

// simulate runs what the exhibits need.
func (s *study) simulate(ctx context.Context, exhibits []exhibit, progress func(done, of int)) error {
	s.results = map[point]*result{}
	for _, e := range exhibits {
		for _, w := range e.sweeps {
			err := s.each(w, func(at point, _, changed []experiment.Setting) {
				r := s.results[at]
				if r == nil {
					r = &result{settings: changed}
					s.results[at], s.order = r, append(s.order, at)
				}
				r.seeds, r.observed = max(r.seeds, s.seedsOf(w, s.plans[w.experiment])), r.observed || w.observed
			})
			if err != nil {
				return fmt.Errorf("%s: %w", e.Name, err)
			}
		}
	}
	done, of := 0, 0
	for _, at := range s.order {
		of += s.results[at].seeds
	}
	for first := range s.order {
		if together := s.together(first); len(together) > 0 {
			before := done
			err := s.run(ctx, together, func(now int) {
				if done = before + now; progress != nil {
					progress(done, of)
				}
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// together are the points from one on that differ from it in their scheme alone, as one sweep has them; none if it
// is among those of an earlier one.
func (s *study) together(first int) (points []point) {
	like := s.order[first]
	for i, at := range s.order {
		if at.experiment != like.experiment || at.settings != like.settings || s.results[at].seeds != s.results[like].seeds {
			continue
		}
		if i < first {
			return nil
		}
		points = append(points, at)
	}
	return points
}

// run simulates points of one experiment, setting and number of seeds.
func (s *study) run(ctx context.Context, points []point, tell func(done int)) error {
	like := s.results[points[0]]
	plan, err := s.plans[points[0].experiment].With(like.settings...)
	if err != nil {
		return err
	}
	plan.Scheme, plan.Compare = points[0].scheme, nil
	for _, at := range points[1:] {
		plan.Compare = append(plan.Compare, string(at.scheme))
	}
	of := func(scheme experiment.Scheme) *result {
		at := points[0]
		at.scheme = scheme
		return s.results[at]
	}
	for _, at := range points {
		if r := s.results[at]; r.observed {
			r.traits = make([]traits, r.seeds)
		}
	}
	swept, err := (&experiment.Sweep{
		Plan: plan, Seeds: like.seeds, Workers: s.options.Crew(),
		Observe: func(seed int, o *experiment.Outcome) {
			if r := of(o.Scheme); r.observed {
				r.traits[seed] = traitsOf(o)
			}
		},
	}).Run(ctx, func(done, _ int) { tell(done) })
	if err != nil {
		return err
	}
	for _, p := range swept.Points {
		of(p.Scheme).metrics = p
	}
	return nil
}

// swept is a sweep's outcome, as sim sweep has it.
func (s *study) swept(w sweep) *experiment.Swept {
	plan := s.plans[w.experiment]
	axes, err := w.axes()
	seeds := s.seedsOf(w, plan)
	swept := &experiment.Swept{Experiment: plan.Name, Axes: axes}
	for i := range seeds {
		swept.Seeds = append(swept.Seeds, uint64(plan.Seed)+uint64(i)) //nolint:gosec // checked: not negative
	}
	err = errors.Join(err, s.each(w, func(at point, settings, _ []experiment.Setting) {
		p := s.results[at].metrics
		p.Settings, p.Metrics, p.Sites = map[string]string{}, first(p.Metrics, seeds), slices.Clone(p.Sites)
		for _, one := range settings {
			p.Settings[one.Key] = one.Value
		}
		for i := range p.Sites {
			p.Sites[i].Metrics = first(p.Sites[i].Metrics, seeds)
		}
		swept.Points = append(swept.Points, p)
	}))
	if err != nil {
		panic(err) // it was read for the simulations
	}
	return swept
}

// first are metrics of the first seeds alone.
func first(metrics map[string]report.Average, seeds int) map[string]report.Average {
	fewer := maps.Clone(metrics)
	for key, one := range fewer {
		if len(one.Values) > seeds {
			fewer[key] = report.AverageOf(one.Values[:seeds])
		}
	}
	return fewer
}

// traitsOf are those of the first seeds of a point of a sweep.
func (s *study) traitsOf(w sweep, scheme experiment.Scheme) []traits {
	return s.results[pointOf(w.experiment, nil, scheme)].traits[:s.seedsOf(w, s.plans[w.experiment])]
}

// named is a title with the number of seeds, where the sweeps of an exhibit differ in it.
func (s *study) named(title string, w sweep) string {
	return title + ", " + protocol.Count(s.seedsOf(w, s.plans[w.experiment]), "seed")
}
