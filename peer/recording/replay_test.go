package recording_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/peertest"
	"github.com/switchyard-hpc/switchyard/peer/recording"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var update = flag.Bool("update", false, "write the golden recording anew; read the difference before you commit it")

func read(t *testing.T, data []byte) *recording.Reader {
	t.Helper()
	r, err := recording.NewReader("test.rec", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func replayed(t *testing.T, data []byte) recording.Summary {
	t.Helper()
	s, err := recording.Replay(read(t, data), policies)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// same fails the test at a difference.
func same(t *testing.T, s recording.Summary) {
	t.Helper()
	if s.First != nil || s.Differences != 0 {
		t.Errorf("%d differences, the first: %v", s.Differences, s.First)
	}
}

// TestReplayMakesTheSameSteps: origin and target, from submissions to results,
// with refusals, questions and errors.
func TestReplayMakesTheSameSteps(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]recording.Options{"bare": {}, "bodies": {Bodies: true}, "clear": {Clear: true, Sync: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := options()
			all.Bodies, all.Clear, all.Sync = o.Bodies, o.Clear, o.Sync
			p := newPair(t, all)
			play(p)
			for _, s := range p.sites {
				sum := replayed(t, s.recording())
				same(t, sum)
				if int(sum.Steps) != s.steps || sum.Sent != s.sent || sum.Rounds != s.rounds || sum.Checked != s.rounds {
					t.Errorf("%s: %+v; made %d steps, %d messages, %d rounds", s.name, sum, s.steps, s.sent, s.rounds)
				}
				if sum.Jobs < 3 || sum.End != "the peer stopped" || sum.Cut != "" {
					t.Errorf("%s: %+v", s.name, sum)
				}
			}
			if sum := replayed(t, p.sites["a"].recording()); sum.Decisions < 3 || sum.Rounds == 0 || sum.Received == 0 {
				t.Errorf("the life is too dull: %+v", sum)
			}
		})
	}
}

// TestElectricityIsReplayed: cycles, prices that come and fail, waits that grow, MaxQ and
// protection, and rules that change meanwhile.
func TestElectricityIsReplayed(t *testing.T) {
	t.Parallel()
	place := peertest.Greedy{MarginalJobs: 3, EnergyPricing: protocol.TwoPrice}
	p := newPairOf(t, options(), func(s *site) {
		s.place = place
		s.cfg.Policy, s.cfg.Initiation, s.cfg.CycleInterval, s.cfg.MaxJobsPerCycle = policy.Describe(place), policy.Cycle, 5*protocol.Second, 2
		s.cfg.Area, s.cfg.Power, s.cfg.PriceRefresh = "x", 250_000, 10*protocol.Second
		s.cfg.Protect = rules.Protection{Delay: protocol.Minute, Share: 600_000}
	})
	play(p)
	a := p.sites["a"]
	tuning := a.cfg.Runtime()
	tuning.MaxJobsPerCycle, tuning.CycleInterval = 1, 7*protocol.Second
	p.post(0, "a", submission(11, "eve", 3))
	p.post(1, "a", event.Reconfigure{Asked: 12, Runtime: tuning})
	partners := slices.Clone(a.cfg.Partners)
	partners[0].MaxJobs = 3
	p.post(2, "a", event.SetPartners{Asked: 13})
	p.post(2, "a", event.SetPartners{Asked: 14, Partners: partners})
	p.run(protocol.Minute)
	greedy := func(string, []policy.Param) (policy.Policy, error) { return place, nil }
	cycles, prices := 0, 0
	for _, s := range p.sites {
		data := s.recording()
		sum, err := recording.Replay(read(t, data), greedy)
		if err != nil || int(sum.Steps) != s.steps || sum.Checked != s.rounds {
			t.Errorf("%s: %+v, %v", s.name, sum, err)
		}
		same(t, sum)
		cycles, prices = cycles+sum.Rounds, prices+s.priced
		if text := string(data); !strings.Contains(text, "the feed is down") {
			t.Errorf("%s: the recording does not tell of missing prices", s.name)
		}
	}
	if cycles < 2 || prices < 10 {
		t.Errorf("the life is too dull: %d cycles, prices asked %d times", cycles, prices)
	}
	// Other prices would have given other quotes: they are an input.
	forged := forge(t, p.sites["b"].recording(), `"Price":-7000000`, `"Price":-8000000`)
	if sum, err := recording.Replay(read(t, forged), greedy); err != nil || sum.First == nil {
		t.Errorf("forged prices: %+v, %v", sum, err)
	}
}

// TestCostsAreReplayed: what the code of a configuration answers is an input, as what users
// want of their applications is.
func TestCostsAreReplayed(t *testing.T) {
	t.Parallel()
	place := peertest.Greedy{ApplicationAware: true}
	o := options()
	o.Clear = true
	p := newPairOf(t, o, func(s *site) {
		s.place = place
		s.cfg.Policy, s.cfg.Costs, s.cfg.Reserves, s.cfg.Currency = policy.Describe(place), people{}, true, "EUR"
		s.cfg.Exchange = map[string]protocol.Micro{"EUR": protocol.Unit, "CHF": protocol.Unit / 2}
		s.cfg.WaitingCosts = map[string]rules.WaitingCost{"salary": people{}, "market": people{}}
		s.cfg.DefaultWeights = rules.DefaultWeights{Alpha: protocol.PPM, Beta: protocol.PPM, WaitingCost: "salary"}
	})
	p.run(protocol.Second)
	both := submission(1, "ada", 2)
	both.Application = &protocol.Application{Name: "pair", Beta: protocol.PPM, MaxCost: 40 * protocol.Unit, MaxTime: protocol.Day, Waiting: "market"}
	for i := range both.Jobs {
		both.Jobs[i].Component = protocol.Component{Name: "half", Alpha: protocol.PPM, Together: 1}
	}
	p.post(0, "a", both)
	p.post(10, "a", submission(2, "bob", 1))
	test := both
	p.post(20, "a", event.TestSubmit{Asked: 3, User: "ada", Jobs: test.Jobs, Application: test.Application, Front: true})
	p.run(20 * protocol.Second)
	p.post(0, "a", event.AskRunHistory{Asked: 4})
	p.run(protocol.Minute)
	greedy := func(string, []policy.Param) (policy.Policy, error) { return place, nil }
	for _, s := range p.sites {
		data := s.recording()
		sum, err := recording.Replay(read(t, data), greedy)
		if err != nil || int(sum.Steps) != s.steps || sum.Checked != s.rounds {
			t.Errorf("%s: %+v, %v", s.name, sum, err)
		}
		same(t, sum)
		if !strings.Contains(string(data), `"Note":"charged"`) {
			t.Errorf("%s: nothing was charged", s.name)
		}
	}
	data := p.sites["a"].recording()
	for _, want := range []string{`"Curve":"salary"`, `"Curve":"market"`, `"WaitingCosts":{"market":true,"salary":true}`, `"Exchange":{"CHF":500000,"EUR":1000000}`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%s is not in the recording", want)
		}
	}
	for old, forged := range map[string]string{`"Amount":2000000`: `"Amount":3000000`, `"PerHour":2000000`: `"PerHour":3000000`} {
		if sum, err := recording.Replay(read(t, forge(t, data, old, forged)), greedy); err != nil || sum.First == nil {
			t.Errorf("forged %s: %+v, %v", old, sum, err)
		}
	}
}

