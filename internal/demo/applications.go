package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy/iss"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// plainJobs is the default number of jobs that the demo of iss submits beside its applications.
const plainJobs = 8

// apart is how far apart components may start that start together.
const apart = protocol.Second

// brokered says whether the demo shows applications.
func (d *Demo) brokered() bool { return d.Policy == iss.Name }

// brokerage is what a site of the demo says of money and of its machine. The numbers are
// such that seconds cost something.
const brokerage = `
[exchange_rates]
CHF = 1.0
EUR = 0.94

[cost.cpu]
price = %d

[cost.eco]
cooling = 1.3

[cost.data]
per_gb_in = 0.02

[localsched.cpu_model]
peak_gflops = %g
memory_bandwidth = "10GB/s"
network_bandwidth = "125MB/s"
latency_us = 50.0

[[waiting_cost]]
name = "salary"
kind = "salary"
rate = 180.0
days = "mon-sun"
hours = "00:00-24:00"

[default_weights]
objective = "balanced"
waiting_cost = "salary"
`

// brokerage is the site's TOML beside that of its electricity.
func (s site) brokerage() string { return fmt.Sprintf(brokerage, s.cpuHour, s.gflops) }

// application is an application of the demo in TOML. Each component has the script of
// its name.
type application struct {
	name       string
	components []string
	text       string
}

// applications are one that needs CPUs at two sites at the same time, and one that has limits.
// The first has the grid for itself, so that viewers of the demo do not wait long for it.
func applications() []application {
	return []application{
		{"weather", []string{"ocean", "air"}, `[application]
name = "weather"
objective = "fastest"

[[component]]
name = "ocean"
script = "ocean.sh"
cpus = 6
together = "coupled"

[[component]]
name = "air"
script = "air.sh"
cpus = 4
together = "coupled"
`},
		{"wing", []string{"mesh", "solve", "plot"}, `[application]
name = "wing"
max_cost = "5 CHF"
max_time = "1m"

[[component]]
name = "mesh"
script = "mesh.sh"
cpus = 2
data_in = "1GB"
[component.behavior]
operations = 2.4e10

[[component]]
name = "solve"
script = "solve.sh"
cpus = [1, 2, 4]
[component.behavior]
operations = 4e10
sent = 1e7
messages = 1000
cpus = 4
scaling = "surface"

[[component]]
name = "plot"
script = "plot.sh"
cpus = 1
`},
	}
}

// applied is an application that was submitted.
type applied struct {
	batchscript.Batch

	jobs []*tracked
}

// applyAll submits the applications of the demo. The tasks are their components' scripts.
func (d *Demo) applyAll(ctx context.Context, tasks []testbed.Task) error {
	for _, application := range applications() {
		n := len(application.components)
		done, err := d.apply(ctx, application, tasks[:n])
		if err != nil {
			return fmt.Errorf("submit the application %s: %w", application.name, err)
		}
		d.applied, tasks = append(d.applied, done), tasks[n:]
	}
	return nil
}

func (d *Demo) apply(ctx context.Context, application application, tasks []testbed.Task) (applied, error) {
	path := filepath.Join(d.Dir, application.name+".toml")
	wrong := os.WriteFile(path, []byte(application.text), 0o600)
	for i, component := range application.components {
		wrong = errors.Join(wrong, os.WriteFile(filepath.Join(d.Dir, component+".sh"), []byte(tasks[i].Script), 0o600))
	}
	if wrong != nil {
		return applied{}, wrong
	}
	batch, ids, err := d.user.Submit(ctx, path, d.work)
	if err != nil {
		return applied{}, err
	}
	out := applied{Batch: batch}
	for i, component := range application.components {
		task := tasks[i]
		task.Name = component
		out.jobs = append(out.jobs, &tracked{Task: task, id: ids[i]})
	}
	return out, nil
}

// componentTasks is how many tasks the applications take.
func (d *Demo) componentTasks() (n int) {
	if !d.brokered() {
		return 0
	}
	for _, application := range applications() {
		n += len(application.components)
	}
	return n
}

