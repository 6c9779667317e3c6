package commonv1_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

// spoilt checks a noun after each change, which must be refused in words of the case.
func spoilt[N any](t *testing.T, right func() N, check func(N) error, cases map[string]func(*N)) {
	t.Helper()
	if err := check(right()); err != nil {
		t.Fatalf("it is wrong before it is spoilt: %v", err)
	}
	for want, change := range cases {
		noun := right()
		change(&noun)
		protocoltest.Refused(t, check(noun), want)
	}
}

func TestCheckTag(t *testing.T) {
	t.Parallel()
	spoilt(t, func() protocol.Tag { return protocol.Tag{Job: 1, Epoch: 1} }, commonv1.CheckTag, map[string]func(*protocol.Tag){
		"tag: is missing":             func(t *protocol.Tag) { *t = protocol.Tag{} },
		"tag.job: is 0":               func(t *protocol.Tag) { t.Job = 0 },
		"tag.epoch: is 0; epochs sta": func(t *protocol.Tag) { t.Epoch = 0 },
	})
}

func TestCheckSpec(t *testing.T) {
	t.Parallel()
	type s = *protocol.Spec
	long := strings.Repeat("x", 4097)
	right := func() protocol.Spec {
		return protocol.Spec{Request: protocol.Request{Job: 1, CPUs: 1, WallTime: 60}, Sites: []protocol.SiteName{"a", "b"}}
	}
	spoilt(t, right, commonv1.CheckSpec, map[string]func(s){
		"request.cpus: -1":                             func(s s) { s.CPUs = -1 },
		"request.cpus: 2147483648":                     func(s s) { s.CPUs = math.MaxInt32 + 1 },
		"request.nodes: -1":                            func(s s) { s.Nodes = -1 },
		"request.memory_mb: -1":                        func(s s) { s.MemoryMB = -1 },
		"request.wall_time_ms: -2 is negative":         func(s s) { s.WallTime = -2 },
		"request.power_ppm: -1":                        func(s s) { s.Power = -1 },
		"request.power_ppm: 100000001 is outside 0 t":  func(s s) { s.Power = protocol.MaxPower + 1 },
		"request.layout: asks for 1 CPUs, but its 3 ":  func(s s) { s.Layout.Tasks = 3 },
		"request.layout: asks for -1 tasks":            func(s s) { s.Layout.Tasks = -1 },
		"name: has 4097":                               func(s s) { s.Name = long },
		"name: is not UTF-8":                           func(s s) { s.Name = "\xff" },
		"user: has 4097":                               func(s s) { s.User = long },
		"user: is not UTF-8":                           func(s s) { s.User = "\xff" },
		"sites: has 1025":                              func(s s) { s.Sites = make([]protocol.SiteName, 1025) },
		"sites[1]: site name":                          func(s s) { s.Sites[1] = "No" },
		"submitted_ms: -1":                             func(s s) { s.Submitted = -1 },
		"mhz: -1":                                      func(s s) { s.MHz = -1 },
		"mflops: -1":                                   func(s s) { s.Mflops = -1 },
		"data_bytes: -1":                               func(s s) { s.Data = -1 },
		"data_out_bytes: -1":                           func(s s) { s.DataOut = -1 },
		"qos: has 33":                                  func(s s) { s.QOS = long[:33] },
		"qos: is not UTF-8":                            func(s s) { s.QOS = "\xff" },
		"comment: has 4097":                            func(s s) { s.Comment = long },
		"comment: is not UTF-8":                        func(s s) { s.Comment = "\xff" },
		"traceparent: ":                                func(s s) { s.Traceparent = "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" },
		"predicted_run_time_ms: -1":                    func(s s) { s.PredictedRunTime = -1 },
		"intensity_ppm: 1000001 is outside 0 to 10000": func(s s) { s.Intensity = protocol.PPM + 1 },
		"intensity_ppm: -1":                            func(s s) { s.Intensity = -1 },
		"computing_ppm: 1000001":                       func(s s) { s.Computing = protocol.PPM + 1 },
		"measured_power_ppm: -1":                       func(s s) { s.MeasuredPower = -1 },
	})
}