// TestOlderRecordingsAreRefused: a peer of format 2 counted no generations, so that each of its
// steps would differ.
func TestOlderRecordingsAreRefused(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/format-2.rec")
	if err != nil {
		t.Fatal(err)
	}
	_, err = recording.NewReader("old.rec", bytes.NewReader(data))
	want := fmt.Sprintf(`recording old.rec: has format "2", written by "switchyard test"; this version reads format %d. Use the version that wrote it`, recording.Format)
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestFingerprintsDoNotDependOnBodies: so recordings with and without can be
// compared, and the peer does not look into payloads.
func TestFingerprintsDoNotDependOnBodies(t *testing.T) {
	t.Parallel()
	var prints [2][]recording.Print
	for i, bodies := range []bool{false, true} {
		o := options()
		o.Bodies = bodies
		p := newPair(t, o)
		play(p)
		r := read(t, p.sites["a"].recording())
		for step, err := r.Next(); err == nil; step, err = r.Next() {
			prints[i] = append(prints[i], step.Print)
		}
	}
	if len(prints[0]) < 20 || len(prints[0]) != len(prints[1]) {
		t.Fatalf("%d and %d steps", len(prints[0]), len(prints[1]))
	}
	for i := range prints[0] {
		if prints[0][i] != prints[1][i] {
			t.Fatalf("step %d: %+v and %+v", i+1, prints[0][i], prints[1][i])
		}
	}
}

// TestBodiesAreNotRecorded: not in events, messages or rows, however encoded.
func TestBodiesAreNotRecorded(t *testing.T) {
	t.Parallel()
	for _, bodies := range []bool{false, true} {
		o := options()
		o.Bodies, o.Clear = bodies, true
		p := newPair(t, o)
		play(p)
		found := 0
		for _, s := range p.sites {
			s.recording()
			first := s.file.Bytes()
			s.start(o) // its recording begins with rows
			found += traces(first) + traces(s.recording())
		}
		if (found > 0) != bodies {
			t.Errorf("bodies %t: %d traces of a secret", bodies, found)
		}
	}
}

// traces counts the places of the secret, in clear or in base64.
func traces(data []byte) int {
	n := bytes.Count(data, []byte(secret))
	for shift := range 3 {
		coded := base64.RawStdEncoding.EncodeToString([]byte("xx"[:shift] + secret))
		n += bytes.Count(data, []byte(coded[4:len(coded)-4]))
	}
	return n
}

// TestRestart: the second life's recording begins with the rows of the first.
func TestRestart(t *testing.T) {
	t.Parallel()
	p := newPair(t, options())
	p.run(1000)
	p.post(0, "a", submission(1, "ada", 3))
	p.run(500)
	a := p.sites["a"]
	same(t, replayed(t, a.recording()))
	a.start(options())
	a.step(event.Tick{})
	p.run(protocolMinute)
	r := read(t, a.recording())
	if h := r.Header(); h.Rows == 0 || len(r.Rows()) != h.Rows || h.Config.Site != "a" || h.Seed != 7 {
		t.Errorf("header %+v, %d rows", h, len(r.Rows()))
	}
	sum, err := recording.Replay(r, policies)
	if err != nil || sum.Received == 0 {
		t.Errorf("%+v, %v", sum, err)
	}
	same(t, sum)
}

const protocolMinute = 60_000

// stubborn places nothing.
type stubborn struct{ policy.Policy }

func (stubborn) Decide(context.Context, policy.Snapshot) ([]policy.Decision, []byte, error) {
	return nil, nil, nil
}

// TestAnotherPolicyIsFound: the difference tells both decisions.
func TestAnotherPolicyIsFound(t *testing.T) {
	t.Parallel()
	p := newPair(t, options())
	play(p)
	data := p.sites["a"].recording()
	other := func(string, []policy.Param) (policy.Policy, error) { return stubborn{tc.New(tc.Config{})}, nil }
	sum, err := recording.Replay(read(t, data), other)
	if err != nil || sum.First == nil || sum.Differences != sum.Rounds {
		t.Fatalf("%+v, %v", sum, err)
	}
	text := sum.First.String()
	for _, want := range []string{"decisions", `"Site":1`, "got:      null", "DecideResult"} {
		if !strings.Contains(text, want) {
			t.Errorf("the difference does not tell %s:\n%s", want, text)
		}
	}
	sum, err = recording.Replay(read(t, data), nil)
	if err != nil || sum.Checked != 0 || sum.First != nil {
		t.Errorf("without policies: %+v, %v", sum, err)
	}
}

// TestRetuning: after a change of policy the replay asks the new one.
func TestRetuning(t *testing.T) {
	t.Parallel()
	p := newPair(t, options())
	p.run(1000)
	a := p.sites["a"]
	info := policy.Describe(a.place)
	info.Name = "stubborn"
	p.post(0, "a", event.Reconfigure{Asked: 1, Runtime: rules.RuntimeConfig{Policy: info, Initiation: policy.Sender}})
	p.run(10)
	a.place = stubborn{}
	p.post(0, "a", submission(2, "ada", 2))
	p.run(1000)
	both := func(name string, params []policy.Param) (policy.Policy, error) {
		if name == "stubborn" {
			return stubborn{}, nil
		}
		return policies(name, params)
	}
	sum, err := recording.Replay(read(t, a.recording()), both)
	if err != nil || sum.Checked == 0 {
		t.Errorf("%+v, %v", sum, err)
	}
	same(t, sum)
}

// TestRetuningOfParameters: after a reload that changes only ε the replay asks the
// same policy with the other ε; not when it was refused, and not for the round
// that was open.
func TestRetuningOfParameters(t *testing.T) {
	t.Parallel()
	p := newPair(t, options())
	p.run(1000)
	a := p.sites["a"]
	lax := tc.New(tc.Config{Epsilon: 2 * protocol.Hour})
	tuning := a.cfg.Runtime()
	tuning.Policy = policy.Describe(lax)

	p.post(0, "a", submission(1, "ada", 1)) // goes to b, whose wait is an hour less
	p.run(500)
	refused := tuning
	refused.LocalWaitThreshold = -1
	a.step(event.Reconfigure{Asked: 2, Runtime: refused})
	p.post(0, "a", submission(3, "bob", 1)) // likewise
	for before := a.rounds; a.rounds == before; {
		p.run(1)
	}
	a.step(event.Reconfigure{Asked: 4, Runtime: tuning})
	a.place = lax
	p.run(500)
	p.post(0, "a", submission(5, "cyd", 1)) // stays: within ε, and a is less busy
	p.run(500)

	data := a.recording()
	sum := replayed(t, data)
	same(t, sum)
	if sum.Rounds != 3 || sum.Checked != 3 {
		t.Errorf("%+v", sum)
	}
	if got := placements(t, data); !slices.Equal(got, []int{1, 1, 0}) {
		t.Errorf("placed at %v", got)
	}
	for _, always := range []policy.Policy{a.place, p.sites["b"].place} {
		constant := func(string, []policy.Param) (policy.Policy, error) { return always, nil }
		sum, err := recording.Replay(read(t, data), constant)
		if err != nil || sum.Differences == 0 {
			t.Errorf("with ε %v all the time: %+v, %v", always.Info().Params, sum, err)
		}
	}
}

// placements lists the sites of all decisions.
func placements(t *testing.T, data []byte) (sites []int) {
	t.Helper()
	r := read(t, data)
	for step, err := r.Next(); err == nil; step, err = r.Next() {
		done, _ := step.Event.(event.CallDone)
		result, _ := done.Result.(event.DecideResult)
		for _, decision := range result.Decisions {
			sites = append(sites, decision.Site)
		}
	}
	return sites
}

// TestTamperedEntriesAreFound, though their checksums are right.
func TestTamperedEntriesAreFound(t *testing.T) {
	t.Parallel()
	o := options()
	o.Clear = true
	p := newPair(t, o)
	play(p)
	data := p.sites["a"].recording()
	for name, tt := range map[string]struct{ old, forged, what string }{
		"quote":    {`"AWT":3600000`, `"AWT":10`, "records"},
		"decision": {`"Decisions":[{"Site":1`, `"Decisions":[{"Site":0`, "decisions"},
		"denial":   {`"Denied":"not mallory"`, `"Account":"mallory"`, "records"},
		"seed":     {`"Seed":7`, `"Seed":8`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sum := replayed(t, forge(t, data, tt.old, tt.forged))
			if sum.First == nil {
				t.Fatal("not found")
			}
			if d := sum.First; (tt.what != "" && d.What != tt.what) || d.Expected == d.Got || d.Event == "" {
				t.Errorf("%v", d)
			}
		})
	}
}

