package reproduce

import (
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/internal/priceforecast"
	"github.com/switchyard-hpc/switchyard/localsched/waitpredict"
	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
)

// exhibit is how an exhibit of [MC] is made.
type exhibit struct {
	Exhibit

	trials []trial
	waits  waitpredict.Method // of most trials
	build  func(ctx context.Context, s *study, r *Report) error
}

// MCMF is [MC].
func MCMF() Paper {
	o := Default()
	return o.catalogue().Of("[MC]", Claims(), run)
}

func (o *Options) catalogue() *Catalogue[exhibit] {
	tabled, err := o.tabled()
	if err != nil {
		panic(err) // it is embedded; a test reads it
	}
	overall := tabled["table4"].then(func(s *study, r *Report) { r.Tables = append(r.Tables, s.equalResponse(o)) })
	decentral := tabled["decentral"].then(messagesOfTurnaround, o.turnaround())
	return &Catalogue[exhibit]{Exhibits: []exhibit{
		waits(), quoted(), prices(),
		overall, tabled["table5"], o.estimates(), o.sizes(), o.cores(), o.hours(),
		o.fairness(), tabled["fig12"], tabled["fig13"], tabled["table7"], tabled["table8"], tabled["knowledge"],
		decentral, o.protect(), tabled["delay"], tabled["sample"], o.walk(), o.nordugrid(tabled["nordugrid"]),
	}}
}

// chosen are the exhibits of the names; all but nordugrid, which takes long, if there are none.
func (o *Options) chosen(names []string) ([]exhibit, error) {
	all := o.catalogue()
	if len(names) == 0 {
		return slices.DeleteFunc(all.Exhibits, func(e exhibit) bool { return e.Name == string(nordugrid) }), nil
	}
	return all.Chosen(names)
}

func run(ctx context.Context, o Options, names []string, progress func(done, of int)) ([]Report, error) {
	s, err := newStudy(o)
	if err != nil {
		return nil, err
	}
	exhibits, err := o.chosen(names)
	if err != nil {
		return nil, err
	}
	var trials []trial
	for _, e := range exhibits {
		trials = append(trials, e.trials...)
	}
	tasks, err := s.tasks(trials)
	if err != nil {
		return nil, err
	}
	done, of := 0, len(tasks)+len(exhibits)
	tell := func() {
		if done++; progress != nil {
			progress(done, of)
		}
	}
	if err = s.run(ctx, tasks, tell); err != nil {
		return nil, err
	}
	reports := make([]Report, len(exhibits))
	for i, e := range exhibits {
		reports[i] = e.Report()
		if len(e.trials) > 0 {
			reports[i].Seeds = o.SeedNumbers()[:s.seedsOf(e.trials[0].scene)]
			reports[i].Waits, reports[i].Prices = string(e.waits), o.known()
		}
		if err = e.build(ctx, s, &reports[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
		tell()
	}
	return reports, nil
}

// known says what the sites know of prices.
func (o *Options) known() string {
	if o.Forecast == priceforecast.Known {
		return "all known ahead"
	}
	return "known for the local day, then " + o.Forecast
}

// baseline runs every job at its origin.
func (o *Options) baseline() trial {
	return trial{scene: xsede, policy: builtin.Local, forecast: o.Forecast}
}

// portal has one peer place all jobs, as [MC] has it.
func (o *Options) portal(policy string, weight int) trial {
	return trial{
		scene: xsede, policy: policy, weight: weight, portal: true, maxQ: xsedeMaxQ, cycle: cycle,
		waits: o.waitMethod(), forecast: o.Forecast,
	}.with(o.Authors...)
}

// peers has every site place the jobs of its local users, as live.
func (o *Options) peers(weight int) trial {
	t := o.portal(builtin.MCMF, weight)
	t.portal = false
	return t
}

// turnaround is the superscheduler's policy, with which a job is placed when it comes.
func (o *Options) turnaround() trial {
	return trial{scene: xsede, policy: builtin.TC, waits: o.waitMethod(), forecast: o.Forecast}
}

// waitMethod is where the waits of quotes come from. The policies do not read the interval, so
// that the bare plan serves as well as one with intervals.
func (o *Options) waitMethod() waitpredict.Method {
	if o.Waits == waitpredict.Plan || o.Waits == waitpredict.Auto {
		return ""
	}
	return o.Waits
}

// plan is the trial with the batch systems' own plans for waits.
func (t trial) plan() trial {
	t.waits = ""
	return t
}

// percent writes parts per million.
func percent(ppm int) string { return decimal.Text(int64(ppm), 4, 0) + " %" }