// printApplications prints what each application cost and took, the event log of one, the choices
// that there were, and the run history.
func (d *Demo) printApplications(ctx context.Context) error {
	if !d.brokered() {
		return nil
	}
	wing := d.applied[len(d.applied)-1]
	if err := d.printComponent(ctx, wing.jobs[1]); err != nil {
		return err
	}
	d.say("\nIf %s were submitted again: the choices by the run history, as \"switchyard quote --pareto\"\nprints them:\n", wing.Name)
	if err := d.user.Choices(ctx, wing.Batch); err != nil {
		return fmt.Errorf("ask for the choices of %s: %w", wing.Name, err)
	}
	d.say("\nThe run history of the components, as \"switchyard history\" prints it:\n")
	known, err := d.client.RunHistory(ctx, "", false)
	if err != nil {
		return fmt.Errorf("ask for the run history: %w", err)
	}
	known.Components = slices.DeleteFunc(known.Components, func(c view.ComponentHistory) bool { return !d.isComponent(c.Name) })
	if err := display.RunHistory(known).Write(d.Out, "", true); err != nil {
		return err
	}
	d.say("\nPredicted and actual cost and time of the applications, next to their limits:\n")
	if err := d.applicationTable().Write(d.Out, "", true); err != nil {
		return err
	}
	for i := range d.applied {
		for _, one := range d.applied[i].together() {
			d.say("%s started together, %s apart.", one.names, console.Brief(one.apart))
		}
	}
	return nil
}

func (d *Demo) printComponent(ctx context.Context, job *tracked) error {
	facts, err := d.client.Explain(ctx, protocol.JobName{Job: job.id})
	if err != nil {
		return fmt.Errorf("explain %s: %w", job.Name, err)
	}
	d.say("\nThe event log of %s, as \"switchyard explain --long\" prints it:\n\n%s", job.Name, display.Story{Long: true}.Text(job.seen.job, facts))
	return nil
}

func (d *Demo) isComponent(name string) bool {
	return slices.ContainsFunc(d.applied, func(a applied) bool {
		return slices.ContainsFunc(a.jobs, func(job *tracked) bool { return job.Name == name })
	})
}

func (d *Demo) applicationTable() *console.Table {
	t := console.NewTable("APPLICATION", "COMPONENTS AT", " COST", " OF", " TIME", " OF")
	for i := range d.applied {
		a := &d.applied[i]
		at := make([]string, len(a.jobs))
		for k, job := range a.jobs {
			at[k] = fmt.Sprintf("%s %s (%s)", job.Name, job.seen.job.Site, strconv.Itoa(job.seen.job.CPUs))
		}
		mostCost, mostTime := "-", "-"
		if a.Application.MaxCost != protocol.Unlimited {
			mostCost = console.Amount(a.Application.MaxCost, a.Application.Currency)
		}
		if a.Application.MaxTime != protocol.Never {
			mostTime = console.Brief(a.Application.MaxTime)
		}
		t.Add(a.Name, strings.Join(at, ", "), console.Amount(mills(a.cost()), d.currency()), mostCost, console.Brief(a.took()), mostTime)
	}
	return t
}

// currency is that of the site where all is submitted.
func (d *Demo) currency() string { return sites()[0].currency }

// cost is the sum of the predicted costs of all components at the sites that ran them.
func (a *applied) cost() (sum protocol.Micro) {
	for _, job := range a.jobs {
		sum = sum.Plus(job.seen.job.Cost)
	}
	return sum
}

// took is the time from the submission to the last end.
func (a *applied) took() (longest protocol.Duration) {
	for _, job := range a.jobs {
		longest = max(longest, job.seen.job.Ended.Sub(job.seen.job.Submitted))
	}
	return longest
}

// faults are limits that were not kept, and components that did not start together.
func (a *applied) faults() (wrong []error) {
	if cost := a.cost(); cost > a.Application.MaxCost {
		wrong = append(wrong, fmt.Errorf("%s cost %s, more than it may", a.Name, console.Amount(cost, a.Application.Currency)))
	}
	if took := a.took(); took > a.Application.MaxTime {
		wrong = append(wrong, fmt.Errorf("%s took %s, longer than it may", a.Name, console.Brief(took)))
	}
	for _, one := range a.together() {
		if one.apart > apart || one.site {
			wrong = append(wrong, fmt.Errorf("%s did not start together at two sites, but %s apart", one.names, console.Brief(one.apart)))
		}
	}
	return wrong
}

// couple is a component and the first one that it starts together with.
type couple struct {
	names string            // with their sites
	apart protocol.Duration // from one start to the other
	site  bool              // both ran at one
}

// together are the couples of the application.
func (a *applied) together() (couples []couple) {
	first := map[int]view.Job{}
	for i, job := range a.jobs {
		number, view := a.Jobs[i].Component.Together, job.seen.job
		if number == 0 {
			continue
		}
		before, known := first[number]
		if !known {
			first[number] = view
			continue
		}
		apart := view.Started.Sub(before.Started)
		couples = append(couples, couple{
			names: fmt.Sprintf("%s at %s and %s at %s", before.Name, before.Site, view.Name, view.Site),
			apart: max(apart, -apart), site: before.Site == view.Site,
		})
	}
	return couples
}