// forge replaces all that one line has of a text, the first line with it, and makes its checksum right.
func forge(t *testing.T, data []byte, old, forged string) []byte {
	t.Helper()
	lines := strings.SplitAfter(string(data), "\n")
	for i, line := range lines {
		if i > 0 && strings.Contains(line, old) {
			body := strings.ReplaceAll(line[9:len(line)-1], old, forged)
			lines[i] = recording.CRC([]byte(body)) + body + "\n"
			return []byte(strings.Join(lines, ""))
		}
	}
	t.Fatalf("%s is not in the recording", old)
	return nil
}

// TestGolden: the file's form and the core's steps are those of the golden
// recordings. The policy of one of them is not part of this program.
func TestGolden(t *testing.T) {
	t.Parallel()
	for path, name := range map[string]string{"testdata/handoff.rec": "tc", "testdata/unknown-policy.rec": "ours"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			p := newPairOf(t, options(), func(s *site) { s.cfg.Policy.Name = name })
			p.run(100)
			p.post(0, "a", submission(1, "ada", 1))
			p.run(5 * 1000)
			got := p.sites["a"].recording()
			if *update {
				if err := os.WriteFile(path, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			same(t, replayed(t, want))
			if !bytes.Equal(got, want) {
				t.Errorf("the recording is not %s; run with -update and read the difference:\n%s", path, got)
			}
		})
	}
}

