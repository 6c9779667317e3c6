package peertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// together submits a co-allocation group: the words of its components, with + between them.
func (s *Script) together(args []string) error {
	site, err := s.site(args)
	if err != nil {
		return err
	}
	application := &protocol.Application{Beta: protocol.PPM, MaxCost: protocol.Unlimited, MaxTime: protocol.Never}
	var jobs []protocol.Job
	user := ""
	for words := range splitBy(args[1:], "+") {
		w, err := readJob(words)
		if err != nil {
			return err
		}
		job := w.plan.Job(w.spec)
		job.Component = protocol.Component{Alpha: protocol.PPM, Together: 1}
		jobs, user = append(jobs, job), w.user
	}
	s.world.Ask(site.Name, func(asked event.AskID) event.Event {
		return event.Submit{Asked: asked, User: user, Jobs: jobs, Application: application}
	})
	return nil
}

// splitBy yields the runs of words between separators.
func splitBy(words []string, separator string) func(yield func([]string) bool) {
	return func(yield func([]string) bool) {
		for {
			i := slices.Index(words, separator)
			if i < 0 {
				yield(words)
				return
			}
			if !yield(words[:i]) {
				return
			}
			words = words[i+1:]
		}
	}
}

// requeue has an operator put a job back into the grid queue, which may run it twice.
func (s *Script) requeue(args []string) error {
	site, id, err := s.siteAndJob(args)
	if err != nil {
		return err
	}
	s.world.Force(id)
	s.world.Ask(site.Name, func(asked event.AskID) event.Event {
		return event.Requeue{Asked: asked, Job: id, Force: true, User: "root", Admin: true}
	})
	return nil
}

// save keeps a site's rows, as a backup of its database.
func (s *Script) save(args []string) error {
	site, err := s.site(args)
	if err == nil {
		s.saved = site.rows.Copy()
	}
	return err
}

// restore puts the rows that were saved in the place of a site's, and starts its peer again.
func (s *Script) restore(args []string) error {
	site, err := s.site(args)
	if err != nil {
		return err
	}
	s.world.Restore(site.Name, s.saved)
	return s.world.Restart(site.Name)
}

// recover asks a site's peer what a restored store needs, or, with requeue, cancel or resume,
// has it go on.
func (s *Script) recover(args []string) error {
	site, err := s.site(args)
	if err != nil {
		return err
	}
	how := ""
	if len(args) > 1 {
		how = args[1]
	}
	if len(args) > 2 || !slices.Contains([]string{"", "requeue", "cancel", "resume"}, how) {
		return fmt.Errorf("recover %s: give the site, and requeue, cancel, resume or nothing", strings.Join(args, " "))
	}
	asked := s.world.Ask(site.Name, func(asked event.AskID) event.Event {
		if how == "" {
			return event.AskRecovery{Asked: asked}
		}
		return event.Recover{Asked: asked, Requeue: how == "requeue", Cancel: how == "cancel", User: "root", Admin: true}
	})
	if recovery, ok := site.Answer(asked).(view.Recovery); ok {
		s.out = append(s.out, fmt.Sprintf("  recovery needed %v: %v", recovery.Needed, recovery.Reasons))
	}
	return nil
}

// clock sets a site's clock forward.
func (s *Script) clock(args []string) error {
	site, err := s.site(args)
	if err != nil {
		return err
	}
	if len(args) != 2 {
		return errors.New("by how much?")
	}
	d, err := readSpan(args[1])
	if err != nil {
		return err
	}
	site.skew += d
	site.step(event.ClockSet{By: d})
	s.world.settle()
	return nil
}
