package quoting

import (
	"cmp"
	"math"
	"slices"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Marginal is the search for the marginal waits of a round: how much longer its second, third …
// job would wait here when the earlier ones came too. They are the quotes of one job of median size
// after none, one, two … like it.
type Marginal struct {
	jobs    int
	until   protocol.Instant // no more quotes are requested then
	request protocol.Request
	mapped  protocol.Association // of the job, by the names of the site
	first   protocol.Duration
	waits   []protocol.Duration
}

// FindMarginal begins the search for this number of jobs of a question, whose quotes are these. It ends at
// the instant with what is known by then; false: there is nothing to be found. The functions say what the local
// scheduler is asked for a job, and what its association is at the site.
func FindMarginal(
	specs []protocol.Spec, quotes []protocol.Quote, jobs int, until protocol.Instant,
	request func(*protocol.Spec) protocol.Request, mapped func(*protocol.Spec) protocol.Association,
) (Marginal, bool) {
	i, ok := median(specs, quotes)
	if jobs = min(jobs, len(specs), protocol.MaxMarginalJobs); jobs < 2 || !ok {
		return Marginal{}, false
	}
	return Marginal{jobs: jobs, until: until, request: request(&specs[i]), mapped: mapped(&specs[i]), first: quotes[i].AWT}, true
}

// Waits are those that are known. They do not fall.
func (m *Marginal) Waits() []protocol.Duration { return m.waits }

// Next is what the local scheduler is asked next, behind these; false: nothing.
func (m *Marginal) Next(ahead []localsched.Tentative, now protocol.Instant) (query localsched.Query, ok bool) {
	if len(m.waits) == m.jobs-1 || now >= m.until {
		return query, false
	}
	request := m.request
	request.Job = 0 // of no job in particular
	query = localsched.Query{Ahead: ahead}
	query.Add(request, m.mapped)
	for k := range len(m.waits) + 1 {
		query.Ahead = append(query.Ahead, localsched.Tentative{
			Tag:     protocol.Tag{Job: m.request.Job, Epoch: math.MaxUint32 - protocol.Epoch(k)},
			Request: m.request, Association: m.mapped,
		})
	}
	return query, true
}

// Take takes the answer in; false: one that is not a quote ends the search.
func (m *Marginal) Take(answer []protocol.Quote) bool {
	if len(answer) != 1 || answer[0].Declined != "" {
		return false
	}
	longer := max(0, answer[0].AWT-m.first)
	if n := len(m.waits); n > 0 {
		longer = max(longer, m.waits[n-1])
	}
	m.waits = append(m.waits, longer)
	return true
}

// median is the index of the job of median size among those that the site would take. It returns
// false if the site takes none.
func median(specs []protocol.Spec, quotes []protocol.Quote) (i int, ok bool) {
	var taken []int
	for i := range quotes {
		if quotes[i].Declined == "" {
			taken = append(taken, i)
		}
	}
	if len(taken) == 0 {
		return 0, false
	}
	slices.SortStableFunc(taken, func(a, b int) int { return cmp.Compare(specs[a].CPUs, specs[b].CPUs) })
	return taken[len(taken)/2], true
}
