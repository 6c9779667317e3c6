package answers_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/answers"
	"github.com/switchyard-hpc/switchyard/peer/broker"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/gridqueue"
	"github.com/switchyard-hpc/switchyard/peer/ledger"
	"github.com/switchyard-hpc/switchyard/peer/lives"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/status"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var (
	seven  = protocol.NewJobID(1, 7)
	thirty = protocol.NewJobID(2, 30)
)

// peerA answers at site a, with a job in the grid queue and an accepted guest of its partner b.
func peerA() answers.Answers {
	site, partners := lives.New(lives.Here{Site: "a", Number: 1}), partner.NewSet()
	partners.Begin(rules.Partner{Site: "b"})
	partners.Of("b").Card = &protocol.Card{Number: 2}
	rows := tables.New(&site, &partners, &gridqueue.Queue{})
	rows.Jobs[seven] = &tables.Job{Job: row.Job{
		Spec:  protocol.Spec{Request: protocol.Request{Job: seven, CPUs: 2}, User: "ada"},
		Phase: row.JobInGridQueue, State: protocol.Pending, Reason: "Resources",
	}}
	rows.Guests[thirty] = &tables.Guest{Guest: row.Guest{
		Spec: protocol.Spec{Request: protocol.Request{Job: thirty, CPUs: 1}, User: "bob"}, Origin: "b", Epoch: 1, Phase: row.GuestAccepted,
	}}
	tag := protocol.Tag{Job: thirty, Epoch: 1}
	rows.Runs[tag] = &localrun.Run{Run: row.Run{Tag: tag, Phase: row.RunQueued, Reason: "Priority"}}
	return answers.Answers{
		Ledger: ledger.Ledger{
			Name: "a", Rows: &rows, Site: &site, Partners: &partners, Drawing: &pricing.Drawing{}, Now: 1000,
			Desk: pricing.Desk{Number: 1, Capacity: &protocol.Capacity{CPUs: 8}, Prices: &pricing.Prices{}},
		},
		Number: 1, Watched: &localrun.Watch{}, Objectives: &broker.Objectives{Policy: &policy.Description{}},
	}
}

// TestAskJob: a job, an accepted guest, and the refusals that say why there is no answer.
func TestAskJob(t *testing.T) {
	t.Parallel()
	a := peerA()
	prepared := protocol.NewJobID(2, 31)
	a.Rows.Guests[prepared] = &tables.Guest{Guest: row.Guest{Origin: "b", Phase: row.GuestPrepared}}
	if v, ok := a.AskJob(seven).(view.Job); !ok || v.ID != seven || v.Reason != "Resources" || v.Guest {
		t.Errorf("a job: %+v", v)
	}
	if v, ok := a.AskJob(thirty).(view.Job); !ok || !v.Guest || v.Reason != "Priority" || v.Origin != "b" {
		t.Errorf("a guest: %+v", v)
	}
	for id, code := range map[protocol.JobID]view.RefusalCode{prepared: view.Denied, 99: view.NotFound} {
		if v, ok := a.AskJob(id).(view.Refusal); !ok || v.Code != code {
			t.Errorf("job %v: %+v", id, v)
		}
	}
}

// TestMayChange: the user of a job and root may change it, nobody a guest.
func TestMayChange(t *testing.T) {
	t.Parallel()
	a := peerA()
	for name, tt := range map[string]struct {
		id    protocol.JobID
		user  string
		admin bool
		code  view.RefusalCode
	}{
		"its user":     {seven, "ada", false, ""},
		"root":         {seven, "root", true, ""},
		"another user": {seven, "eve", false, view.Denied},
		"a guest":      {thirty, "bob", true, view.Denied},
		"no job":       {99, "ada", true, view.NotFound},
	} {
		j, refusal := a.MayChange(tt.id, tt.user, tt.admin, "cancel")
		if (j == nil) != (tt.code != "") || refusal.Code != tt.code {
			t.Errorf("%s: %v, %+v", name, j, refusal)
		}
	}
}

