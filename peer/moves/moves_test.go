package moves_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/peer/gridqueue"
	"github.com/switchyard-hpc/switchyard/peer/lives"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/moves"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const now = protocol.Instant(1_000_000_000)

func rule() rules.Moves {
	return rules.Moves{
		Interval: protocol.Minute, Jobs: 2, Gain: 10 * protocol.Minute, GainShare: protocol.PPM / 5, Wait: 3 * protocol.Hour, Pause: protocol.Hour, Most: 3,
	}
}

// waiting is a job that waits at b, or at a, which is here, and starts there in a while.
func waiting(t *tables.Tables, id protocol.JobID, site protocol.SiteName, wait protocol.Duration) *tables.Job {
	j := &tables.Job{Job: row.Job{
		Spec:  protocol.Spec{Request: protocol.Request{Job: id, CPUs: 2, WallTime: 2 * protocol.Hour}, User: "ada"},
		Phase: row.JobHandedOff, State: protocol.Pending, Site: site, Epoch: 1,
	}}
	if site == "a" {
		j.Phase = row.JobCommittedLocal
		t.Runs[j.Tag()] = &localrun.Run{Run: row.Run{Tag: j.Tag(), Phase: row.RunQueued}}
	}
	j.NotePlannedStart(now.Add(wait), now)
	t.Jobs[id] = j
	return j
}

func rows() *tables.Tables {
	site, partners := lives.New(lives.Here{Site: "a", Number: 1}), partner.NewSet()
	t := tables.New(&site, &partners, &gridqueue.Queue{})
	return &t
}

// TestMay: what keeps a job where it waits.
func TestMay(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*tables.Job, *localrun.Run)
		may    bool
	}{
		"it waits":                 {func(*tables.Job, *localrun.Run) {}, true},
		"it runs":                  {func(j *tables.Job, _ *localrun.Run) { j.State = protocol.Running }, false},
		"it is cancelled":          {func(j *tables.Job, _ *localrun.Run) { j.Cancelling = true }, false},
		"it is held":               {func(j *tables.Job, _ *localrun.Run) { j.SetHold(protocol.HeldByUser) }, false},
		"its rows are old":         {func(j *tables.Job, _ *localrun.Run) { j.Restored = true }, false},
		"it needs an operator":     {func(j *tables.Job, _ *localrun.Run) { j.OperatorReason = "it may have run" }, false},
		"its run does":             {func(_ *tables.Job, r *localrun.Run) { r.OperatorReason = "it may be there" }, false},
		"it is being submitted":    {func(_ *tables.Job, r *localrun.Run) { r.Phase = row.RunSubmitting }, false},
		"it is withdrawn":          {func(_ *tables.Job, r *localrun.Run) { r.Withdraw = true }, false},
		"in the grid queue":        {func(j *tables.Job, _ *localrun.Run) { j.Phase = row.JobInGridQueue }, false},
		"it is on its way back":    {func(j *tables.Job, _ *localrun.Run) { j.Phase = row.JobRecalling }, false},
		"of an application":        {func(j *tables.Job, _ *localrun.Run) { j.App = &tables.Application{} }, false},
		"it starts with others":    {func(j *tables.Job, _ *localrun.Run) { j.Component = &protocol.Component{Together: 1} }, false},
		"its user wants this site": {func(j *tables.Job, _ *localrun.Run) { j.Spec.Sites = []protocol.SiteName{"a"} }, false},
		"or one of two":            {func(j *tables.Job, _ *localrun.Run) { j.Spec.Sites = []protocol.SiteName{"a", "b"} }, true},
		"it starts soon":           {func(j *tables.Job, _ *localrun.Run) { j.NotePlannedStart(now.Add(10*protocol.Minute), now) }, false},
		"no start is planned":      {func(j *tables.Job, _ *localrun.Run) { j.NotePlannedStart(0, now) }, false},
		"that was told long ago": {func(j *tables.Job, _ *localrun.Run) {
			j.NotePlannedStart(now.Add(protocol.Day), now.Add(-protocol.Hour))
		}, false},
		"it has moved lately": {func(j *tables.Job, _ *localrun.Run) { j.Moves, j.MovedAt = 1, now.Add(1-protocol.Hour) }, false},
		"it has moved":        {func(j *tables.Job, _ *localrun.Run) { j.Moves, j.MovedAt = 2, now.Add(-protocol.Hour) }, true},
		"it has moved often":  {func(j *tables.Job, _ *localrun.Run) { j.Moves, j.MovedAt = 3, now.Add(-protocol.Day) }, false},
	} {
		all := rows()
		j := waiting(all, 1, "a", 5*protocol.Hour)
		tt.change(j, all.Runs[protocol.Tag{Job: 1, Epoch: 1}])
		if got := moves.May(rule(), all, j, now); got != tt.may {
			t.Errorf("%s: %t", name, got)
		}
	}
	all := rows()
	j := waiting(all, 1, "b", 5*protocol.Hour)
	if !moves.May(rule(), all, j, now) {
		t.Error("at a partner it stays")
	}
	if j.OwnershipPending = true; moves.May(rule(), all, j, now) {
		t.Error("it moves, and its site is asked whether it has it")
	}
}

