package peertest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// checkPlaced sees that a job is neither held when its origin places it, nor before what it depends on has come about. It
// compares the row with what has really started and ended, not with what the row says of that. After a start the row may have other
// conditions, which came too late.
func (m *monitor) checkPlaced(s *Site, records []row.Record) {
	for _, rec := range records {
		stored, ok := rec.Row.(row.Job)
		tag := stored.Tag()
		if !ok || stored.Phase == row.JobInGridQueue || stored.Phase == row.JobEnding || m.placed[tag] || m.older {
			continue
		}
		m.placed[tag] = true
		if hold := stored.Wants().Hold; hold != "" {
			m.problem("%v is placed at %q and held (%s)", tag, stored.Site, hold)
		}
		if unmet := m.unmet(s, &stored); unmet != "" {
			m.problem("%v is placed at %q and waits: %s", tag, stored.Site, unmet)
		}
	}
}

// unmet is what a job still waits for; empty: it may start as far as other jobs matter.
func (m *monitor) unmet(s *Site, j *row.Job) string {
	d := j.Wants().Dependency
	if d == nil {
		return ""
	}
	var unmet []string
	for _, t := range d.Terms {
		if why := m.unmetTerm(s, j, t); why != "" {
			unmet = append(unmet, why)
		}
	}
	if d.Any && len(unmet) < len(d.Terms) {
		return ""
	}
	return strings.Join(unmet, ", ")
}

func (m *monitor) unmetTerm(s *Site, j *row.Job, t protocol.DependencyTerm) string {
	awaited := t.Job
	if t.Kind == protocol.AfterCorr { // of an element whose array waits for one of another origin
		awaited = protocol.Element{Array: t.Job, Index: j.Element.Index}.ID()
		if !m.elements[t.Job].Has(j.Element.Index) {
			return fmt.Sprintf("%s:%v, which has no element %d", t.Kind, t.Job, j.Element.Index)
		}
	}
	state := cmp.Or(m.ends[awaited], m.arrays[awaited], m.never[awaited]) // 0: it has not ended
	if slices.ContainsFunc(append([]protocol.State{state}, m.requeued[awaited]...), func(ended protocol.State) bool { return m.met(t, ended) }) {
		return ""
	}
	if t.Kind == protocol.Singleton {
		if first := m.firstNamed(s, j); first != 0 {
			return fmt.Sprintf("%s, and %v is older", t.Kind, first)
		}
		return ""
	}
	return fmt.Sprintf("%s:%v, which is %v", t.Kind, t.Job, state)
}

// met says whether a term has come about by a job that has ended in a state; 0: it has not ended.
func (m *monitor) met(t protocol.DependencyTerm, state protocol.State) bool {
	switch starts := m.starts[t.Job]; t.Kind {
	case protocol.Singleton:
	case protocol.After:
		if len(starts) > 0 {
			return starts[0].at.Add(t.Delay) <= m.world.now
		}
		return state != 0
	case protocol.AfterAny:
		return state != 0
	case protocol.AfterOK, protocol.AfterCorr:
		return state == protocol.Completed
	case protocol.AfterNotOK:
		return state != 0 && state != protocol.Completed
	}
	return false
}

// firstNamed is the oldest open job or array of the user and the name of a job, or of its array, if that is older; 0: none is.
// Those that were requeued after their end hold up none that had begun to wait before.
func (m *monitor) firstNamed(s *Site, j *row.Job) protocol.JobID {
	own := j
	if array, ok := s.rows.Array(j.Element.Array); ok {
		own = &array.Job
	}
	var older []protocol.JobID
	look := func(other *row.Job) {
		if len(m.requeued[other.Spec.Job]) == 0 && other.Spec.Job < own.Spec.Job && other.Spec.User == own.Spec.User && other.Spec.Name == own.Spec.Name {
			older = append(older, other.Spec.Job)
		}
	}
	for _, stored := range s.rows.Jobs() {
		if stored.Element.Array == 0 {
			look(&stored)
		}
	}
	for _, stored := range rowsAs[row.Array](s.rows.Rows[row.ArrayTable]) {
		look(&stored.Job)
	}
	if len(older) == 0 {
		return 0
	}
	return slices.Min(older)
}

// noteNever notes elements of an array that end before they become jobs.
func (m *monitor) noteNever(array protocol.JobID, elements protocol.Indexes) {
	for index := range elements.All() {
		m.never[protocol.Element{Array: array, Index: index}.ID()] = protocol.Cancelled
	}
}