// TestAFaultIsReplayed: the step that broke a rule of the peer is in the recording, and breaks it
// again.
func TestAFaultIsReplayed(t *testing.T) {
	t.Parallel()
	d := &disk{}
	w := recording.NewWriter("a.rec", d, options())
	cfg := w.Listen(config("a", 1, "b"))
	tag := protocol.Tag{Job: protocol.NewJobID(1, 7), Epoch: 1}
	key := row.JobKey(tag.Job)
	rows := []row.Record{
		{Table: row.SiteTable, Key: "site", Row: row.Site{FirstStart: 1, Incarnation: 1, FirstSeq: 7, NextSeq: 8}},
		{Table: row.PayloadTable, Key: key, Row: row.Payload{Payload: &protocol.Payload{Script: []byte("#!/bin/sh\n")}}},
		{Table: row.JobTable, Key: key, Row: row.Job{ // without a site
			Spec:  protocol.Spec{Request: protocol.Request{Job: tag.Job, CPUs: 1, WallTime: protocol.Hour}, User: "ada"},
			Phase: row.JobCommittedLocal, Epoch: 1, CommittedAt: 1, State: protocol.Pending,
		}},
		{Table: row.RunTable, Key: key + ".1", Row: row.Run{Tag: tag, Phase: row.RunQueued, Since: 1}},
	}
	p, err := peer.New(cfg, 7, rows)
	if err != nil {
		t.Fatal(err)
	}
	w.Begin(cfg, 7, rows)
	tick(p, w)
	cancel := event.Cancel{Asked: 1, Job: tag.Job, User: "ada"}
	ready := p.Step(begin, cancel)
	w.Stepped(begin, cancel, ready)
	if err := w.Close(); err != nil || ready.Fault == nil {
		t.Fatalf("closed with %v, after the fault %v", err, ready.Fault)
	}
	if !bytes.Contains(d.bytes(), []byte(`"Print":{"Fault":{"Count":1`)) {
		t.Errorf("the recording tells of no fault:\n%s", d.bytes())
	}
	same(t, replayed(t, d.bytes()))
}
