package peerv1_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
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
	terms := func(names ...string) []protocol.Term {
		var ts []protocol.Term
		for _, name := range names {
			ts = append(ts, protocol.Term{Name: name})
		}
		return ts
	}
	cases := map[string]struct {
		m    protocol.Message
		want string // of the error
	}{
		"nil":                {nil, "nil"},
		"layout":             {request(func(s *protocol.Spec) { s.Layout.Tasks = 3 }), "layout: asks for 16 CPUs, but its 3 tasks"},
		"no job":             {protocol.Grant{Tag: protocol.Tag{Epoch: 1}}, "grant: tag.job: site number 0"},
		"site beyond 9000":   {protocol.Accept{Tag: protocol.Tag{Job: 9001 * protocol.SeqsPerSite, Epoch: 1}}, "accept: tag.job: site number"},
		"no epoch":           {protocol.Prepared{Tag: protocol.Tag{Job: tag.Job}}, "prepared: tag.epoch"},
		"deadline":           {protocol.QuoteRequest{Deadline: -1}, "deadline_ms: -1 is negative"},
		"too many jobs":      {protocol.QuoteRequest{Jobs: make([]protocol.Spec, peerv1.MaxJobs+1)}, "jobs: has 16385"},
		"cpus":               {request(func(s *protocol.Spec) { s.CPUs = 0 }), "quote-request: jobs[1]: cpus: 0"},
		"huge cpus":          {request(func(s *protocol.Spec) { s.CPUs = 1 << 31 }), "cpus: 2147483648"},
		"nodes":              {request(func(s *protocol.Spec) { s.Nodes = -1 }), "nodes"},
		"memory":             {request(func(s *protocol.Spec) { s.MemoryMB = -1 }), "memory_mb"},
		"no wall time":       {request(func(s *protocol.Spec) { s.WallTime = 0 }), "wall_time_ms: is missing"},
		"wall time":          {request(func(s *protocol.Spec) { s.WallTime = -5 }), "wall_time_ms: -5 is negative"},
		"name":               {request(func(s *protocol.Spec) { s.Name = "\xff" }), "name: is not UTF-8"},
		"user":               {request(func(s *protocol.Spec) { s.User = strings.Repeat("u", 257) }), "user"},
		"site":               {request(func(s *protocol.Spec) { s.Sites = []protocol.SiteName{"ok", "No"} }), "sites[1]"},
		"submitted":          {request(func(s *protocol.Spec) { s.Submitted = -1 }), "submitted_ms"},
		"mhz":                {request(func(s *protocol.Spec) { s.MHz = -1 }), "mhz: -1"},
		"mflops":             {request(func(s *protocol.Spec) { s.Mflops = -1 }), "mflops: -1"},
		"power":              {request(func(s *protocol.Spec) { s.Power = -1 }), "power_ppm: -1"},
		"a power station":    {request(func(s *protocol.Spec) { s.Power = protocol.MaxPower + 1 }), "power_ppm: 100000001 is outside 0 to 100000000"},
		"data":               {request(func(s *protocol.Spec) { s.Data = -1 }), "data_bytes: -1"},
		"data out":           {request(func(s *protocol.Spec) { s.DataOut = -1 }), "data_out: -1"},
		"many licences":      {request(func(s *protocol.Spec) { s.Licences = make([]protocol.Licence, 17) }), "jobs[1]: licences: has 17"},
		"nameless licence":   {request(func(s *protocol.Spec) { s.Licences = []protocol.Licence{{Count: 1}} }), "licences[0]: name: is missing"},
		"long licence":       {request(func(s *protocol.Spec) { s.Licences = []protocol.Licence{{Name: strings.Repeat("x", 65), Count: 1}} }), "licences[0]: name: has 65"},
		"odd licence":        {request(func(s *protocol.Spec) { s.Licences = []protocol.Licence{{Name: "\xff", Count: 1}} }), "licences[0]: name: is not UTF-8"},
		"no licences":        {request(func(s *protocol.Spec) { s.Licences = []protocol.Licence{{Name: "a"}} }), "licences[0]: count: 0 is outside 1 to"},
		"all licences":       {request(func(s *protocol.Spec) { s.Licences = []protocol.Licence{{Name: "a", Count: 1 << 31}} }), "count: 2147483648 is outside"},
		"licence twice":      {request(func(s *protocol.Spec) { s.Licences = []protocol.Licence{{Name: "a", Count: 1}, {Name: "a", Count: 2}} }), `licences[1]: name: "a" does not sort after "a"`},
		"licences unsorted":  {request(func(s *protocol.Spec) { s.Licences = []protocol.Licence{{Name: "b", Count: 1}, {Name: "a", Count: 1}} }), `"a" does not sort after "b"`},
		"long priority":      {request(func(s *protocol.Spec) { s.Priority = strings.Repeat("x", 33) }), "priority: has 33"},
		"odd priority":       {request(func(s *protocol.Spec) { s.Priority = "\xff" }), "priority: is not UTF-8"},
		"expected":           {request(func(s *protocol.Spec) { s.Expected = -1 }), "expected_ms: -1"},
		"intensity":          {request(func(s *protocol.Spec) { s.Intensity = -1 }), "intensity_ppm: -1 is outside 0 to 1000000"},
		"too intense":        {request(func(s *protocol.Spec) { s.Intensity = protocol.PPM + 1 }), "intensity_ppm: 1000001 is outside"},
		"computing":          {request(func(s *protocol.Spec) { s.Computing = protocol.PPM + 1 }), "computing_ppm: 1000001 is outside"},
		"start":              {protocol.Offer{Spec: spec, Epoch: 1, Payload: &payload, Start: -1}, "offer: start_ms: -1"},
		"held since":         {protocol.Prepared{Tag: tag, Start: -1}, "prepared: start_ms: -1"},
		"charges of nobody":  {protocol.Prepared{Tag: tag, Tariff: &protocol.Tariff{}}, "prepared: tariff: currency: is missing"},
		"no charges":         {protocol.Prepared{Tag: tag, Tariff: &protocol.Tariff{Currency: "EUR"}}, "tariff: charges: is missing"},
		"many charges":       {prepared(make([]protocol.Charge, 33)...), "charges: has 33"},
		"a nameless charge":  {prepared(protocol.Charge{}), "charges[0]: name: is missing"},
		"less than no CPUs":  {prepared(protocol.Charge{Name: "cpu", Units: -1}), "units: -1"},
		"per nothing":        {prepared(protocol.Charge{Name: "cpu", Steps: make([]protocol.PriceStep, 1)}), "per: is missing"},
		"many steps":         {prepared(protocol.Charge{Name: "cpu", Per: 1, Steps: make([]protocol.PriceStep, 513)}), "from_ms: has 513"},
		"steps at once":      {prepared(protocol.Charge{Name: "cpu", Per: 1, Steps: make([]protocol.PriceStep, 2)}), "from_ms[1]: is 0; prices begin in order"},
		"a bill of no money": {result(func(o *protocol.Outcome) { o.Bill = &protocol.Bill{} }), "result: bill: currency: is missing"},
		"a bill from before": {result(func(o *protocol.Outcome) { o.Bill = &protocol.Bill{Start: -1} }), "bill: start_ms: -1"},
		"a bill of one twice": {result(func(o *protocol.Outcome) {
			o.Bill = &protocol.Bill{Currency: "E", Terms: []protocol.Term{{Name: "a"}, {Name: "a"}}}
		}), "twice"},
		"ended before time":   {protocol.Result{Tag: tag, Outcome: protocol.Outcome{State: protocol.Failed}, Ended: -1}, "result: ended_ms: -1"},
		"ended by no clock":   {protocol.Result{Tag: tag, Outcome: protocol.Outcome{State: protocol.Failed}, Ended: 1}, "result: at_ms: is missing"},
		"CPU time":            {result(func(o *protocol.Outcome) { o.Usage.CPU = -1 }), "result: usage: cpu_ms: -1"},
		"memory used":         {result(func(o *protocol.Outcome) { o.Usage.MemoryMB = -1 }), "usage: memory_mb: -1"},
		"energy used":         {result(func(o *protocol.Outcome) { o.Usage.Energy = -1 }), "usage: energy_mj: -1"},
		"operations":          {result(func(o *protocol.Outcome) { o.Usage.Mflop = -1 }), "usage: mflop: -1"},
		"accesses":            {result(func(o *protocol.Outcome) { o.Usage.Mwords = -1 }), "usage: mwords: -1"},
		"words sent":          {result(func(o *protocol.Outcome) { o.Usage.Sent = -1 }), "usage: sent: -1"},
		"messages sent":       {result(func(o *protocol.Outcome) { o.Usage.Messages = -1 }), "usage: messages: -1"},
		"speed":               {result(func(o *protocol.Outcome) { o.Usage.MHz = -1 }), "usage: mhz: -1"},
		"long reckoning":      {protocol.QuoteRequest{Reckon: protocol.Reckoning(strings.Repeat("x", 17))}, "quote-request: reckon: has 17"},
		"odd reckoning":       {protocol.QuoteRequest{Reckon: "\xff"}, "reckon: is not UTF-8"},
		"waits asked for":     {protocol.QuoteRequest{Extra: -1}, "quote-request: extra: -1"},
		"many waits asked":    {protocol.QuoteRequest{Extra: protocol.MaxExtra + 1}, "extra: is 65, at most 64"},
		"many waits":          {protocol.QuoteReply{Extra: make([]protocol.Duration, protocol.MaxExtra)}, "quote-reply: extra_ms: has 64"},
		"a negative wait":     {protocol.QuoteReply{Extra: []protocol.Duration{-1}}, "extra_ms[0]: is -1; waits are"},
		"a wait that falls":   {protocol.QuoteReply{Extra: []protocol.Duration{1, 3, 2}}, "extra_ms[2]: is 2; waits are"},
		"bound":               {reply(func(q *protocol.Quote) { q.Bound = -1 }), "quotes[1]: bound_ms: -1"},
		"long note":           {reply(func(q *protocol.Quote) { q.Note = strings.Repeat("x", 257) }), "quotes[1]: note: has 257"},
		"odd note":            {reply(func(q *protocol.Quote) { q.Note = "\xff" }), "quotes[1]: note: is not UTF-8"},
		"declined with note":  {reply(func(q *protocol.Quote) { q.AWT, q.Declined, q.Note = 0, "full", "n" }), "quotes[1]: note: a declined quote has none"},
		"withheld":            {protocol.QuoteReply{Load: protocol.Load{Withheld: -1}}, "load: withheld: -1"},
		"draw":                {protocol.QuoteReply{Load: protocol.Load{Draw: -1}}, "load: draw_mw: -1"},
		"budget":              {protocol.QuoteReply{Load: protocol.Load{Budget: -1}}, "load: budget_mw: -1"},
		"benefit":             {protocol.QuoteReply{Load: protocol.Load{Benefit: -1}}, "load: benefit_ppm: -1"},
		"volunteer's load":    {protocol.Volunteer{Load: protocol.Load{CPUs: -1}}, "volunteer: load: cpus"},
		"volunteer's time":    {protocol.Volunteer{Valid: -1}, "volunteer: valid_ms"},
		"no payload":          {protocol.Offer{Spec: spec, Epoch: 1}, "offer: payload: is missing"},
		"offer without epoch": {protocol.Offer{Spec: spec, Payload: &payload}, "offer: epoch"},
		"NUL in an argument":  {offer(func(p *protocol.Payload) { p.Args = []string{"a\x00b"} }), "payload: args[0]"},
		"env without name":    {offer(func(p *protocol.Payload) { p.Env = []string{"A=1", "=2"} }), "payload: env[1]"},
		"long path":           {offer(func(p *protocol.Payload) { p.Stdout = strings.Repeat("/", 4097) }), "payload: stdout"},
		"long script":         {offer(func(p *protocol.Payload) { p.Script = make([]byte, 4<<20+1) }), "payload: script"},
		"long in all": {offer(func(p *protocol.Payload) {
			p.Args = []string{strings.Repeat("a", 5<<20), strings.Repeat("b", 4<<20)}
		}), "offer: has"},
		"load":                {protocol.QuoteReply{Load: protocol.Load{Busy: -1}}, "quote-reply: load: busy"},
		"accept":              {protocol.QuoteReply{Accept: -1}, "accept"},
		"free":                {protocol.QuoteReply{Free: -1}, "free"},
		"most CPUs":           {protocol.QuoteReply{MostCPUs: -1}, "most_cpus"},
		"valid":               {protocol.QuoteReply{Valid: -1}, "valid_ms"},
		"awt":                 {reply(func(q *protocol.Quote) { q.AWT = -1 }), "quotes[1]: awt_ms"},
		"never, undeclined":   {reply(func(q *protocol.Quote) { q.AWT = protocol.Never }), "awt_ms: is never"},
		"declined with awt":   {reply(func(q *protocol.Quote) { q.Declined = "full" }), "awt_ms: is 10 in a declined quote"},
		"low above awt":       {reply(func(q *protocol.Quote) { q.AWTLow = 11 }), "awt_ms: 10 is outside its range 11 to 20"},
		"high below awt":      {reply(func(q *protocol.Quote) { q.AWTHigh = 9 }), "awt_ms: 10 is outside"},
		"term without name":   {reply(func(q *protocol.Quote) { q.Terms, q.Currency = terms(""), "EUR" }), "terms[0]: name: is missing"},
		"term twice":          {reply(func(q *protocol.Quote) { q.Terms, q.Currency = terms("a", "a"), "EUR" }), "terms[1]: name"},
		"no currency":         {reply(func(q *protocol.Quote) { q.Terms = terms("a") }), "currency: is missing"},
		"many terms":          {reply(func(q *protocol.Quote) { q.Terms, q.Currency = make([]protocol.Term, 33), "EUR" }), "terms: has 33"},
		"long reason":         {protocol.Refused{Tag: tag, Reason: strings.Repeat("x", peerv1.MaxReason+1)}, "refused: reason"},
		"status that ended":   {protocol.Status{Tag: tag, State: protocol.Completed}, "status: state: COMPLETED"},
		"ran":                 {protocol.Status{Tag: tag, State: protocol.Running, Ran: -1}, "ran_ms"},
		"result not ended":    {result(func(o *protocol.Outcome) { o.State = protocol.Running }), "result: state: RUNNING"},
		"state unknown":       {result(func(o *protocol.Outcome) { o.State = 77 }), "state: STATE(77)"},
		"exit code":           {result(func(o *protocol.Outcome) { o.ExitCode = -1 }), "exit_code"},
		"signal":              {result(func(o *protocol.Outcome) { o.Signal = 128 }), "signal"},
		"signal and code":     {result(func(o *protocol.Outcome) { o.Signal, o.ExitCode = 9, 1 }), "exit_code: is 1, but signal 9"},
		"stream":              {result(func(o *protocol.Outcome) { o.Files = []protocol.File{{Stream: 3}} }), "files[0]: stream"},
		"size":                {result(func(o *protocol.Outcome) { o.Files = []protocol.File{{Stream: 1, Size: -1}} }), "files[0]: size"},
		"stream twice":        {result(func(o *protocol.Outcome) { o.Files = []protocol.File{{Stream: 1}, {Stream: 1}} }), "files[1]: stream"},
		"watermark of nobody": {protocol.Watermark{}, "watermark: life"},
		"watermark seen":      {protocol.Watermark{Life: protocol.Life{Incarnation: 1, Boot: 1}, Seen: protocol.Life{Boot: 1}}, "watermark: seen"},
		"watermark seq":       {protocol.Watermark{Life: protocol.Life{Incarnation: 1, Boot: 1}, SeenSeq: protocol.SeqsPerSite}, "watermark: seen_seq"},
		"watermark twin":      {protocol.Watermark{Life: protocol.Life{Incarnation: 1, Boot: 1}, Twin: protocol.Life{Incarnation: 1}}, "watermark: twin"},
		"fenced by no later":  {protocol.Fenced{Tag: tag, Current: tag.Epoch}, "fenced: current"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := peerv1.Encode(c.m)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// These faults cannot be written as nouns, only as bytes.
func TestDecodeRefusesAndNamesTheField(t *testing.T) {
	t.Parallel()
	wire := peerv1.WireTag(tag)
	cases := map[string]struct {
		kind string
		body proto.Message
		want string
	}{
		"no tag":       {"grant", &peerv1.Notice{}, "grant: tag.job"},
		"no room":      {"prepared", &peerv1.Prepared{StartMs: 1}, "prepared: tag.job"},
		"wide licence": {"quote-request", &peerv1.QuoteRequest{Jobs: []*peerv1.Spec{{Job: uint64(tag.Job), Cpus: 1, WallTimeMs: 1, Licences: []*peerv1.Licence{{Name: "a", Count: 1<<32 + 1}}}}}, "licences[0]: count"},
		"wide share":   {"quote-request", &peerv1.QuoteRequest{Jobs: []*peerv1.Spec{{Job: uint64(tag.Job), Cpus: 1, WallTimeMs: 1, IntensityPpm: 1 << 32}}}, "intensity_ppm"},
		"wide speed":   {"result", &peerv1.Result{Tag: wire, State: 3, Usage: &peerv1.Usage{Mhz: 1 << 32}}, "usage: mhz"},
		"no spec":      {"offer", &peerv1.Offer{Epoch: 1}, "offer: spec: is missing"},
		"no load":      {"quote-reply", &peerv1.QuoteReply{}, "quote-reply: load: is missing"},
		"no vol. load": {"volunteer", &peerv1.Volunteer{}, "volunteer: load: is missing"},
		"wide count":   {"quote-reply", &peerv1.QuoteReply{Load: &peerv1.Load{}, Accept: 1 << 40}, "accept"},
		"wide extra":   {"quote-request", &peerv1.QuoteRequest{Extra: 1 << 40}, "quote-request: extra"},
		"wide power":   {"quote-request", &peerv1.QuoteRequest{Jobs: []*peerv1.Spec{{Job: uint64(tag.Job), Cpus: 1, WallTimeMs: 1, PowerPpm: 1 << 32}}}, "power_ppm"},
		"wide hold":    {"volunteer", &peerv1.Volunteer{Load: &peerv1.Load{Withheld: 1 << 40}}, "load: withheld"},
		"no state":     {"status", &peerv1.Status{Tag: wire}, "status: state: 0"},
		"wide state":   {"status", &peerv1.Status{Tag: wire, State: 257}, "state: 257"},
		"short sha256": {"result", &peerv1.Result{Tag: wire, State: 3, Files: []*peerv1.File{{Stream: 1, Sha256: []byte("x")}}}, "files[0]: sha256: has 1"},
		"short proof":  {"watermark", &peerv1.Watermark{Life: &peerv1.Life{Incarnation: 1, Boot: 1, Proof: []byte("x")}}, "watermark: life: proof: has 1"},
		"a seen proof": {"watermark", &peerv1.Watermark{Seen: &peerv1.Life{Proof: make([]byte, 65)}}, "watermark: seen: proof: has 65"},
		"a twin proof": {"watermark", &peerv1.Watermark{Twin: &peerv1.Life{Proof: make([]byte, 63)}}, "watermark: twin: proof: has 63"},
		"one content":  {"result", &peerv1.Result{Tag: wire, State: 3, Contents: [][]byte{{}}}, "result: contents: are of 1 files, and the job has 0"},
		"cut content":  {"result", &peerv1.Result{Tag: wire, State: 3, Files: []*peerv1.File{{Stream: 1, Size: 2, Sha256: make([]byte, 32)}}, Contents: [][]byte{[]byte("x")}}, "contents[0]: has 1 bytes, and its file 2"},
		"much content": {"result", &peerv1.Result{Tag: wire, State: 3, Files: []*peerv1.File{{Stream: 1, Size: 16385, Sha256: make([]byte, 32)}}, Contents: [][]byte{make([]byte, 16385)}}, "contents: has 16385"},
		"no stream":    {"result", &peerv1.Result{Tag: wire, State: 3, Files: []*peerv1.File{{}}}, "files[0]: stream: 0"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, err := proto.Marshal(c.body)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = peerv1.Decode(c.kind, body); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
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
		"site":                      func(c *protocol.Card) { c.Site = "CERN" },
		"number":                    func(c *protocol.Card) { c.Number = 9001 },
		"public_key":                func(c *protocol.Card) { c.PublicKey = "A" + c.PublicKey[1:] },
		"first_start_ms":            func(c *protocol.Card) { c.FirstStart = -1 },
		"software":                  func(c *protocol.Card) { c.Software = strings.Repeat("s", 129) },
		"protocol":                  func(c *protocol.Card) { c.Protocol = 0 },
		"capacity.cpus":             func(c *protocol.Card) { c.Capacity.CPUs = -1 },
		"capacity.nodes":            func(c *protocol.Card) { c.Capacity.Nodes = -1 },
		"capacity.memory_mb":        func(c *protocol.Card) { c.Capacity.MemoryMB = -1 },
		"capacity.max_wall_time_ms": func(c *protocol.Card) { c.Capacity.MaxWallTime = -1 },
		"capacity.mhz":              func(c *protocol.Card) { c.Capacity.MHz = -1 },
		"capacity.mflops":           func(c *protocol.Card) { c.Capacity.Mflops = -1 },
		"capacity.machine: flops":   func(c *protocol.Card) { c.Capacity.Machine.Flops = -1 },
		"capacity.machine: words":   func(c *protocol.Card) { c.Capacity.Machine.Words = -1 },
		"capacity.machine: network": func(c *protocol.Card) { c.Capacity.Machine.Network = -1 },
		"capacity.machine: latency": func(c *protocol.Card) { c.Capacity.Machine.Latency = -1 },
		"begun_ms":                  func(c *protocol.Card) { c.Begun = -1 },
		"seen: a life":              func(c *protocol.Card) { c.Seen = protocol.Life{Boot: 1} },
		"seen: begun_ms":            func(c *protocol.Card) { c.Seen = protocol.Life{Incarnation: 1, Boot: 1, Begun: -1} },
		"seen_seq":                  func(c *protocol.Card) { c.SeenSeq = protocol.SeqsPerSite },
	}
	for field, change := range cases {
		_, err := peerv1.EncodeCard(with(good, change))
		if err == nil || !strings.Contains(err.Error(), "card: "+field) {
			t.Errorf("%s: got %v, want an error that names it", field, err)
		}
	}
}

func prepared(charges ...protocol.Charge) protocol.Prepared {
	return protocol.Prepared{Tag: tag, Tariff: &protocol.Tariff{Currency: "EUR", Charges: charges}}
}
