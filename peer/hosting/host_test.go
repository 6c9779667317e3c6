package hosting_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/cost"
	"github.com/switchyard-hpc/switchyard/peer/association"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/fairness"
	"github.com/switchyard-hpc/switchyard/peer/gridqueue"
	"github.com/switchyard-hpc/switchyard/peer/hosting"
	"github.com/switchyard-hpc/switchyard/peer/lives"
	"github.com/switchyard-hpc/switchyard/peer/localrun"
	"github.com/switchyard-hpc/switchyard/peer/partner"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/quoting"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/tables"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// accounts has one for everybody but eve.
type accounts struct{}

func (accounts) Local(user string) (string, error) {
	if user == "eve" {
		return "", errors.New("eve has no account here")
	}
	return user, nil
}

func (a accounts) Guest(_ protocol.SiteName, user string) (string, error) { return a.Local(user) }

// siteA has 8 CPUs, of which 2 are busy, and takes 2 jobs of its partner b.
func siteA() (hosting.Host, *partner.Partner) {
	site, partners := lives.New(lives.Here{Site: "a", Number: 1}), partner.NewSet()
	partners.Begin(rules.Partner{Site: "b", MaxJobs: 2})
	cfg := &rules.Config{Site: "a", Number: 1, Capacity: protocol.Capacity{CPUs: 8, Nodes: 8}, Accounts: accounts{}, CheckInterval: 300_000}
	return hosting.Host{
		Fair:   &fairness.Book{},
		Files:  &tables.Files{},
		Config: cfg, Site: &site, Partners: &partners, Claims: quoting.Claims{}, Now: 1000,
		Desk: pricing.Desk{Number: 1, Capacity: &cfg.Capacity, Prices: &pricing.Prices{}},
		Load: protocol.Load{CPUs: 8, Busy: 2},
	}, partners.Of("b")
}

func spec(id protocol.JobID, cpus int) protocol.Spec {
	return protocol.Spec{Request: protocol.Request{Job: id, CPUs: cpus, WallTime: protocol.Hour}, User: "ada", Name: "x"}
}