// TestNext: the jobs of one site, first those that have not been tried for the longest, then those that start last.
func TestNext(t *testing.T) {
	t.Parallel()
	all, anywhere := rows(), func(protocol.SiteName) bool { return true }
	if _, jobs := moves.Next(rule(), all, anywhere, now); len(jobs) > 0 {
		t.Errorf("%d jobs of none", len(jobs))
	}
	for id, wait := range []protocol.Duration{3 * protocol.Hour, 9 * protocol.Hour, 5 * protocol.Hour, 7 * protocol.Hour} {
		waiting(all, protocol.JobID(id+1), "b", wait)
	}
	waiting(all, 5, "a", 8*protocol.Hour)
	for i, want := range [][]protocol.JobID{{2, 4}, {5}, {1, 3}, {2, 4}} {
		_, jobs := moves.Next(rule(), all, anywhere, now)
		var got []protocol.JobID
		for _, j := range jobs {
			got = append(got, j.Spec.Job)
			j.Tried = now.Add(protocol.Duration(i))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("trial %d is of %v, want %v", i, got, want)
		}
	}
	site, jobs := moves.Next(rule(), all, func(site protocol.SiteName) bool { return site != "b" }, now)
	if site != "a" || len(jobs) != 1 {
		t.Errorf("%d jobs of %q, where b cannot be asked for jobs", len(jobs), site)
	}
}

// TestStay: a job is quoted where it waits by the plan of that site, and as it was placed, in the shape that it has there.
func TestStay(t *testing.T) {
	t.Parallel()
	all, energy := rows(), protocol.Micro(30)
	j := waiting(all, 1, "b", 5*protocol.Hour)
	if q := moves.Stay(j, &j.Spec, now.Add(protocol.Hour)); q.AWT != 4*protocol.Hour || q.ERT != 2*protocol.Hour || len(q.Terms) > 0 {
		t.Errorf("nothing was quoted: %+v", q)
	}
	j.Waits, j.Quoted = &view.QuotedWaits{ERT: protocol.Hour}, &view.QuotedPrice{Cost: 100, Currency: "EUR", Energy: &energy}
	if q := moves.Stay(j, &j.Spec, now.Add(protocol.Day)); q.AWT != 0 || q.ERT != protocol.Hour || q.Cost() != 100 || q.Currency != "EUR" || len(q.Terms) != 2 {
		t.Errorf("it was quoted: %+v", q)
	}
	other := j.Spec
	if other.CPUs = 4; moves.Stay(j, &other, now).Declined == "" {
		t.Error("it has a quote in another shape")
	}
}

