package reproduce

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/internal/priceforecast"
	"github.com/switchyard-hpc/switchyard/localsched/waitpredict"
	"github.com/switchyard-hpc/switchyard/plugins/policy/builtin"
)

// Exhibit is a table or figure that can be made again.
type Exhibit struct {
	Name  string   `json:"name"`
	Also  []string `json:"also,omitempty"` // other tables and figures that it shows
	Title string   `json:"title"`
	Paper string   `json:"paper"`

	trials []trial
	waits  waitpredict.Method // of most trials
	build  func(ctx context.Context, s *study, r *Report) error
}

// Exhibits lists all exhibits, in the paper's order; then what the paper has not.
func Exhibits() []Exhibit {
	o := Default()
	return o.exhibits()
}

func (o *Options) exhibits() []Exhibit {
	tabled, err := o.tabled()
	if err != nil {
		panic(err) // it is embedded; a test reads it
	}
	overall := tabled["table4"].then(func(s *study, r *Report) { r.Tables = append(r.Tables, s.equalResponse(o)) })
	decentral := tabled["decentral"].then(messagesOfTurnaround, o.turnaround())
	return []Exhibit{
		waits(), quoted(), prices(),
		overall, tabled["table5"], o.estimates(), o.sizes(), o.cores(), o.hours(),
		o.fairness(), tabled["fig12"], tabled["fig13"], tabled["table7"], tabled["table8"], tabled["knowledge"],
		decentral, o.protect(), tabled["delay"], tabled["sample"], o.walk(), o.nordugrid(tabled["nordugrid"]),
	}
}

// chosen are the exhibits of the names; all but nordugrid, which takes long, if there
// are none. A figure's name stands for the exhibit that shows it.
func (o *Options) chosen(names []string) ([]Exhibit, error) {
	var found []Exhibit
	all := o.exhibits()
	if len(names) == 0 {
		return slices.DeleteFunc(all, func(e Exhibit) bool { return e.Name == string(nordugrid) }), nil
	}
	for _, name := range names {
		i := slices.IndexFunc(all, func(e Exhibit) bool { return e.Name == name || slices.Contains(e.Also, name) })
		if i < 0 {
			return nil, fmt.Errorf("nothing is called %q; choose from %s", name, strings.Join(Names(), ", "))
		}
		if !slices.ContainsFunc(found, func(e Exhibit) bool { return e.Name == all[i].Name }) {
			found = append(found, all[i])
		}
	}
	return found, nil
}

// Names lists what [Run] takes.
func Names() []string {
	var names []string
	for _, e := range Exhibits() {
		names = append(append(names, e.Name), e.Also...)
	}
	return names
}

// Run makes the exhibits of the names. Progress receives how many of the simulations and
// exhibits are done, from one goroutine at a time; it may be nil. An error says which
// option is wrong, or which file is missing or malformed.
func Run(ctx context.Context, o Options, names []string, progress func(done, of int)) ([]Report, error) {
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
		reports[i] = Report{Name: e.Name, Title: e.Title, Paper: e.Paper}
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