// TestDecline: why the site would not run a job of its own user, and of a partner's.
func TestDecline(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change     func(h *hosting.Host, one *partner.Partner, s *protocol.Spec, j *tables.Job)
		own, guest string // what the reasons contain; empty: it would run the job
	}{
		"nothing":                   {func(*hosting.Host, *partner.Partner, *protocol.Spec, *tables.Job) {}, "", ""},
		"a wide job":                {func(_ *hosting.Host, _ *partner.Partner, s *protocol.Spec, _ *tables.Job) { s.CPUs = 9 }, "CPUs", "CPUs"},
		"a user without an account": {func(_ *hosting.Host, _ *partner.Partner, s *protocol.Spec, _ *tables.Job) { s.User = "eve" }, "no account", "no account"},
		"an account that nothing maps": {func(h *hosting.Host, _ *partner.Partner, s *protocol.Spec, _ *tables.Job) {
			h.Config.Associations, s.Account = association.Table{Rules: []association.Rule{{Origin: "b", Account: "phys"}}}, "chem"
		}, "", `account "chem" of user "ada" of b: not mapped`},
		"an account that is refused to all": {func(h *hosting.Host, _ *partner.Partner, s *protocol.Spec, _ *tables.Job) {
			h.Config.Associations, s.Account = association.Table{Rules: []association.Rule{{Origin: "*", Account: "chem", Refuse: "closed"}}}, "chem"
		}, "refused: closed", "refused: closed"},
		"a QOS where nothing is mapped": {func(_ *hosting.Host, _ *partner.Partner, s *protocol.Spec, _ *tables.Job) { s.QOS = "gold" }, "none of that name", "none of that name"},
		"a QOS with a price": {func(h *hosting.Host, _ *partner.Partner, s *protocol.Spec, _ *tables.Job) {
			h.Config.Associations.Priced, s.QOS = []string{"gold"}, "gold"
		}, "", ""},
		"an account where nothing is mapped": {func(_ *hosting.Host, _ *partner.Partner, s *protocol.Spec, _ *tables.Job) { s.Account = "chem" }, "", ""},
		"the site is excluded": {func(h *hosting.Host, _ *partner.Partner, _ *protocol.Spec, j *tables.Job) {
			j.Excluded.Exclude("a", h.Now+1)
			j.NotHere = "the queue is full"
		}, "the queue is full", ""},
		"nothing may start": {func(h *hosting.Host, _ *partner.Partner, _ *protocol.Spec, _ *tables.Job) { h.Site.Listening = true }, "", "just started"},
		"a barred partner": {func(_ *hosting.Host, one *partner.Partner, _ *protocol.Spec, _ *tables.Job) {
			one.Barred = "speaks protocol 9"
		}, "", "b speaks protocol 9"},
		"the site is drained": {func(h *hosting.Host, _ *partner.Partner, _ *protocol.Spec, _ *tables.Job) {
			h.Site.Drain = &view.Drain{Scope: view.DrainGuests, Reason: "disks"}
		}, "", "draining: disks"},
		"no job starts here": {func(h *hosting.Host, _ *partner.Partner, _ *protocol.Spec, _ *tables.Job) {
			h.Site.Drain = &view.Drain{Scope: view.DrainStarts, Reason: "disks"}
		}, "draining: disks", "draining: disks"},
		"a partner that is sent none": {func(_ *hosting.Host, one *partner.Partner, _ *protocol.Spec, _ *tables.Job) {
			one.Row.Drain = &view.Drain{Scope: view.DrainSending, Reason: "disks"}
		}, "", ""},
		"a drained partner": {func(_ *hosting.Host, one *partner.Partner, _ *protocol.Spec, _ *tables.Job) {
			one.Row.Drain = &view.Drain{Scope: view.DrainBoth, Reason: "disks"}
		}, "", "takes no jobs of b: disks"},
		"an isolated partner": {func(_ *hosting.Host, one *partner.Partner, _ *protocol.Spec, _ *tables.Job) {
			one.Row.Drain = &view.Drain{Scope: view.DrainIsolated, Reason: "disks"}
		}, "", "takes no jobs of b"},
		"all jobs of a partner": {func(_ *hosting.Host, one *partner.Partner, _ *protocol.Spec, _ *tables.Job) { one.JobsHere = 2 }, "", "2"},
		"the share of guests": {func(h *hosting.Host, one *partner.Partner, _ *protocol.Spec, _ *tables.Job) {
			h.Config.Protect.Share, one.CPUsHere = 250_000, 2
		}, "", "guest"},
		"files of a job that fit": {func(h *hosting.Host, one *partner.Partner, s *protocol.Spec, _ *tables.Job) {
			h.Config.MaxStaging, one.MaxStaging, s.StageIn, s.StageOut = 30_000_000, 20_000_000, 20_000_000, true
		}, "", ""},
		"more files than the site takes": {func(h *hosting.Host, _ *partner.Partner, s *protocol.Spec, _ *tables.Job) {
			h.Config.MaxStaging, s.StageIn = 30_000_000, 30_000_001
		}, "", "the job's files have 31 MB, and this site takes 30 MB with a job ([staging] max_bytes)"},
		"more files than it takes of the partner": {func(h *hosting.Host, one *partner.Partner, s *protocol.Spec, _ *tables.Job) {
			h.Config.MaxStaging, one.MaxStaging, s.StageIn = 30_000_000, 20_000_000, 20_000_001
		}, "", "this site takes 20 MB with a job (max_staging of the partner)"},
		"files beside those of its user": {func(h *hosting.Host, _ *partner.Partner, s *protocol.Spec, _ *tables.Job) {
			h.Config.MaxStaging, h.Config.MaxUserStaging, s.StageIn = 30_000_000, 50_000_000, 30_000_000
			h.Files.Note(8, tables.Owner{Origin: "b", User: "ada"}, 20_000_001)
		}, "", "the job's files have 30 MB, and 21 MB of ada's files are here or on their way: this site takes 50 MB of a user at once ([staging] max_user_bytes)"},
		"files beside those of others": {func(h *hosting.Host, _ *partner.Partner, s *protocol.Spec, _ *tables.Job) {
			h.Config.MaxStaging, h.Config.MaxUserStaging, s.StageIn = 30_000_000, 50_000_000, 30_000_000
			h.Files.Note(8, tables.Owner{Origin: "b", User: "bob"}, 50_000_000)
			h.Files.Note(9, tables.Owner{Origin: "c", User: "ada"}, 50_000_000)
			h.Files.Note(7, tables.Owner{Origin: "b", User: "ada"}, 50_000_000) // the job itself, offered again
		}, "", ""},
		"more files than of a user": {func(h *hosting.Host, _ *partner.Partner, s *protocol.Spec, _ *tables.Job) {
			h.Config.MaxStaging, h.Config.MaxUserStaging, s.StageIn = 30_000_000, 10_000_000, 10_000_001
		}, "", "the job's files have 11 MB, and this site takes 10 MB of a user at once ([staging] max_user_bytes)"},
		"results of its user": {func(h *hosting.Host, _ *partner.Partner, s *protocol.Spec, _ *tables.Job) {
			h.Config.MaxStaging, h.Config.MaxUserStaging, s.StageOut = 30_000_000, 10_000_000, true
			h.Files.Note(8, tables.Owner{Origin: "b", User: "ada"}, 10_000_001)
		}, "", "this site takes 10 MB of a user at once"},
		"no files": {func(_ *hosting.Host, _ *partner.Partner, s *protocol.Spec, _ *tables.Job) { s.StageOut = true }, "", "takes no files with jobs"},
		"a batch system without files": {func(h *hosting.Host, _ *partner.Partner, s *protocol.Spec, _ *tables.Job) {
			h.Config.MaxStaging, h.Config.NoGuestFiles, s.StageIn = 30_000_000, true, 1
		}, "", "takes no files with jobs"},
	} {
		h, one := siteA()
		s := spec(7, 1)
		j := &tables.Job{Job: row.Job{Spec: s}}
		tt.change(&h, one, &s, j)
		own, guest := h.DeclineOwn(j, &s), h.DeclineGuest(one, &s, false)
		if (own == "") != (tt.own == "") || !strings.Contains(own, tt.own) {
			t.Errorf("%s: of its own user: %q", name, own)
		}
		if (guest == "") != (tt.guest == "") || !strings.Contains(guest, tt.guest) {
			t.Errorf("%s: of a partner: %q", name, guest)
		}
	}
	h, _ := siteA()
	s := spec(7, 1)
	if why := h.DeclineOwn(nil, &s); why != "" {
		t.Errorf("a job that has ended meanwhile: %q", why)
	}
}