// TestGain: a job that waits at site 0 for 4 hours and runs for 1 has to end sooner by more than ten minutes and a fifth of 5 hours.
func TestGain(t *testing.T) {
	t.Parallel()
	const hour = protocol.Hour
	for name, tt := range map[string]struct {
		site  int
		wait  protocol.Duration // by the policy's word
		awt   protocol.Duration // quoted
		ert   protocol.Duration
		delay protocol.Duration
		gain  protocol.Duration
		worth bool
	}{
		"it stays":                       {site: 0, ert: hour},
		"nowhere":                        {site: policy.NoSite, ert: hour},
		"at once":                        {site: 1, ert: hour, gain: 4 * hour, worth: true},
		"just a fifth":                   {site: 1, wait: 3 * hour, awt: 3 * hour, ert: hour, gain: hour},
		"a bit more":                     {site: 1, wait: 3*hour - 1, awt: 3 * hour / 2, ert: hour, gain: hour + 1, worth: true},
		"the policy says less than that": {site: 1, wait: 0, awt: 3 * hour, ert: hour, gain: hour},
		"later, and it runs faster":      {site: 1, wait: 4 * hour, awt: 4 * hour, ert: 1, gain: hour - 1},
		"it runs slower":                 {site: 1, ert: 5 * hour},
		"it would wait longer":           {site: 1, wait: 3*hour + 1, ert: 1, gain: 2*hour - 2},
		"the next cycle is late":         {site: 1, ert: hour, delay: 3 * hour, gain: hour},
	} {
		in := policy.Snapshot{
			Sites: []policy.Site{{Name: "b"}, {Name: "c"}}, Self: policy.NoSite, Jobs: []policy.Job{{ID: 7}},
			AWT: []protocol.Duration{4 * hour, tt.awt}, ERT: []protocol.Duration{hour, tt.ert},
		}
		gain, worth := moves.Gain(rule(), &in, 0, policy.Decision{Job: 0, Site: tt.site, Wait: tt.wait}, tt.delay)
		if gain != tt.gain || worth != tt.worth {
			t.Errorf("%s: it ends %v sooner, worth a move: %t", name, gain, worth)
		}
	}
}

// TestGainWithData: data that are still to travel count, and those that are where the job waits do not; results come back from both.
func TestGainWithData(t *testing.T) {
	t.Parallel()
	in := policy.Snapshot{
		Sites: []policy.Site{{Name: "a"}, {Name: "b", Bandwidth: 1000}, {Name: "c", Bandwidth: 1000}}, Jobs: []policy.Job{{ID: 7, Data: 7_200_000, DataOut: 3_600_000}},
		AWT: []protocol.Duration{0, 4 * protocol.Hour, 0}, ERT: []protocol.Duration{protocol.Hour, protocol.Hour, protocol.Hour},
	}
	if gain, _ := moves.Gain(rule(), &in, 1, policy.Decision{Site: 2}, 0); gain != 2*protocol.Hour {
		t.Errorf("to another partner: %v", gain)
	}
	if gain, _ := moves.Gain(rule(), &in, 1, policy.Decision{Site: 0}, 0); gain != 5*protocol.Hour {
		t.Errorf("home: %v", gain)
	}
}

// TestGainIsKept: whatever the numbers are, a move that is worth it gains more than both margins, and a larger margin allows no move
// that a smaller one does not.
func TestGainIsKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		span := func(name string) protocol.Duration {
			return protocol.Duration(rapid.OneOf(rapid.Int64Range(0, int64(protocol.Day)), rapid.Int64Min(0)).Draw(t, name))
		}
		in := policy.Snapshot{
			Sites: []policy.Site{{Name: "b"}, {Name: "c"}}, Self: policy.NoSite, Jobs: []policy.Job{{ID: 7}},
			AWT: []protocol.Duration{span("stay"), span("go")}, ERT: []protocol.Duration{span("run"), span("other run")},
		}
		r := rules.Moves{Gain: span("gain"), Wait: span("wait"), GainShare: rapid.IntRange(0, protocol.PPM).Draw(t, "share")}
		gain, worth := moves.Gain(r, &in, 0, policy.Decision{Site: 1}, 0)
		stays, goes := in.AWT[0].Plus(in.ERT[0]), in.AWT[1].Plus(in.ERT[1])
		if worth && (gain != stays-goes || in.AWT[1] > r.Wait || gain <= r.Gain || stays == protocol.Never || float64(gain) < float64(stays)*float64(r.GainShare)/protocol.PPM*0.999) {
			t.Fatalf("%v against %v: worth %v", goes, stays, gain)
		}
		if less := r.Gain / 2; worth {
			if _, still := moves.Gain(rules.Moves{Gain: less, Wait: r.Wait, GainShare: r.GainShare / 2}, &in, 0, policy.Decision{Site: 1}, 0); !still {
				t.Fatalf("a smaller margin keeps it")
			}
		}
	})
}