func TestCheckPayload(t *testing.T) {
	t.Parallel()
	type p = **protocol.Payload
	long := strings.Repeat("x", 4097)
	right := func() *protocol.Payload {
		return &protocol.Payload{Script: []byte("x"), Args: []string{"", "\xff"}, Env: []string{"A=1"}, WorkDir: "/\xff"}
	}
	spoilt(t, right, commonv1.CheckPayload, map[string]func(p){
		"payload: is missing":                  func(p p) { *p = nil },
		"payload.script: has 4194305":          func(p p) { (*p).Script = make([]byte, 4<<20+1) },
		"payload.args: has 65537":              func(p p) { (*p).Args = make([]string, 65537) },
		"payload.env: has 65537":               func(p p) { (*p).Env = make([]string, 65537) },
		"payload.args[1].arg: contains a NUL":  func(p p) { (*p).Args[1] = "a\x00" },
		"payload.env[0]: is not NAME=value":    func(p p) { (*p).Env[0] = "=1" },
		"payload.env[0].value: contains a NUL": func(p p) { (*p).Env[0] = "A=\x00" },
		"payload.work_dir: has 4097":           func(p p) { (*p).WorkDir = long },
		"payload.stdout: has 4097":             func(p p) { (*p).Stdout = long },
		"payload.stderr: contains a NUL byte":  func(p p) { (*p).Stderr = "\x00" },
	})
}

func TestCheckQuote(t *testing.T) {
	t.Parallel()
	type q = *protocol.Quote
	long := strings.Repeat("x", 4097)
	terms := func(n int) (out []protocol.Term) {
		for i := range n {
			out = append(out, protocol.Term{Name: strconv.Itoa(i)})
		}
		return out
	}
	right := func() protocol.Quote {
		return protocol.Quote{Job: 1, AWT: 10, AWTLow: 5, AWTHigh: 20, ERT: 30, Terms: terms(2), Currency: "EUR"}
	}
	spoilt(t, right, commonv1.CheckQuote, map[string]func(q){
		"awt_ms: -1 is negative":                     func(q q) { q.AWT = -1 },
		"awt_low_ms: -1 is negative":                 func(q q) { q.AWTLow = -1 },
		"awt_high_ms: -1 is negative":                func(q q) { q.AWTHigh = -1 },
		"ert_ms: -1 is negative":                     func(q q) { q.ERT = -1 },
		"bound_ms: -1 is negative":                   func(q q) { q.Bound = -1 },
		"delay_ms: -1 is negative":                   func(q q) { q.Delay = -1 },
		"awt_ms: 10ms is outside its range 11ms to ": func(q q) { q.AWTLow = 11 },
		"awt_ms: 10ms is outside its range 5ms to 9": func(q q) { q.AWTHigh = 9 },
		"awt_median_ms: 4ms is outside its range 5m": func(q q) { q.AWTMedian = 4 },
		"awt_ms: never is outside":                   func(q q) { q.AWT = protocol.Never },
		"note: has 257":                              func(q q) { q.Note = long[:257] },
		"note: is not UTF-8":                         func(q q) { q.Note = "\xff" },
		"currency: has 17":                           func(q q) { q.Currency = long[:17] },
		"currency: is missing":                       func(q q) { q.Currency = "" },
		"terms: has 33":                              func(q q) { q.Terms = terms(33) },
		"terms[0].name: is missing":                  func(q q) { q.Terms[0].Name = "" },
		"terms[0].name: has 65":                      func(q q) { q.Terms[0].Name = long[:65] },
		`terms[1].name: duplicate "0"`:               func(q q) { q.Terms[1].Name = "0" },
	})
	declined := func() protocol.Quote { return protocol.Quote{Job: 1, Declined: "full", AWT: protocol.Never} }
	spoilt(t, declined, commonv1.CheckQuote, map[string]func(q){
		"declined: has 4097":                         func(q q) { q.Declined = long },
		"declined: is not UTF-8":                     func(q q) { q.Declined = "\xff" },
		"awt_ms: a declined quote has no times; use": func(q q) { q.AWT = 5 },
		"awt_ms: a declined quote has no times; us":  func(q q) { q.ERT = 5 },
		"awt_ms: a declined quote has no times; u":   func(q q) { q.Bound = 5 },
		"awt_ms: a declined quote has no times; ":    func(q q) { q.Delay = 5 },
		"terms: a declined quote has none":           func(q q) { q.Terms, q.Currency = terms(1), "EUR" },
		"note: a declined quote has none; say it in": func(q q) { q.Note = "n" },
	})
}