// TestQuoteOwn: the local scheduler's quote, or why there is none.
func TestQuoteOwn(t *testing.T) {
	t.Parallel()
	h, _ := siteA()
	s, wide := spec(7, 1), spec(8, 9)
	got := h.QuoteOwn(nil, &s, protocol.Quote{Job: 1, AWT: 5}, nil, protocol.Hourly)
	if got.Job != 7 || got.AWT != 5 || got.Declined != "" {
		t.Errorf("%+v", got)
	}
	if got := h.QuoteOwn(nil, &wide, protocol.Quote{AWT: 5}, nil, protocol.Hourly); got.Declined == "" || got.AWT != 0 || got.Job != 8 {
		t.Errorf("a job that is too wide: %+v", got)
	}
	if got := h.QuoteOwn(nil, &s, protocol.Quote{}, errors.New("hangs"), protocol.Hourly); !strings.Contains(got.Declined, "does not answer: hangs") {
		t.Errorf("a local scheduler that hangs: %+v", got)
	}
}

// TestAnswer: jobs that the site would not take are declined at once, the others when they are quoted.
func TestAnswer(t *testing.T) {
	t.Parallel()
	h, one := siteA()
	h.Config.Protect.Delay, h.Load.QueuedJobs = protocol.Minute, 1
	a, query := h.Answer(one, protocol.QuoteRequest{Round: 3, Jobs: []protocol.Spec{spec(7, 1), spec(8, 9), spec(9, 2)}}, 1)
	if a.Asked() != 2 || len(query.Jobs) != 2 || query.ProtectSite == nil || *query.ProtectSite != 1 || a.Reply.Round != 3 || a.Reply.MaxJobs != 1 {
		t.Fatalf("asked are %d, the query %+v, the reply %+v", a.Asked(), query, a.Reply)
	}
	if got := a.Reply.Quotes; got[0].Declined != "" || got[1].Declined == "" || got[2].Job != 9 {
		t.Errorf("%+v", got)
	}
	h.Fill(&a, &event.QuoteResult{Quotes: []protocol.Quote{{AWT: 5, Delay: 30_000}, {AWT: 6, Delay: 90_000}}}, nil)
	if got := a.Reply.Quotes; got[0].AWT != 5 || got[0].Delay != 0 || got[0].Job != 7 || got[2].AWT != 0 || !strings.Contains(got[2].Declined, "would delay") {
		t.Errorf("%+v", got)
	}
	if got := h.Complete(one, a.Reply); got.Free != 6 || got.Load != h.Load || len(got.Quotes) != 3 {
		t.Errorf("%+v", got)
	}
	h.Fill(&a, &event.QuoteResult{}, errors.New("hangs"))
	if got := a.Reply.Quotes; !strings.Contains(got[0].Declined, "hangs") || strings.Contains(got[1].Declined, "hangs") {
		t.Errorf("%+v", got)
	}
	h.Config.Protect.Delay = 0
	if h.Protects() || h.Query().ProtectSite != nil {
		t.Error("local users are protected without a limit")
	}
}

