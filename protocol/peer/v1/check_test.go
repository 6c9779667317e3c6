package peerv1_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

var (
	tag  = protocol.Tag{Job: protocol.NewJobID(7, 42), Epoch: 3}
	spec = protocol.Spec{
		Request: protocol.Request{Job: tag.Job, CPUs: 16, WallTime: protocol.Hour},
		Name:    "probe", User: "ada", Submitted: 1_700_000_000_000,
	}
	payload = protocol.Payload{Script: []byte("#!/bin/sh\n")}
	quote   = protocol.Quote{Job: tag.Job, AWT: 10, AWTLow: 5, AWTHigh: 20, ERT: 30}
	outcome = protocol.Outcome{State: protocol.Completed}
)

// with returns a changed copy.
func with[T any](v T, change func(*T)) T {
	change(&v)
	return v
}

func request(change func(*protocol.Spec)) protocol.Message {
	return protocol.QuoteRequest{Jobs: []protocol.Spec{spec, with(spec, change)}}
}

func reply(change func(*protocol.Quote)) protocol.Message {
	return protocol.QuoteReply{Quotes: []protocol.Quote{quote, with(quote, change)}}
}

func offer(change func(*protocol.Payload)) protocol.Message {
	p := with(payload, change)
	return protocol.Offer{Spec: spec, Epoch: 1, Payload: &p}
}

func result(change func(*protocol.Outcome)) protocol.Message {
	return protocol.Result{Tag: tag, Outcome: with(outcome, change)}
}

