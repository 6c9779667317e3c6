package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Policy implements [policy.Policy]: a job goes where it ends soonest, if sites are as late as
// they were before.
type Policy struct{}

// Info implements [policy.Policy].
func (Policy) Info() policy.Info {
	return policy.Info{
		Name:        "corrected",
		Initiations: []policy.Initiation{policy.Sender, policy.Receiver, policy.Symmetric, policy.Cycle},
	}
}

// Decide implements [policy.Policy].
func (Policy) Decide(_ context.Context, in policy.Snapshot) ([]policy.Decision, []byte, error) {
	late := readHint(in.Hint)
	late.learn(in.Outcomes)
	hint, err := late.hint(in.Sites)
	if err != nil {
		return nil, nil, err
	}
	var decisions []policy.Decision
	sent := make([]sent, len(in.Sites))
	for j := range in.Jobs {
		s, wait, ok := best(&in, j, late, sent)
		if !ok {
			continue
		}
		site := &in.Sites[s]
		decisions = append(decisions, policy.Decision{
			Job: j, Site: s, Wait: wait,
			Reason: fmt.Sprintf("least turnaround at %s: quoted wait %v, late by %v before", site.Name, in.AWT[in.At(j, s)], late[site.Name]),
		})
		sent[s].jobs++
		sent[s].delay = sent[s].delay.Plus(in.ERT[in.At(j, s)].Rescale(in.Jobs[j].CPUs, site.CPUs))
	}
	return decisions, hint, nil
}

// sent is what the round has sent to a site.
type sent struct {
	jobs  int
	delay protocol.Duration // the work of these jobs, on the whole machine
}

// best returns the site where the job ends soonest, and its wait there without the correction; false if
// no site takes it.
func best(in *policy.Snapshot, j int, late lateness, sent []sent) (site int, wait protocol.Duration, ok bool) {
	var least protocol.Duration
	for s := range in.Sites {
		at := in.At(j, s)
		if in.AWT[at] == protocol.Never || sent[s].jobs >= in.Sites[s].MaxJobs {
			continue
		}
		w := in.AWT[at].Plus(sent[s].delay)
		if end := w.Plus(late[in.Sites[s].Name]).Plus(in.ERT[at]); !ok || end < least {
			site, wait, least, ok = s, w, end, true
		}
	}
	return site, wait, ok
}

// lateness is by how much jobs start later at a site than it quotes: a moving mean. It is the
// state of the policy, and its hint.
type lateness map[protocol.SiteName]protocol.Duration

const (
	weight   = 4            // an outcome moves the mean by a quarter of the difference
	maxLate  = protocol.Day // of one outcome
	maxSites = 500          // in a hint: some 25 KiB of the 64 that are allowed
)

// readHint reads what hint wrote. Anything else is a state without sites: it may come from another
// version of this plugin.
func readHint(hint []byte) lateness {
	var l lateness
	if json.Unmarshal(hint, &l) != nil || l == nil {
		return lateness{}
	}
	for site, d := range l {
		l[site] = min(max(0, d), maxLate)
	}
	return l
}

// learn adds outcomes. A job that never started says nothing of waits.
func (l lateness) learn(outcomes []policy.Outcome) {
	for _, o := range outcomes {
		if o.Wait == protocol.Never || o.QuotedWait == protocol.Never {
			continue
		}
		late := min(max(0, o.Wait-o.QuotedWait), maxLate)
		l[o.Site] += (late - l[o.Site]) / weight
	}
}

// hint is the state for the next round: of the sites that are there, the latest ones if there are
// too many. JSON sorts the names, so equal states are equal hints.
func (l lateness) hint(sites []policy.Site) ([]byte, error) {
	kept := slices.Clone(sites)
	slices.SortStableFunc(kept, func(a, b policy.Site) int { return cmp.Compare(l[b.Name], l[a.Name]) })
	next := lateness{}
	for _, s := range kept[:min(len(kept), maxSites)] {
		if l[s.Name] > 0 {
			next[s.Name] = l[s.Name]
		}
	}
	if len(next) == 0 {
		return nil, nil
	}
	return json.Marshal(next)
}
