package peertest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

func (s *Script) show(args []string) error {
	if len(args) == 0 {
		return errors.New("show what?")
	}
	if args[0] == "wires" {
		s.showWires()
		return nil
	}
	site, err := s.site(args[1:])
	if err != nil {
		return err
	}
	switch args[0] {
	case "queue":
		return s.showAnswer(site, func(asked event.AskID) event.Event { return event.AskQueue{Asked: asked} })
	case "sites":
		return s.showAnswer(site, func(asked event.AskID) event.Event { return event.AskSites{Asked: asked} })
	case "rows":
		s.showRows(site)
	case "archive":
		for _, id := range slices.Sorted(maps.Keys(site.archive)) {
			s.out = append(s.out, "  "+s.world.scribe.view(site.archive[id]))
		}
	default:
		return fmt.Errorf("cannot show %q", args[0])
	}
	return nil
}

func (s *Script) showWires() {
	for _, wire := range s.world.wires {
		text := wire.Kind
		if m, err := peerv1.Decode(wire.Kind, wire.Body); err == nil {
			text = s.world.scribe.message(m)
		}
		s.out = append(s.out, fmt.Sprintf("  %s->%s %s", wire.From, wire.To, text))
	}
}

func (s *Script) showRows(site *Site) {
	for _, table := range []row.Table{row.ArrayTable, row.JobTable, row.GuestTable, row.RunTable} {
		for _, key := range slices.Sorted(maps.Keys(site.rows.Rows[table])) {
			s.out = append(s.out, "  "+s.world.scribe.record(row.Record{Table: table, Key: key, Row: site.rows.Rows[table][key]}))
		}
	}
}

func (s *Script) showAnswer(site *Site, question func(event.AskID) event.Event) error {
	said := len(s.out)
	reply := site.Answer(s.world.Ask(site.Name, question))
	s.out = s.out[:said]
	switch r := reply.(type) {
	case view.Queue:
		for _, v := range r.Jobs {
			s.out = append(s.out, "  "+s.world.scribe.view(v))
		}
	case view.Sites:
		for _, v := range r.Sites {
			s.out = append(s.out, fmt.Sprintf("  %s %s%s, %d of %d CPUs busy, jobs of it here %d, of ours there %d%s",
				v.Site, v.Link, because(v.Reason), v.Busy, v.CPUs, v.GuestJobs, v.SentJobs, gains(v)))
		}
	case view.Submitted, view.Done, view.Refusal, view.TestSubmitResult, view.Job, view.RunHistory, view.Recovery, view.Shares, nil:
		return fmt.Errorf("%s does not answer", site.Name)
	}
	return nil
}

// gains says what the site's users have of the grid, and what is known of its prices.
func gains(v view.Site) (text string) {
	if v.Benefit != 0 {
		text += fmt.Sprintf(", benefit %d ppm", v.Benefit)
	}
	if v.Prices != "" {
		text += ", " + v.Prices
	}
	return text
}

func (c *scribe) view(v view.Job) string {
	name := c.job(v.ID)
	if v.Array != nil {
		name = fmt.Sprintf("%s [%v]", c.job(v.Array.ID), protocol.Array{Indexes: v.Array.Elements, Throttle: v.Array.Throttle})
	}
	text := fmt.Sprintf("%s %s %v%s", name, v.Name, v.State, because(v.Reason))
	text += fmt.Sprintf(", epoch %d at %s", v.Epoch, cmp.Or(string(v.Site), "no site"))
	if v.Guest {
		text += ", guest of " + string(v.Origin)
	}
	if v.ExitCode != 0 {
		text += fmt.Sprintf(", exit %d", v.ExitCode)
	}
	return text
}