// TestGuarded: without pending jobs none can be delayed, and any number of shapes is asked about.
func TestGuarded(t *testing.T) {
	t.Parallel()
	h, one := siteA()
	h.Config.Protect.Delay = protocol.Minute
	var jobs []protocol.Spec
	for i := range 400 {
		s := spec(protocol.JobID(i+1), 1)
		s.WallTime += protocol.Duration(i)
		jobs = append(jobs, s)
	}
	if a, _ := h.Answer(one, protocol.QuoteRequest{Jobs: jobs}, 9); a.Asked() != 400 {
		t.Errorf("without pending jobs %d are asked about", a.Asked())
	}
	h.Load.QueuedJobs = 1
	a, _ := h.Answer(one, protocol.QuoteRequest{Jobs: jobs}, 9)
	if a.Asked() == 0 || a.Asked() == 400 || a.Reply.Quotes[399].Declined != quoting.GuardedReason {
		t.Errorf("with a pending job %d are asked about, the last: %+v", a.Asked(), a.Reply.Quotes[399])
	}
}

// TestCard: what the site says of itself, and to a partner what it may have here.
func TestCard(t *testing.T) {
	t.Parallel()
	h, one := siteA()
	h.Config.MaxJobsPerCycle, one.SeenSeq, one.Row.Life.Boot = 1, 30, 4
	h.Site.Incarnation, h.Site.Recovery = 9, "the rows are old"
	if got := h.Card("b"); got.Site != "a" || got.Incarnation != 9 || got.MaxJobs != 1 || got.SeenSeq != 30 || got.Seen.Boot != 4 || !got.Stopped {
		t.Errorf("%+v", got)
	}
	if got := h.Card("c"); got.Number != 1 || got.MaxJobs != 0 || got.SeenSeq != 0 || got.Stopped {
		t.Errorf("to a site that is no partner: %+v", got)
	}
}

// TestSubmission: what the local scheduler gets of a job of this site, and of a guest.
func TestSubmission(t *testing.T) {
	t.Parallel()
	h, _ := siteA()
	rows := tables.New(h.Site, h.Partners, &gridqueue.Queue{})
	r := &localrun.Run{Run: row.Run{Tag: protocol.Tag{Job: 5, Epoch: 1}, Account: "acct"}, Request: protocol.Request{Job: 5, CPUs: 7}}
	if _, ok := h.Submission(&rows, r); ok {
		t.Error("a run without a row is submitted")
	}
	rows.Guests[5] = &tables.Guest{Guest: row.Guest{Spec: spec(5, 2), Origin: "b", Epoch: 1, ReservedAt: 40}, Payload: &protocol.Payload{WorkDir: "/w"}}
	rows.Guests[5].Tolerance = 3
	s, ok := h.Submission(&rows, r)
	if !ok || !s.Guest || s.Origin != "b" || s.Account != "acct" || s.Spec.CPUs != 7 || s.Payload.WorkDir != "/w" || s.StartBy != 43 {
		t.Errorf("a guest: %+v", s)
	}
	j := &tables.Job{Job: row.Job{Spec: spec(5, 2)}}
	rows.AddJob(j, &protocol.Payload{Script: []byte("x")})
	if s, ok = h.Submission(&rows, r); !ok || s.Guest || s.Origin != "a" || s.Spec.User != "ada" || string(s.Payload.Script) != "x" {
		t.Errorf("a job of this site: %+v", s)
	}
}