func TestCheckOutcome(t *testing.T) {
	t.Parallel()
	type o = *protocol.Outcome
	right := func() protocol.Outcome {
		return protocol.Outcome{
			State: protocol.Failed, ExitCode: 3, Bill: &protocol.Bill{Currency: "EUR", Terms: []protocol.Term{{Name: "a"}}},
			Files: []protocol.File{{Stream: protocol.Stdout}, {Stream: protocol.Stderr}},
		}
	}
	spoilt(t, right, commonv1.CheckOutcome, map[string]func(o){
		"outcome.state: 0 is unknown or missing":        func(o o) { o.State = 0 },
		"outcome.state: 8 is unknown":                   func(o o) { o.State = 8 },
		"outcome.state: RUNNING is not a last state":    func(o o) { o.State = protocol.Running },
		"outcome.exit_code: -1":                         func(o o) { o.ExitCode = -1 },
		"outcome.exit_code: 256 is outside 0 to 255":    func(o o) { o.ExitCode = 256 },
		"outcome.exit_code: is 3, but signal 9 ended":   func(o o) { o.Signal = 9 },
		"outcome.signal: 128 is outside 0 to 127":       func(o o) { o.Signal = 128 },
		"outcome.signal: -1":                            func(o o) { o.Signal = -1 },
		"outcome.reason: has 4097":                      func(o o) { o.Reason = strings.Repeat("x", 4097) },
		"outcome.reason: is not UTF-8":                  func(o o) { o.Reason = "\xff" },
		"outcome.waited_ms: -1":                         func(o o) { o.Waited = -1 },
		"outcome.ran_ms: -1":                            func(o o) { o.Ran = -1 },
		"outcome.files[1].stream: 5 is unknown or miss": func(o o) { o.Files[1].Stream = 5 },
		"outcome.files[1].stream: stage-in is none of":  func(o o) { o.Files[1].Stream = protocol.StageInArchive },
		"outcome.files[1].stream: duplicate stdout":     func(o o) { o.Files[1].Stream = protocol.Stdout },
		"outcome.files[0].size: -1":                     func(o o) { o.Files[0].Size = -1 },
		"outcome.usage.cpu_ms: -1":                      func(o o) { o.Usage.CPU = -1 },
		"outcome.usage.memory_mb: -1":                   func(o o) { o.Usage.MemoryMB = -1 },
		"outcome.usage.energy_mj: -1":                   func(o o) { o.Usage.Energy = -1 },
		"outcome.usage.mflop: -1":                       func(o o) { o.Usage.Mflop = -1 },
		"outcome.usage.mwords: -1":                      func(o o) { o.Usage.Mwords = -1 },
		"outcome.usage.sent: -1":                        func(o o) { o.Usage.Sent = -1 },
		"outcome.usage.messages: -1":                    func(o o) { o.Usage.Messages = -1 },
		"outcome.usage.mhz: -1":                         func(o o) { o.Usage.MHz = -1 },
		"outcome.usage.power_ppm: -1":                   func(o o) { o.Usage.Power = -1 },
		"outcome.bill.start_ms: -1":                     func(o o) { o.Bill.Start = -1 },
		"outcome.bill.currency: is missing":             func(o o) { o.Bill.Currency = "" },
		"outcome.bill.terms[0].name: is missing":        func(o o) { o.Bill.Terms[0].Name = "" },
	})
}

