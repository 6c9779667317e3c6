package accounting

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/switchyard-hpc/switchyard/internal/int128"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// EndTolerance is how far apart two sites may say that a job ended: their clocks differ, and one hears
// of the end from the other.
const EndTolerance = protocol.Hour

// Compare compares the statement of a partner with the own archive, line by line. The jobs are those of
// the archive that the statement names, and those that ended from [EndTolerance] before the month to
// that after it, with all their runs. The disputes are in the order of the jobs.
func (s *Statement) Compare(jobs []view.Job) []Dispute {
	ours, others := s.match(jobs)
	var disputes []Dispute
	stated := make(map[protocol.Tag]bool, len(s.Lines))
	runs := map[protocol.JobID]map[protocol.Epoch]bool{} // of each job, here and in the statement
	note := func(tag protocol.Tag) {
		stated[tag] = true
		if runs[tag.Job] == nil {
			runs[tag.Job] = map[protocol.Epoch]bool{}
		}
		runs[tag.Job][tag.Epoch] = true
	}
	for i := range s.Lines {
		l := &s.Lines[i]
		note(l.tag())
		job := ours[l.tag()]
		if other := others[l.Job]; job == nil && other != nil {
			delete(others, l.Job)
			stated[tagOf(other)] = true
			job = other
		}
		disputes = append(disputes, s.compareLine(l, job)...)
	}
	for tag, job := range ours {
		if between(job, s.With, s.By) && !stated[tag] {
			note(tag)
			if s.shouldState(job) {
				l := lineOf(job)
				disputes = append(disputes, Dispute{Job: tag.Job, Epoch: tag.Epoch, Field: "job", Theirs: "not in the statement", Ours: l.text()})
			}
		}
	}
	for i := range disputes {
		if d := &disputes[i]; len(runs[d.Job]) < 2 {
			d.Epoch = 0
		}
	}
	slices.SortStableFunc(disputes, func(a, b Dispute) int {
		return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Epoch, b.Epoch))
	})
	return disputes
}

// match returns the runs of the own archive by their tags, and of each job the last run that the statement does not name,
// with which a line of an epoch that is not in the archive is compared. A job that ended in the grid queue after a run has the
// epoch of that run: the run counts.
func (s *Statement) match(jobs []view.Job) (ours map[protocol.Tag]*view.Job, others map[protocol.JobID]*view.Job) {
	named := make(map[protocol.Tag]bool, len(s.Lines))
	for i := range s.Lines {
		named[s.Lines[i].tag()] = true
	}
	ours, others = make(map[protocol.Tag]*view.Job, len(jobs)), map[protocol.JobID]*view.Job{}
	for i := range jobs {
		job := &jobs[i]
		tag := tagOf(job)
		if ours[tag] == nil || job.Earlier {
			ours[tag] = job
		}
		if other := others[job.ID]; !named[tag] && (other == nil || other.Epoch < job.Epoch) {
			others[job.ID] = job
		}
	}
	return ours, others
}

// tagOf is the tag of a run of the archive.
func tagOf(job *view.Job) protocol.Tag { return protocol.Tag{Job: job.ID, Epoch: job.Epoch} }

// shouldState says whether a job of the own archive must be in the statement, wherever the clocks of the two
// sites are. That it was made before the end of the month is no excuse: one without the rest is not all of it.
func (s *Statement) shouldState(job *view.Job) bool {
	month, err := ParseMonth(s.Month)
	since, until := month.Bounds()
	return err == nil && between(job, s.With, s.By) &&
		job.Ended >= since.Add(EndTolerance) && job.Ended < until.Add(-EndTolerance)
}