func TestEncodeRefusesAndNamesTheField(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		m    protocol.Message
		want string // of the error
	}{
		"nil":                 {nil, ": nil"},
		"no job":              {protocol.Grant{Tag: protocol.Tag{Epoch: 1}}, "grant.tag.job: site number 0"},
		"site beyond 9000":    {protocol.Accept{Tag: protocol.Tag{Job: 9001 * protocol.SeqsPerSite, Epoch: 1}}, "accept.tag.job: site number"},
		"no epoch":            {protocol.Prepared{Tag: protocol.Tag{Job: tag.Job}}, "prepared.tag.epoch"},
		"deadline":            {protocol.QuoteRequest{Deadline: -1}, "deadline_ms: -1 is negative"},
		"too many jobs":       {protocol.QuoteRequest{Jobs: make([]protocol.Spec, peerv1.MaxJobs+1)}, "jobs: has 16385"},
		"cpus":                {request(func(s *protocol.Spec) { s.CPUs = 0 }), "quote-request.jobs[1].request.cpus: 0"},
		"no wall time":        {request(func(s *protocol.Spec) { s.WallTime = 0 }), "wall_time_ms: is missing"},
		"name":                {request(func(s *protocol.Spec) { s.Name = "\xff" }), "name: is not UTF-8"},
		"start":               {protocol.Offer{Spec: spec, Epoch: 1, Payload: &payload, Start: -1}, "offer.start_ms: -1"},
		"held since":          {protocol.Prepared{Tag: tag, Start: -1}, "prepared.start_ms: -1"},
		"charges of nobody":   {protocol.Prepared{Tag: tag, Tariff: &protocol.Tariff{}}, "prepared.tariff.currency: is missing"},
		"no charges":          {protocol.Prepared{Tag: tag, Tariff: &protocol.Tariff{Currency: "EUR"}}, "tariff.charges: is missing"},
		"many charges":        {prepared(make([]protocol.Charge, 33)...), "charges: has 33"},
		"a nameless charge":   {prepared(protocol.Charge{}), "charges[0].name: is missing"},
		"less than no CPUs":   {prepared(protocol.Charge{Name: "cpu", Units: -1}), "units: -1"},
		"per nothing":         {prepared(protocol.Charge{Name: "cpu", Steps: make([]protocol.PriceStep, 1)}), "per: is missing"},
		"many steps":          {prepared(protocol.Charge{Name: "cpu", Per: 1, Steps: make([]protocol.PriceStep, 513)}), "from_ms: has 513"},
		"steps at once":       {prepared(protocol.Charge{Name: "cpu", Per: 1, Steps: make([]protocol.PriceStep, 2)}), "from_ms[1]: is 0; prices begin in order"},
		"ended before time":   {protocol.Result{Tag: tag, Outcome: protocol.Outcome{State: protocol.Failed}, Ended: -1}, "result.ended_ms: -1"},
		"ended by no clock":   {protocol.Result{Tag: tag, Outcome: protocol.Outcome{State: protocol.Failed}, Ended: 1}, "result.at_ms: is missing"},
		"long reckoning":      {protocol.QuoteRequest{EnergyPricing: protocol.EnergyPricing(strings.Repeat("x", 17))}, "quote-request.energy_pricing: has 17"},
		"odd reckoning":       {protocol.QuoteRequest{EnergyPricing: "\xff"}, "energy_pricing: is not UTF-8"},
		"waits asked for":     {protocol.QuoteRequest{MarginalJobs: -1}, "quote-request.marginal_jobs: -1"},
		"many waits asked":    {protocol.QuoteRequest{MarginalJobs: protocol.MaxMarginalJobs + 1}, "marginal_jobs: is 65, at most 64"},
		"many waits":          {protocol.QuoteReply{MarginalWaits: make([]protocol.Duration, protocol.MaxMarginalJobs)}, "quote-reply.marginal_wait_ms: has 64"},
		"a negative wait":     {protocol.QuoteReply{MarginalWaits: []protocol.Duration{-1}}, "marginal_wait_ms[0]: is -1; waits are"},
		"a wait that falls":   {protocol.QuoteReply{MarginalWaits: []protocol.Duration{1, 3, 2}}, "marginal_wait_ms[2]: is 2; waits are"},
		"volunteer's load":    {protocol.Volunteer{Load: protocol.Load{CPUs: -1}}, "volunteer.load.cpus"},
		"volunteer's time":    {protocol.Volunteer{Valid: -1}, "volunteer.valid_ms"},
		"no payload":          {protocol.Offer{Spec: spec, Epoch: 1}, "offer.payload: is missing"},
		"offer without epoch": {protocol.Offer{Spec: spec, Payload: &payload}, "offer.epoch"},
		"NUL in an argument":  {offer(func(p *protocol.Payload) { p.Args = []string{"a\x00b"} }), "payload.args[0].arg"},
		"long in all": {offer(func(p *protocol.Payload) {
			p.Args = []string{strings.Repeat("a", 5<<20), strings.Repeat("b", 4<<20)}
		}), "offer: has"},
		"load":                {protocol.QuoteReply{Load: protocol.Load{Busy: -1}}, "quote-reply.load.busy"},
		"accept":              {protocol.QuoteReply{MaxJobs: -1}, "max_jobs"},
		"free":                {protocol.QuoteReply{Free: -1}, "free"},
		"most CPUs":           {protocol.QuoteReply{MaxCPUs: -1}, "max_cpus"},
		"valid":               {protocol.QuoteReply{Valid: -1}, "valid_ms"},
		"awt":                 {reply(func(q *protocol.Quote) { q.AWT = -1 }), "quotes[1].awt_ms"},
		"a delay":             {reply(func(q *protocol.Quote) { q.Delay = 1 }), "quotes[1].delay_ms: is not for another site"},
		"never, undeclined":   {reply(func(q *protocol.Quote) { q.AWT, q.AWTLow, q.AWTHigh = protocol.Never, 0, 0 }), "awt_ms: is never"},
		"long reason":         {protocol.Refused{Tag: tag, Reason: strings.Repeat("x", peerv1.MaxReason+1)}, "refused.reason"},
		"status that ended":   {protocol.Status{Tag: tag, State: protocol.Completed}, "status.state: COMPLETED"},
		"ran":                 {protocol.Status{Tag: tag, State: protocol.Running, Ran: -1}, "ran_ms"},
		"stream":              {result(func(o *protocol.Outcome) { o.Files = []protocol.File{{Stream: 5}} }), "outcome.files[0].stream"},
		"watermark of nobody": {protocol.Watermark{}, "watermark.life"},
		"watermark seen":      {protocol.Watermark{Life: protocol.Life{Incarnation: 1, Boot: 1}, Seen: protocol.Life{Boot: 1}}, "watermark.seen"},
		"watermark seq":       {protocol.Watermark{Life: protocol.Life{Incarnation: 1, Boot: 1}, SeenSeq: protocol.SeqsPerSite}, "watermark.seen_seq"},
		"watermark twin":      {protocol.Watermark{Life: protocol.Life{Incarnation: 1, Boot: 1}, Twin: protocol.Life{Incarnation: 1}}, "watermark.twin"},
		"fenced by no later":  {protocol.Fenced{Tag: tag, Current: tag.Epoch}, "fenced.current"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := peerv1.Encode(c.m)
			protocoltest.Refused(t, err, c.want)
		})
	}
}