// TestRunAs: the account that has a job here may have it ended while it has not ended, nobody else.
func TestRunAs(t *testing.T) {
	t.Parallel()
	a := peerA()
	guest, own := a.Rows.Runs[protocol.Tag{Job: thirty, Epoch: 1}], a.Rows.Jobs[seven]
	guest.Account = "g-bob"
	for name, tt := range map[string]struct {
		id      protocol.JobID
		account string
		want    *localrun.Run
	}{
		"its account":            {thirty, "g-bob", guest},
		"its user":               {thirty, "bob", nil},
		"a job that is not here": {seven, "ada", nil},
		"a job of nobody":        {99, "", nil},
	} {
		if got := a.RunAs(tt.account, tt.id); got != tt.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
	run := &localrun.Run{Run: row.Run{Tag: own.Tag(), Account: "batch", Phase: row.RunRunning}}
	a.Rows.Runs[own.Tag()] = run
	if got := a.RunAs("batch", seven); got != run {
		t.Errorf("a job of this site: %+v", got)
	}
	guest.Phase = row.RunEnded
	if got := a.RunAs("g-bob", thirty); got != nil {
		t.Errorf("one that has ended: %+v", got)
	}
}

// TestAskOutput: the origin of a guest may fetch its output; that there is none is not said while the
// rows may be old.
func TestAskOutput(t *testing.T) {
	t.Parallel()
	a := peerA()
	aside := protocol.Tag{Job: protocol.NewJobID(2, 40), Epoch: 1}
	a.Watched.Put(localsched.Change{Tag: aside, State: protocol.Completed})
	ask := func(from protocol.SiteName, tag protocol.Tag) view.Reply {
		return a.AskOutput(event.AskOutput{From: from, Tag: tag})
	}
	for _, tag := range []protocol.Tag{{Job: thirty, Epoch: 1}, aside} {
		if got := ask("b", tag); got != (view.Done{}) {
			t.Errorf("the output of %v: %+v", tag, got)
		}
		if got, ok := ask("c", tag).(view.Refusal); !ok || got.Code != view.NotFound {
			t.Errorf("the output of %v for another site: %+v", tag, got)
		}
	}
	a.Site.Listening = true
	if got, ok := ask("b", protocol.Tag{Job: thirty, Epoch: 2}).(view.Refusal); !ok || got.Code != view.Unavailable {
		t.Errorf("while the peer listens: %+v", got)
	}
}

// TestReasons: what a job waits for depends on its partner and on whether anything may start.
func TestReasons(t *testing.T) {
	t.Parallel()
	a := peerA()
	j := a.Rows.Jobs[seven]
	j.Phase, j.Site, j.Epoch, j.State = row.JobRecalling, "b", 1, protocol.Pending
	j.Restored = true
	for link, set := range map[status.Link]func(*partner.Partner){
		status.Reached:   func(one *partner.Partner) { one.Linked = true },
		status.Unreached: func(one *partner.Partner) { one.Linked, one.Unresponsive = true, true },
		status.Departed:  func(one *partner.Partner) { one.Departed = true },
	} {
		one := a.Partners.Of("b")
		one.Linked, one.Unresponsive, one.Departed = false, false, false
		set(one)
		want := a.Standing(j).NeedsOperator(func(protocol.SiteName) status.Link { return link })
		if got := a.NeedsOperator(j); got != want {
			t.Errorf("the partner is %v: %q, want %q", link, got, want)
		}
	}
	queued := peerA()
	if queued.Site.NeedRecovery("the rows are old"); !strings.Contains(queued.Job(queued.Rows.Jobs[seven]).Reason, "the rows are old") {
		t.Errorf("while nothing may start: %q", queued.Job(queued.Rows.Jobs[seven]).Reason)
	}
}

// TestApplications: components show the objectives of their application, and what it has spent.
func TestApplications(t *testing.T) {
	t.Parallel()
	a := peerA()
	a.Money.Own = "EUR"
	j := a.Rows.Jobs[seven]
	app := &tables.Application{Application: row.Application{ID: seven, Count: 3, Spent: 9, Broken: "max_cost"}}
	app.Join(j)
	a.Rows.Applications[seven] = app
	got := a.Job(j).Objectives
	if got == nil || got.Components != 3 || got.Spent != 9 || got.SpentCurrency != "EUR" || got.Broken != "max_cost" {
		t.Errorf("%+v", got)
	}
}

// TestQueue: the jobs and guests that a filter wants, once each.
func TestQueue(t *testing.T) {
	t.Parallel()
	a := peerA()
	for name, tt := range map[string]struct {
		filter view.QueueFilter
		want   []protocol.JobID
	}{
		"all":      {view.QueueFilter{}, []protocol.JobID{seven, thirty}},
		"by names": {view.QueueFilter{Jobs: []protocol.JobID{thirty, 99, thirty}}, []protocol.JobID{thirty}},
		"of ada":   {view.QueueFilter{Users: []string{"ada"}}, []protocol.JobID{seven}},
	} {
		var got []protocol.JobID
		for _, one := range a.Queue(tt.filter).Jobs {
			got = append(got, one.ID)
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// TestFinished: a job is shown with its outcome.
func TestFinished(t *testing.T) {
	t.Parallel()
	a := peerA()
	j := a.Rows.Jobs[seven]
	j.State, j.Reason, j.Outcome, j.Local = protocol.Failed, "why", &protocol.Outcome{ExitCode: 3}, "17"
	if v := a.Finished(j); v.State != protocol.Failed || v.Reason != "why" || v.ExitCode != 3 || v.Local != "17" {
		t.Errorf("%+v", v)
	}
}

// TestSites: the local site first, then its partners.
func TestSites(t *testing.T) {
	t.Parallel()
	a := peerA()
	load := protocol.Load{CPUs: 8, Busy: 3}
	got := a.Sites(answers.Here{Software: "v1", Load: load}).Sites
	if len(got) != 2 || !got[0].Self || got[0].Site != "a" || got[0].Age != nil || got[0].Busy != 3 || got[1].Site != "b" {
		t.Errorf("%+v", got)
	}
	a.Rows.Jobs[seven].Phase = row.JobCommittedLocal
	if got := a.Sites(answers.Here{Load: load, Loaded: true, Benefit: 5}).Sites[0]; got.Age == nil || *got.Age != 0 || got.Benefit != 5 || got.GuestJobs != 1 {
		t.Errorf("%+v", got)
	}
}

// TestOperatorJobs: jobs and guests that only an operator can decide about are counted, each once.
func TestOperatorJobs(t *testing.T) {
	t.Parallel()
	a := peerA()
	counted := func(want int) {
		t.Helper()
		if got := a.Sites(answers.Here{}).Sites[0].OperatorJobs; got != want {
			t.Errorf("%d jobs need an operator, want %d", got, want)
		}
	}
	counted(0)
	a.Rows.Runs[protocol.Tag{Job: thirty, Epoch: 1}].OperatorReason = "the local scheduler cannot tell whether it has the job"
	counted(1)
	j := a.Rows.Jobs[seven]
	j.Phase, j.Epoch, j.Site = row.JobCommittedLocal, 1, "a"
	a.Rows.Runs[j.Tag()] = &localrun.Run{Run: row.Run{Tag: j.Tag(), Phase: row.RunSubmitting, OperatorReason: "it cannot tell of this one either"}}
	counted(2)
	a.Rows.Runs[j.Tag()].OperatorReason = ""
	j.Phase, j.Site = row.JobHandedOff, "b"
	counted(1)
	a.Partners.Of("b").Departed = true
	counted(2)
}

// TestRecovery: what an operator sees: open guests, and jobs in the local queue that no row knows.
func TestRecovery(t *testing.T) {
	t.Parallel()
	a := peerA()
	a.Rows.Guests[99] = &tables.Guest{Guest: row.Guest{Phase: row.GuestClosed}}
	aside := protocol.Tag{Job: protocol.NewJobID(2, 40), Epoch: 1}
	a.Watched.Put(localsched.Change{Tag: aside, State: protocol.Running})
	got := a.Recovery()
	if !reflect.DeepEqual(got.Guests, []protocol.JobID{thirty}) || !reflect.DeepEqual(got.Aside, []view.AsideJob{{Tag: aside, State: protocol.Running}}) {
		t.Errorf("%+v", got)
	}
}