// Again compares the statement with that of another month by the same site: a job that both state would be billed twice.
// [Statement.Compare] cannot see that where a job has ended close to a bound of the month.
func (s *Statement) Again(other *Statement) (disputes []Dispute, err error) {
	if other.By != s.By || other.With != s.With || other.Month == s.Month {
		return nil, fmt.Errorf("a statement of %s with %s for %s is compared with those of other months between the two, not with that of %s with %s for %s",
			s.By, s.With, s.Month, other.By, other.With, other.Month)
	}
	stated := make(map[protocol.Tag]bool, len(other.Lines))
	for i := range other.Lines {
		stated[other.Lines[i].tag()] = true
	}
	for i := range s.Lines {
		if l := &s.Lines[i]; stated[l.tag()] {
			disputes = append(disputes, Dispute{Job: l.Job, Field: "month", Theirs: s.Month, Ours: "in the statement for " + other.Month + " already"})
		}
	}
	return disputes, nil
}

// compareLine compares a line with a job of the own archive; nil: there is none.
func (s *Statement) compareLine(l *Line, job *view.Job) (disputes []Dispute) {
	differ := func(field, theirs, ours string) {
		disputes = append(disputes, Dispute{Job: l.Job, Epoch: l.Epoch, Field: field, Theirs: theirs, Ours: ours})
	}
	if job == nil {
		differ("job", l.text(), "not in the archive")
		return disputes
	}
	if !between(job, s.With, s.By) || job.Site != l.Site {
		differ("job", l.text(), whatRan(job))
		return disputes
	}
	our := lineOf(job)
	for _, number := range []struct {
		field        string
		theirs, ours int64
	}{
		{"epoch", int64(l.Epoch), int64(our.Epoch)},
		{"cpus", int64(l.CPUs), int64(our.CPUs)},
		{"ran_ms", int64(l.Ran), int64(our.Ran)},
		{"energy_mj", l.Energy, our.Energy},
	} {
		if number.theirs != number.ours {
			differ(number.field, strconv.FormatInt(number.theirs, 10), strconv.FormatInt(number.ours, 10))
		}
	}
	if l.Cost != our.Cost || l.Currency != our.Currency {
		differ("cost", l.Cost.TextIn(l.Currency), our.Cost.TextIn(our.Currency))
	}
	if max(l.Ended.Sub(our.Ended), our.Ended.Sub(l.Ended)) > EndTolerance {
		differ("ended", l.Ended.Text(), our.Ended.Text())
	}
	return disputes
}

func (l *Line) text() string {
	return fmt.Sprintf("epoch %d ran at %s for %s on %d CPUs, %s", l.Epoch, l.Site, l.Ran.Text(), l.CPUs, l.Cost.TextIn(l.Currency))
}

// whatRan is what the own archive says of a job that did not run between the two sites.
func whatRan(job *view.Job) string {
	if job.Started == 0 {
		return "the job did not run"
	}
	return fmt.Sprintf("epoch %d of a job of %s ran at %s", job.Epoch, job.Origin, job.Site)
}

// Total is what a site ran for the other one, billed in one currency.
type Total struct {
	Site     protocol.SiteName `json:"site"` // that ran it
	Jobs     int               `json:"jobs"`
	CPUTime  protocol.Duration `json:"cpu_ms"`
	Energy   int64             `json:"energy_mj"`
	Cost     protocol.Micro    `json:"cost_micro"`
	Currency string            `json:"currency,omitempty"`
}

// Totals are those of the lines, by the site that ran the jobs and by currency.
func (s *Statement) Totals() []Total {
	type key struct {
		site     protocol.SiteName
		currency string
	}
	sums := map[key]*Total{}
	for i := range s.Lines {
		l := &s.Lines[i]
		t := sums[key{l.Site, l.Currency}]
		if t == nil {
			t = &Total{Site: l.Site, Currency: l.Currency}
			sums[key{l.Site, l.Currency}] = t
		}
		t.Jobs++
		t.CPUTime = t.CPUTime.Plus(l.CPUTime())
		t.Energy = int128.Whole(t.Energy).Plus(int128.Whole(l.Energy)).Down()
		t.Cost = t.Cost.Plus(l.Cost)
	}
	out := make([]Total, 0, len(sums))
	for _, t := range sums {
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b Total) int { return cmp.Or(cmp.Compare(a.Site, b.Site), cmp.Compare(a.Currency, b.Currency)) })
	return out
}