// qosPrices makes each QOS run at a frequency of its own, and sells no other.
type qosPrices map[string]int

func (p qosPrices) Bill(w cost.Work) (bill cost.Bill, reason string) {
	mhz, has := p[w.Spec.QOS]
	if !has {
		return cost.Bill{}, "no QOS " + w.Spec.QOS
	}
	return cost.Bill{MHz: mhz}, ""
}

// TestSpeedOfTheMappedQOS: a job runs at the speed of the QOS that it is priced by, not of the one that it asks for
// where the site ignores or replaces that.
func TestSpeedOfTheMappedQOS(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rules []association.Rule
		got   protocol.Association // when it was placed
		asked string
		want  string
	}{
		"ignored":                {[]association.Rule{{Origin: "*", Ignore: []string{association.QOS}}}, protocol.Association{}, "urgent", "SWITCHYARD_MHZ=1000"},
		"replaced":               {[]association.Rule{{Origin: "*", AsQOS: "low"}}, protocol.Association{QOS: "low"}, "urgent", "SWITCHYARD_MHZ=800"},
		"no rules":               {nil, protocol.Association{}, "LOW", "SWITCHYARD_MHZ=800"},
		"refused by now":         {[]association.Rule{{Origin: "*", Refuse: "closed"}}, protocol.Association{}, "urgent", "SWITCHYARD_MHZ=1000"},
		"no rules by now":        {nil, protocol.Association{QOS: "low"}, "urgent", "SWITCHYARD_MHZ=800"},
		"another one by its row": {[]association.Rule{{Origin: "*", AsQOS: "idle"}}, protocol.Association{QOS: "low"}, "urgent", "SWITCHYARD_MHZ=800"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, _ := siteA()
			h.Config.Associations = association.Table{Rules: tt.rules, Priced: []string{"low"}}
			h.Desk.Costs = qosPrices{"": 1000, "low": 800}
			rows := tables.New(h.Site, h.Partners, &gridqueue.Queue{})
			s := spec(5, 2)
			s.QOS, s.PredictedRunTime = tt.asked, protocol.Hour
			rows.Guests[5] = &tables.Guest{Guest: row.Guest{Spec: s, Origin: "b", Epoch: 1}, Payload: &protocol.Payload{}}
			r := &localrun.Run{
				Run:     row.Run{Tag: protocol.Tag{Job: 5, Epoch: 1}, Account: "acct", Association: tt.got},
				Request: s.Request,
			}
			got, ok := h.Submission(&rows, r)
			if !ok || len(got.Payload.Env) != 1 || got.Payload.Env[0] != tt.want || got.Spec.Association != tt.got {
				t.Errorf("%+v with %v, want %s", got.Spec.Association, got.Payload.Env, tt.want)
			}
		})
	}
}

// TestMisstatedFiles: what an offer brings is what it announces.
func TestMisstatedFiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		announced protocol.Spec
		files     *protocol.Staging
		wrong     bool
	}{
		{protocol.Spec{}, nil, false},
		{protocol.Spec{StageIn: 5, StageOut: true}, &protocol.Staging{Bytes: 5, Out: []string{"."}}, false},
		{protocol.Spec{StageIn: 5}, nil, true},
		{protocol.Spec{StageIn: 5}, &protocol.Staging{Bytes: 6}, true},
		{protocol.Spec{}, &protocol.Staging{Out: []string{"."}}, true},
	} {
		offer := &protocol.Offer{Spec: tt.announced, Payload: &protocol.Payload{Staging: tt.files}}
		if why := hosting.MisstatedFiles(partner.New(rules.Partner{Site: "b"}), offer); (why != "") != tt.wrong {
			t.Errorf("%+v, %+v: %q", tt.announced, tt.files, why)
		}
	}
}