// These faults cannot be written as nouns, only as bytes.
func TestDecodeRefusesAndNamesTheField(t *testing.T) {
	t.Parallel()
	wire := commonv1.EncodeTag(tag)
	cases := map[string]struct {
		kind string
		body proto.Message
		want string
	}{
		"no tag":             {"grant", &peerv1.Notice{}, "grant.tag.job"},
		"no room":            {"prepared", &peerv1.Prepared{StartMs: 1}, "prepared.tag.job"},
		"no spec":            {"offer", &peerv1.Offer{Epoch: 1}, "offer.spec: is missing"},
		"no load":            {"quote-reply", &peerv1.QuoteReply{}, "quote-reply.load: is missing"},
		"no vol. load":       {"volunteer", &peerv1.Volunteer{}, "volunteer.load: is missing"},
		"wide count":         {"quote-reply", &peerv1.QuoteReply{Load: &commonv1.Load{}, MaxJobs: 1 << 40}, "max_jobs"},
		"wide extra":         {"quote-request", &peerv1.QuoteRequest{MarginalJobs: 1 << 40}, "quote-request.marginal_jobs"},
		"no state":           {"status", &peerv1.Status{Tag: wire}, "status.state: STATE(0) is neither"},
		"no elements":        {"elements-query", &peerv1.ElementsQuery{Array: uint64(tag.Job), User: "ada", Elements: []uint32{}}, "elements: is missing"},
		"half a run":         {"elements-query", &peerv1.ElementsQuery{Array: uint64(tag.Job), User: "ada", Elements: []uint32{1, 2}}, "elements: has 2 numbers"},
		"a run that falls":   {"elements-query", &peerv1.ElementsQuery{Array: uint64(tag.Job), User: "ada", Elements: []uint32{5, 4, 1}}, "elements: run 0 is from 5 to 4"},
		"runs that meet":     {"elements-query", &peerv1.ElementsQuery{Array: uint64(tag.Job), User: "ada", Elements: []uint32{1, 4, 1, 4, 5, 1}}, "elements: run 1 is from 4 to 5"},
		"a run without step": {"elements-query", &peerv1.ElementsQuery{Array: uint64(tag.Job), User: "ada", Elements: []uint32{1, 4, 0}}, "elements: run 0, from 1 to 4, has the step 0"},
		"beyond all arrays":  {"elements-query", &peerv1.ElementsQuery{Array: uint64(tag.Job), User: "ada", Elements: []uint32{1, 4294967295, 1}}, "elements: run 0 is from 1 to 4294967295"},
		"short sha256":       {"result", &peerv1.Result{Tag: wire, Outcome: &commonv1.Outcome{State: 3, Files: []*commonv1.File{{Stream: 1, Sha256: []byte("x")}}}}, "outcome.files[0].sha256: has 1"},
		"short proof":        {"watermark", &peerv1.Watermark{Life: &peerv1.Life{Incarnation: 1, Boot: 1, Proof: []byte("x")}}, "watermark.life.proof: has 1"},
		"a seen proof":       {"watermark", &peerv1.Watermark{Seen: &peerv1.Life{Proof: make([]byte, 65)}}, "watermark.seen.proof: has 65"},
		"a twin proof":       {"watermark", &peerv1.Watermark{Twin: &peerv1.Life{Proof: make([]byte, 63)}}, "watermark.twin.proof: has 63"},
		"one content":        {"result", &peerv1.Result{Tag: wire, Outcome: &commonv1.Outcome{State: 3}, Contents: [][]byte{{}}}, "result.contents: are of 1 files, and the job has 0"},
		"cut content":        {"result", &peerv1.Result{Tag: wire, Outcome: &commonv1.Outcome{State: 3, Files: []*commonv1.File{{Stream: 1, Size: 2, Sha256: make([]byte, 32)}}}, Contents: [][]byte{[]byte("x")}}, "contents[0]: has 1 bytes, and its file 2"},
		"much content":       {"result", &peerv1.Result{Tag: wire, Outcome: &commonv1.Outcome{State: 3, Files: []*commonv1.File{{Stream: 1, Size: 16385, Sha256: make([]byte, 32)}}}, Contents: [][]byte{make([]byte, 16385)}}, "contents: has 16385"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, err := proto.Marshal(c.body)
			if err != nil {
				t.Fatal(err)
			}
			_, err = peerv1.Decode(c.kind, body)
			protocoltest.Refused(t, err, c.want)
		})
	}
}

func TestCardsAreChecked(t *testing.T) {
	t.Parallel()
	good := protocol.Card{
		Site: "cern", Number: 1, PublicKey: "U" + strings.Repeat("A", 55), Protocol: 1,
	}
	if _, err := peerv1.EncodeCard(good); err != nil {
		t.Fatal(err)
	}
	cases := map[string]func(*protocol.Card){
		"site":           func(c *protocol.Card) { c.Site = "CERN" },
		"number":         func(c *protocol.Card) { c.Number = 9001 },
		"public_key":     func(c *protocol.Card) { c.PublicKey = "A" + c.PublicKey[1:] },
		"first_start_ms": func(c *protocol.Card) { c.FirstStart = -1 },
		"software":       func(c *protocol.Card) { c.Software = strings.Repeat("s", 129) },
		"protocol":       func(c *protocol.Card) { c.Protocol = 0 },
		"capacity.cpus":  func(c *protocol.Card) { c.Capacity.CPUs = -1 },
		"begun_ms":       func(c *protocol.Card) { c.Begun = -1 },
		"seen: a life":   func(c *protocol.Card) { c.Seen = protocol.Life{Boot: 1} },
		"seen.begun_ms":  func(c *protocol.Card) { c.Seen = protocol.Life{Incarnation: 1, Boot: 1, Begun: -1} },
		"seen_seq":       func(c *protocol.Card) { c.SeenSeq = protocol.SeqsPerSite },
	}
	for field, change := range cases {
		_, err := peerv1.EncodeCard(with(good, change))
		protocoltest.Refused(t, err, "card."+field)
	}
}

func prepared(charges ...protocol.Charge) protocol.Prepared {
	return protocol.Prepared{Tag: tag, Tariff: &protocol.Tariff{Currency: "EUR", Charges: charges}}
}
