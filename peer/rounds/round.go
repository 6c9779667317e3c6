package rounds

import (
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Round collects quotes. Its rows are jobs, each in all shapes that sites are asked about; the rows of
// one job are neighbours.
type Round struct {
	ID       protocol.RoundID
	Opened   protocol.Instant
	Specs    []protocol.Spec     // of the rows
	Reach    []Reach             // whom to ask, for each row
	Home     []protocol.Quote    // of the own site, for each row
	Extra    []protocol.Duration // marginal waits of the own site, see [policy.Site]
	HomeDone bool                // the own site's answers are all in
	Asks     []*Ask              // by site
	Decided  bool                // nothing is waited for any more
}

// Pack puts the jobs that wait, in their order, into the rows of a round as long as they fit. Neighbours
// that belong together are in it all, or none of them; what does not fit is left, and what comes after it
// may still fit.
func Pack(ids []protocol.JobID, together func(a, b protocol.JobID) bool, rowsOf func(protocol.JobID) []protocol.Spec, fits func([]protocol.Spec) bool) (specs []protocol.Spec, left []protocol.JobID) {
	specs = make([]protocol.Spec, 0, len(ids))
	for len(ids) > 0 {
		n, rows := 0, []protocol.Spec(nil)
		for n == 0 || n < len(ids) && together(ids[0], ids[n]) {
			rows = append(rows, rowsOf(ids[n])...)
			n++
		}
		if fits(rows) {
			specs = append(specs, rows...)
		} else {
			left = append(left, ids[:n]...)
		}
		ids = ids[n:]
	}
	return specs, left
}

// Ask is what one partner was asked and answered. Of the partner itself the round goes by what is known
// when it is read.
type Ask struct {
	Partner   *partner.Partner
	Volunteer uint64 // number of the availability message that it was asked by
	Jobs      []int  // indices of rows, ascending
	InPlace   []int  // those of them that would run in place at the partner, ascending
	Reply     *protocol.QuoteReply
	Missed    bool // no answer is waited for any more
	Arrived   bool // a trial's rows wait at the partner, which was not asked; their data are there, so that only results travel
}

// End is the end of the rows of the job whose first row is i.
func (r *Round) End(i int) int {
	end := i + 1
	for end < len(r.Specs) && r.Specs[end].Job == r.Specs[i].Job {
		end++
	}
	return end
}

// Keep leaves only the rows that are kept in the round, before anybody else is asked about them.
func (r *Round) Keep(kept func(row int) bool) {
	specs, home := r.Specs[:0:0], r.Home[:0:0]
	for i := range r.Specs {
		if kept(i) {
			specs, home = append(specs, r.Specs[i]), append(home, r.Home[i])
		}
	}
	r.Specs, r.Home = specs, home
}

// AskOf is what the partner was asked; nil: nothing.
func (r *Round) AskOf(one *partner.Partner) *Ask {
	if i := slices.IndexFunc(r.Asks, func(a *Ask) bool { return a.Partner == one }); i >= 0 {
		return r.Asks[i]
	}
	return nil
}

// Waits says whether the partner's answer is still waited for.
func (a *Ask) Waits() bool { return a.Reply == nil && !a.Missed }

// Complete says whether all answers are in that the round waits for.
func (r *Round) Complete() bool {
	return r.HomeDone && !slices.ContainsFunc(r.Asks, (*Ask).Waits)
}

// Take takes a partner's answer. One that does not answer what was asked is an error, and counts as
// none.
func (r *Round) Take(a *Ask, m protocol.QuoteReply) error {
	if err := r.check(a, &m); err != nil {
		a.Missed = true
		return err
	}
	a.Reply = &m
	return nil
}

func (r *Round) check(a *Ask, m *protocol.QuoteReply) error {
	if len(m.Quotes) != len(a.Jobs) {
		return fmt.Errorf("%d quotes for %d jobs", len(m.Quotes), len(a.Jobs))
	}
	for k, i := range a.Jobs {
		if m.Quotes[k].Job != r.Specs[i].Job {
			return errors.New("quotes that are not in the order of the jobs")
		}
	}
	return nil
}

// NotAsked is the quote of a partner that the round asks about other jobs only.
const NotAsked = "not asked in this round"

// Asked says whether the partner was asked about a row.
func (a *Ask) Asked(row int) bool {
	_, asked := slices.BinarySearch(a.Jobs, row)
	return asked
}

// Quote is the partner's quote for a row; declined when it was not asked.
func (a *Ask) Quote(row int) protocol.Quote {
	k, asked := slices.BinarySearch(a.Jobs, row)
	switch {
	case !asked:
		return protocol.Quote{Declined: NotAsked}
	case a.Reply == nil:
		return protocol.Quote{Declined: "no answer in time"}
	}
	return a.Reply.Quotes[k]
}

// IsInPlace says whether a row would run in place at the partner, so that nothing of it travels.
func (a *Ask) IsInPlace(row int) bool {
	_, is := slices.BinarySearch(a.InPlace, row)
	return is
}

// Transfer is how long the data of a row travel to the partner.
func (a *Ask) Transfer(row int, spec *protocol.Spec) protocol.Duration {
	if a.IsInPlace(row) {
		return 0
	}
	return a.Partner.Transfer(spec)
}

// turnaround is that of a row at the partner, with the way of its data.
func (a *Ask) turnaround(row int, spec *protocol.Spec) protocol.Duration {
	q := a.Quote(row)
	if q.Declined == "" {
		q.AWT = max(q.AWT, a.Transfer(row, spec))
	}
	return q.ATT()
}

// Quote is what a site said of a row: a partner that was asked, or the own one; a is nil for that.
func (r *Round) Quote(row int, a *Ask) protocol.Quote {
	if a == nil {
		return r.Home[row]
	}
	return a.Quote(row)
}

// QuoteOf is the quote of the site of that name.
func (r *Round) QuoteOf(row int, site protocol.SiteName) protocol.Quote {
	for _, a := range r.Asks {
		if a.Partner.Site == site {
			return a.Quote(row)
		}
	}
	return r.Home[row]
}

// Best is the quote with the shortest wait for the job whose first row is i, in any of its shapes, and the site that made it;
// here is the name of the own site. It returns false if all sites decline.
func (r *Round) Best(i int, here protocol.SiteName) (best protocol.Quote, site protocol.SiteName, ok bool) {
	consider := func(q protocol.Quote, of protocol.SiteName) {
		if q.Declined == "" && (!ok || q.AWT < best.AWT) {
			best, site, ok = q, of, true
		}
	}
	for row := i; row < r.End(i); row++ {
		consider(r.Home[row], here)
		for _, a := range r.Asks {
			consider(a.Quote(row), a.Partner.Site)
		}
	}
	return best, site, ok
}

// Takers counts the sites that would take the job whose first row is i in one of its shapes.
func (r *Round) Takers(i int) (n int) {
	takes := func(a *Ask) bool {
		for row := i; row < r.End(i); row++ {
			if q := r.Quote(row, a); q.Declined == "" {
				return true
			}
		}
		return false
	}
	if takes(nil) {
		n++
	}
	for _, a := range r.Asks {
		if takes(a) {
			n++
		}
	}
	return n
}

// Replies are how many partners the round asked about the job of a row, in any of its shapes, and those of them that have not
// answered, or nothing that counts. The partner where a job of a trial waits is not asked.
func (r *Round) Replies(row int) (asked int, silent []string) {
	for _, a := range r.Asks {
		if a.Arrived || !r.isAbout(a, row) {
			continue
		}
		asked++
		if a.Reply == nil {
			silent = append(silent, string(a.Partner.Site))
		}
	}
	return asked, silent
}

// isAbout says whether a partner was asked about any row of the job of a row. As these are neighbours, one of them is the next to it.
func (r *Round) isAbout(a *Ask, row int) bool {
	of := func(k int) bool { return k >= 0 && k < len(a.Jobs) && r.Specs[a.Jobs[k]].Job == r.Specs[row].Job }
	next, _ := slices.BinarySearch(a.Jobs, row)
	return of(next) || of(next-1)
}

// Shape is the index of the shape that a row has among those of its job; 0 for a rigid one.
func (r *Round) Shape(row int, shapes []protocol.Shape) int {
	return max(0, slices.IndexFunc(shapes, func(s protocol.Shape) bool { return s.CPUs == r.Specs[row].CPUs }))
}

// StayHome are the rows whose wait at the own site is below φ, so that their jobs stay there without
// the network [SS 2.1, Figure 2]. Several jobs of one round share the CPUs that are free now.
func (r *Round) StayHome(phi protocol.Duration, free int) (rows []int) {
	for i := range r.Specs {
		q := &r.Home[i]
		if q.Declined != "" || q.AWT >= phi || len(rows) > 0 && r.Specs[i].CPUs > free {
			continue
		}
		rows = append(rows, i)
		free -= r.Specs[i].CPUs
	}
	return rows
}
