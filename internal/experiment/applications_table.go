package experiment

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// besides says how many applications there are besides the jobs.
func besides(all *Applications) string {
	if all == nil {
		return ""
	}
	return ", " + protocol.Count(all.Applications, "application") + " with " + protocol.Count(all.Components, "component")
}

// applicationsText says where the components of an experiment's applications went.
func (o *Outcome) applicationsText() string {
	all := o.Applications
	var out strings.Builder
	fmt.Fprintf(&out, "\nApplications under scheme %s%s:\n\n", o.Scheme, inCurrency(all.Currency))
	for _, t := range []*console.Table{applicationsTable(all), componentsTable(all), incomeTable(all)} {
		out.WriteString(t.Text("", true) + "\n")
	}
	out.WriteString(all.unstarted())
	fmt.Fprintf(&out, "Mean relative error of the predicted run times: %s, of the predicted costs: %s. Utilization: %s.\n",
		console.Part(all.RunError), console.Part(all.CostError), console.Part(all.Utilization))
	return out.String()
}

// notStarted are components of an application that did not start for like reasons.
type notStarted struct{ application, reason string }

// unstarted says why components did not start: of those with like reasons, that of the
// first.
func (a *Applications) unstarted() string {
	var out strings.Builder
	var kinds []notStarted
	numbers, first := map[notStarted]int{}, map[notStarted]string{}
	for i := range a.Each {
		one := &a.Each[i]
		for _, c := range one.Components {
			why := cmp.Or(one.Refused, c.Reason)
			if c.Site != "" || why == "" {
				continue
			}
			reason, _, _ := strings.Cut(why, " (")
			kind := notStarted{one.Name, reason}
			if numbers[kind]++; numbers[kind] == 1 {
				kinds, first[kind] = append(kinds, kind), why
			}
		}
	}
	for _, kind := range kinds {
		fmt.Fprintf(&out, "%s of %s did not start: %s.\n", protocol.Count(numbers[kind], "component"), console.Plain(kind.application), console.Plain(first[kind]))
	}
	if len(kinds) > 0 {
		out.WriteString("\n")
	}
	return out.String()
}

func inCurrency(name string) string {
	if name == "" {
		return ""
	}
	return ", in " + console.Plain(name)
}

// applicationsTable has a line for the submissions of each application.
func applicationsTable(all *Applications) *console.Table {
	t := console.NewTable("APPLICATION", " SUBMITTED", " COMPLETED", " RESPONSE", " COST", " WAITING", " LIMITS MET")
	var names []string
	sums := map[string]*OneApplication{}
	counts := map[string][3]int{}
	for i := range all.Each {
		one := &all.Each[i]
		sum := sums[one.Name]
		if sum == nil {
			sum = &OneApplication{Response: new(float64)}
			sums[one.Name], names = sum, append(names, one.Name)
		}
		n := counts[one.Name]
		n[0]++
		if one.Response != nil {
			n[1]++
			*sum.Response += *one.Response
			if one.CostMet && one.TimeMet {
				n[2]++
			}
		}
		counts[one.Name] = n
		sum.Cost, sum.Waiting = sum.Cost+one.Cost, sum.Waiting+one.Waiting
	}
	for _, name := range names {
		n, sum := counts[name], sums[name]
		response := "-"
		if n[1] > 0 {
			response = console.Seconds(*sum.Response / float64(n[1]))
		}
		t.Add(console.Plain(name), strconv.Itoa(n[0]), strconv.Itoa(n[1]), response,
			console.Decimals(sum.Cost), console.Decimals(sum.Waiting), strconv.Itoa(n[2]))
	}
	return t
}

// placed are like components at one place.
type placed struct {
	application, component, site, state string
	cpus                                int
}

// componentsTable has a line for each place where components of a name went.
func componentsTable(all *Applications) *console.Table {
	t := console.NewTable("COMPONENT", "OF", "SITE", "STATE", " CPUS", " NUMBER", " WAIT", " RUN", " PREDICTED", " COST", " PREDICTED")
	var places []placed
	sums := map[placed]*OneComponent{}
	counts := map[placed]int{}
	for i := range all.Each {
		for _, c := range all.Each[i].Components {
			at := placed{all.Each[i].Name, c.Name, c.Site, c.State, c.CPUs}
			if sums[at] == nil {
				sums[at], places = &OneComponent{}, append(places, at)
			}
			sum := sums[at]
			counts[at]++
			sum.Wait, sum.Run, sum.PredictedRun = sum.Wait+c.Wait, sum.Run+c.Run, sum.PredictedRun+c.PredictedRun
			sum.Cost, sum.PredictedCost = sum.Cost+c.Cost, sum.PredictedCost+c.PredictedCost
		}
	}
	for _, at := range places {
		sum, n := sums[at], float64(counts[at])
		site := console.Plain(at.site)
		if site == "" {
			site = "-"
		}
		t.Add(console.Plain(at.component), console.Plain(at.application), site, at.state, strconv.Itoa(at.cpus), strconv.Itoa(counts[at]),
			console.Seconds(sum.Wait/n), console.Seconds(sum.Run/n), console.Seconds(sum.PredictedRun/n), console.Decimals(sum.Cost), console.Decimals(sum.PredictedCost))
	}
	return t
}

func incomeTable(all *Applications) *console.Table {
	t := console.NewTable("SITE", " COMPONENTS", " UTIL", " INCOME")
	for _, site := range all.Sites {
		t.Add(console.Plain(site.Site), strconv.Itoa(site.Components), console.Part(site.Utilization), console.Decimals(site.Income))
	}
	return t
}