func TestCheckMachines(t *testing.T) {
	t.Parallel()
	type c = *protocol.Capacity
	spoilt(t, func() protocol.Capacity { return protocol.Capacity{CPUs: 1} }, commonv1.CheckCapacity, map[string]func(c){
		"capacity.cpus: -1":               func(c c) { c.CPUs = -1 },
		"capacity.nodes: -1":              func(c c) { c.Nodes = -1 },
		"capacity.node_cpus: -1":          func(c c) { c.NodeCPUs = -1 },
		"capacity.memory_mb: -1":          func(c c) { c.MemoryMB = -1 },
		"capacity.max_wall_time_ms: -2":   func(c c) { c.MaxWallTime = -2 },
		"capacity.mhz: -1":                func(c c) { c.MHz = -1 },
		"capacity.mflops: -1":             func(c c) { c.Mflops = -1 },
		"capacity.machine.flops: -1":      func(c c) { c.Machine.Flops = -1 },
		"capacity.machine.words: -1":      func(c c) { c.Machine.Words = -1 },
		"capacity.machine.network: -1":    func(c c) { c.Machine.Network = -1 },
		"capacity.machine.latency_ns: -1": func(c c) { c.Machine.Latency = -1 },
	})
	type l = *protocol.Load
	spoilt(t, func() protocol.Load { return protocol.Load{} }, commonv1.CheckLoad, map[string]func(l){
		"load.cpus: -1":             func(l l) { l.CPUs = -1 },
		"load.busy: -1":             func(l l) { l.Busy = -1 },
		"load.queued_jobs: -1":      func(l l) { l.QueuedJobs = -1 },
		"load.queued_work_ms: -1":   func(l l) { l.QueuedWork = -1 },
		"load.benefit_ppm: -1":      func(l l) { l.Benefit = -1 },
		"load.power_idled_cpus: -1": func(l l) { l.PowerIdledCPUs = -1 },
		"load.draw_mw: -1":          func(l l) { l.Draw = -1 },
		"load.budget_mw: -1":        func(l l) { l.Budget = protocol.ActiveBudget(-1) },
	})
	_, err := commonv1.DecodeLoad(nil)
	protocoltest.Refused(t, err, "load: is missing")
}

// What has no place in a noun must not become something else that can be.
func TestWideNumbersDoNotPass(t *testing.T) {
	t.Parallel()
	spec := func(m *commonv1.Spec) error { return commonv1.CheckSpec(commonv1.DecodeSpec(m)) }
	outcome := func(m *commonv1.Outcome) error {
		o, err := commonv1.DecodeOutcome(m)
		if err != nil {
			return err
		}
		return commonv1.CheckOutcome(o)
	}
	for want, err := range map[string]error{
		"request.cpus: -1":                             spec(&commonv1.Spec{Request: &commonv1.Request{Cpus: 1 << 32}}),
		"request.power_ppm: -1":                        spec(&commonv1.Spec{Request: &commonv1.Request{PowerPpm: 1 << 32}}),
		"request.wall_time_ms: -2":                     spec(&commonv1.Spec{Request: &commonv1.Request{WallTimeMs: -2}}),
		"request.layout: asks for -1 tasks":            spec(&commonv1.Spec{Request: &commonv1.Request{Layout: &commonv1.Layout{Tasks: 1 << 32}}}),
		"intensity_ppm: -1":                            spec(&commonv1.Spec{IntensityPpm: 1 << 32}),
		"outcome.state: 0":                             outcome(&commonv1.Outcome{State: 257}),
		"outcome.exit_code: -1":                        outcome(&commonv1.Outcome{State: 4, ExitCode: 1 << 32}),
		"outcome.signal: -1":                           outcome(&commonv1.Outcome{State: 4, Signal: 1<<32 + 9}),
		"outcome.files[0].stream: 0":                   outcome(&commonv1.Outcome{State: 4, Files: []*commonv1.File{{Stream: 258, Sha256: make([]byte, 32)}}}),
		"outcome.files[0].sha256: has 1 bytes, not 32": outcome(&commonv1.Outcome{State: 4, Files: []*commonv1.File{{Stream: 1, Sha256: []byte("x")}}}),
		"outcome.usage.mhz: -1":                        outcome(&commonv1.Outcome{State: 4, Usage: &commonv1.Usage{Mhz: 1 << 32}}),
	} {
		protocoltest.Refused(t, err, want)
	}
}
