package node

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// party is for whom a call is made: results that come home, for the partner that has them and
// the user that waits for them. All other calls have neither.
type party struct {
	site protocol.SiteName
	user string
}

func partyOf(op event.Op) party {
	if collect, ok := op.(event.CollectOp); ok {
		return party{collect.From, collect.User}
	}
	if stage, ok := op.(event.StageInOp); ok {
		return party{site: stage.From}
	}
	return party{}
}

// line are the tasks that wait in a lane. Each party has its turn, so that the many of one do
// not hold up the few of another. A lane locks it.
type line struct {
	waiting int
	turns   []party // that have tasks, the next one first
	tasks   map[party][]task

	atSite map[protocol.SiteName]int // running
	ofUser map[string]int
}

func (l *line) add(t task) {
	if l.tasks == nil {
		l.tasks = make(map[party][]task)
		l.atSite, l.ofUser = make(map[protocol.SiteName]int), make(map[string]int)
	}
	if len(l.tasks[t.of]) == 0 {
		l.turns = append(l.turns, t.of)
	}
	l.tasks[t.of] = append(l.tasks[t.of], t)
	l.waiting++
}

// bounds are how many tasks for one partner, and for one user, may run at once; 0: any number.
type bounds struct{ site, user int }

// next takes the first task of the party whose turn it is out of the line. Parties of whose
// partner or user enough tasks run already are passed over.
func (l *line) next(most bounds) (t task, ok bool) {
	i := slices.IndexFunc(l.turns, func(p party) bool {
		return (most.site == 0 || l.atSite[p.site] < most.site) && (most.user == 0 || l.ofUser[p.user] < most.user)
	})
	if i < 0 {
		return task{}, false
	}
	turn := l.turns[i]
	l.turns = slices.Delete(l.turns, i, i+1)
	tasks := l.tasks[turn]
	t, tasks[0] = tasks[0], task{}
	if tasks = tasks[1:]; len(tasks) == 0 {
		delete(l.tasks, turn)
	} else {
		l.tasks[turn] = tasks
		l.turns = append(l.turns, turn)
	}
	l.waiting--
	l.atSite[t.of.site]++
	l.ofUser[t.of.user]++
	return t, true
}

// over notes that a task has left its place.
func (l *line) over(t task) {
	if l.atSite[t.of.site]--; l.atSite[t.of.site] == 0 {
		delete(l.atSite, t.of.site)
	}
	if l.ofUser[t.of.user]--; l.ofUser[t.of.user] == 0 {
		delete(l.ofUser, t.of.user)
	}
}

type progressKey struct{}

// withProgress ends the context when nothing was heard of [progressed] for so long.
func withProgress(ctx context.Context, stall time.Duration) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(stall, func() { cancel(fmt.Errorf("no progress within %v", stall)) })
	again := func() { timer.Reset(stall) }
	return context.WithValue(ctx, progressKey{}, again), func() {
		timer.Stop()
		cancel(nil)
	}
}

// progressed notes that the call of the context goes on.
func progressed(ctx context.Context) {
	if again, ok := ctx.Value(progressKey{}).(func()); ok && ctx.Err() == nil {
		again()
	}
}
