package otlp_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/otlp"
	"github.com/switchyard-hpc/switchyard/peer/spans"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const parent protocol.Traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// collector receives OTLP over HTTP, as a collector does.
type collector struct {
	*httptest.Server

	mu       sync.Mutex
	refuse   int // the status of the next answer, which is the last one of that kind; 0: the request is taken
	requests []*http.Request
	got      []*tracepb.ResourceSpans
}

func newCollector(t *testing.T, start func(*httptest.Server)) *collector {
	t.Helper()
	c := &collector{}
	c.Server = httptest.NewUnstartedServer(c)
	c.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	start(c.Server)
	t.Cleanup(c.Close)
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, request)
	if c.refuse != 0 {
		w.WriteHeader(c.refuse)
		c.refuse = 0
		return
	}
	body, err := gzip.NewReader(request.Body)
	var data []byte
	if err == nil {
		data, err = io.ReadAll(body)
	}
	var read coltracepb.ExportTraceServiceRequest
	if err = errors.Join(err, proto.Unmarshal(data, &read)); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.got = append(c.got, read.GetResourceSpans()...)
}

// counts keeps what was counted.
type counts map[string]int

func (c counts) add(result string, n int) { c[result] += n }

// exported runs an exporter that is handed things and then ends.
func exported(t *testing.T, cfg otlp.Config, hand func(*otlp.Exporter)) counts {
	t.Helper()
	got := counts{}
	cfg.Site, cfg.Version, cfg.Log, cfg.Count = "north", "1.2.3", slog.New(slog.DiscardHandler), got.add
	e, err := otlp.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	hand(e)
	ended, end := context.WithCancel(t.Context())
	end()
	if err = e.Run(ended); err != nil {
		t.Fatal(err)
	}
	return got
}

func job(id protocol.JobID) *view.Job {
	return &view.Job{
		ID: id, Origin: "north", Site: "south", State: protocol.Failed, Submitted: 1000, CommittedAt: 2000, Started: 3000, Ended: 9000, Traceparent: parent,
	}
}

func story() ([]event.LogEvent, error) {
	return []event.LogEvent{
		{Kind: event.LogRoundDecided, At: 1500, Round: 3, Site: "south", Asked: 2, Answered: 1, Silent: []string{"east"}},
		{Kind: event.LogJobOffered, At: 1600, Site: "south", Epoch: 1},
		{Kind: event.LogJobGranted, At: 1700, Epoch: 1},
		{Kind: event.LogJobHandedOff, At: 1800, Epoch: 1},
	}, nil
}

// names are those of spans.
func names(all []*tracepb.ResourceSpans) (out []string) {
	for _, r := range all {
		for _, scope := range r.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				out = append(out, s.GetName())
			}
		}
	}
	return out
}

// A collector gets what OTLP wants, with its headers, over TLS that an authority of the site's vouches for.
func TestCollectorGetsSpans(t *testing.T) {
	t.Parallel()
	c := newCollector(t, (*httptest.Server).StartTLS)
	dir := t.TempDir()
	ca, headers := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "headers")
	write(t, ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate().Raw})))
	write(t, headers, "Authorization: Bearer x:y\n\nX-Scope-OrgID:  hpc\n")
	got := exported(t, otlp.Config{Endpoint: c.URL, CA: ca, Headers: headers}, func(e *otlp.Exporter) {
		e.Job(job(7), story)
		e.Guest(spans.Guest{Job: spans.Job{ID: 8, Parent: parent}, Origin: "south", Epoch: 2}, nil, story)
		unsampled := job(9)
		unsampled.Traceparent = parent[:53] + "00"
		e.Job(unsampled, story)
	})
	if got[otlp.Sent] != 2 || len(got) != 1 {
		t.Errorf("counted %v", got)
	}
	if len(c.requests) != 1 || len(c.got) != 1 {
		t.Fatalf("%d requests with %d resources", len(c.requests), len(c.got))
	}
	r := c.requests[0]
	if r.URL.Path != "/v1/traces" || r.Header.Get("Authorization") != "Bearer x:y" || r.Header.Get("X-Scope-OrgID") != "hpc" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		t.Errorf("%s %v", r.URL, r.Header)
	}
	resource := map[string]string{}
	for _, a := range c.got[0].GetResource().GetAttributes() {
		resource[a.GetKey()] = a.GetValue().GetStringValue()
	}
	if resource["service.name"] != "switchyard" || resource["service.instance.id"] != "north" || resource["service.version"] != "1.2.3" {
		t.Errorf("the spans are of %v", resource)
	}
	if got := strings.Join(names(c.got), ", "); got != "job, round, grid queue, hand-off, results, placement" {
		t.Errorf("the spans are %s", got)
	}
	checkSpans(t, c.got[0].GetScopeSpans()[0].GetSpans())
}

func checkSpans(t *testing.T, all []*tracepb.Span) {
	t.Helper()
	trace, span, _ := parent.Parts()
	whole, handOff, guest := all[0], all[3], all[5]
	if string(whole.GetTraceId()) != string(trace[:]) || string(whole.GetParentSpanId()) != string(span[:]) ||
		whole.GetStartTimeUnixNano() != 1e9 || whole.GetEndTimeUnixNano() != 9e9 || whole.GetStatus().GetCode() != tracepb.Status_STATUS_CODE_ERROR || whole.GetFlags() != 0x301 {
		t.Errorf("the job is %v", whole)
	}
	if handOff.GetKind() != tracepb.Span_SPAN_KIND_PRODUCER || len(handOff.GetEvents()) != 1 || handOff.GetEvents()[0].GetTimeUnixNano() != 17e8 || handOff.GetFlags() != 0x101 || handOff.GetStatus() != nil {
		t.Errorf("the hand-off is %v", handOff)
	}
	if guest.GetKind() != tracepb.Span_SPAN_KIND_CONSUMER || guest.GetFlags() != 0x301 {
		t.Errorf("the placement of the guest is %v", guest)
	}
	for _, a := range all[1].GetAttributes() {
		if a.GetKey() == "switchyard.partners.silent" && a.GetValue().GetArrayValue().GetValues()[0].GetStringValue() != "east" ||
			a.GetKey() == "switchyard.partners.asked" && a.GetValue().GetIntValue() != 2 {
			t.Errorf("the round has %v", a)
		}
	}
}

// What cannot be exported is counted, and does not keep the rest.
func TestFailedExportsAreCounted(t *testing.T) {
	t.Parallel()
	c := newCollector(t, (*httptest.Server).Start)
	c.refuse = http.StatusBadRequest
	broken := func() ([]event.LogEvent, error) { return nil, errors.New("the store is broken") }
	if got := exported(t, otlp.Config{Endpoint: c.URL + "/custom"}, func(e *otlp.Exporter) { e.Job(job(7), broken) }); got[otlp.Failed] != 1 || len(got) != 1 {
		t.Errorf("refused: counted %v", got)
	}
	if got := exported(t, otlp.Config{Endpoint: c.URL + "/custom"}, func(e *otlp.Exporter) { e.Job(job(7), broken) }); got[otlp.Sent] != 1 || len(got) != 1 {
		t.Errorf("taken: counted %v", got)
	}
	if path := c.requests[1].URL.Path; path != "/custom" {
		t.Errorf("sent to %s", path)
	}
	if got := strings.Join(names(c.got), ", "); got != "job, grid queue, results" {
		t.Errorf("without log events the spans are %s", got)
	}
	missing := filepath.Join(t.TempDir(), "headers")
	if got := exported(t, otlp.Config{Endpoint: c.URL, Headers: missing}, func(e *otlp.Exporter) { e.Job(job(7), story) }); got[otlp.Failed] != 1 || len(c.requests) != 2 {
		t.Errorf("without the headers: counted %v, after %d requests", got, len(c.requests))
	}
}

// A collector that is busy gets them again.
// The pause before the second try and the limit of a try are of the bubble's time, which stands still while the client waits for
// an answer. So the collector is outside, and ends each connection: one that is kept would hold up the time.
func TestBusyCollectorIsAskedAgain(t *testing.T) {
	t.Parallel()
	c := newCollector(t, func(s *httptest.Server) {
		s.Config.SetKeepAlivesEnabled(false)
		s.Start()
	})
	c.refuse = http.StatusServiceUnavailable
	synctest.Test(t, func(t *testing.T) {
		upload, err := otlp.Uploader(&otlp.Config{Endpoint: c.URL})
		if err == nil {
			err = upload(t.Context(), &tracepb.ResourceSpans{SchemaUrl: "again"})
		}
		if err != nil || len(c.requests) != 2 || len(c.got) != 1 || c.got[0].GetSchemaUrl() != "again" {
			t.Errorf("%v, after %d requests with %v", err, len(c.requests), c.got)
		}
	})
}

// Nothing is sent to where an answer points, nor to a collector that the authorities do not vouch for.
func TestHeadersGoToTheEndpointOnly(t *testing.T) {
	t.Parallel()
	other := newCollector(t, (*httptest.Server).Start)
	from := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer from.Close()
	secure := newCollector(t, (*httptest.Server).StartTLS)
	for _, endpoint := range []string{from.URL, secure.URL} {
		if got := exported(t, otlp.Config{Endpoint: endpoint}, func(e *otlp.Exporter) { e.Job(job(7), story) }); got[otlp.Failed] != 1 {
			t.Errorf("counted %v", got)
		}
	}
	if len(other.requests)+len(secure.requests) > 0 {
		t.Error("a request has come to where it should not")
	}
}

// A full queue drops what comes, and does not wait.
func TestFullQueueDrops(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "spans")
	got := exported(t, otlp.Config{File: file}, func(e *otlp.Exporter) {
		for id := range protocol.JobID(1003) {
			e.Job(job(id), story)
		}
	})
	if got[otlp.Dropped] != 3 || got[otlp.Sent] != 1000 {
		t.Errorf("counted %v", got)
	}
	if lines := strings.Count(read(t, file), "\n"); lines < 2 {
		t.Errorf("1000 jobs are in %d lines", lines)
	}
}

// A file has lines of OTLP/JSON, behind what it had, and only its owner reads them.
func TestFileGetsLines(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "spans")
	for id := range protocol.JobID(2) {
		if got := exported(t, otlp.Config{File: file}, func(e *otlp.Exporter) { e.Job(job(id), story) }); got[otlp.Sent] != 1 {
			t.Errorf("counted %v", got)
		}
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	lines := strings.Split(strings.TrimSpace(read(t, file)), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines", len(lines))
	}
	var line struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct {
					TraceID      string `json:"traceId"`
					SpanID       string `json:"spanId"`
					ParentSpanID string `json:"parentSpanId"`
					Name         string
					Kind         int
					Start        string `json:"startTimeUnixNano"`
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(lines[0]), &line); err != nil {
		t.Fatal(err)
	}
	whole := line.ResourceSpans[0].ScopeSpans[0].Spans[0]
	if whole.TraceID != "4bf92f3577b34da6a3ce929d0e0e4736" || whole.ParentSpanID != "00f067aa0ba902b7" || len(whole.SpanID) != 16 ||
		whole.Name != "job" || whole.Kind != 1 || whole.Start != "1000000000" {
		t.Errorf("the job is %+v", whole)
	}
	if got := exported(t, otlp.Config{File: filepath.Join(file, "below")}, func(e *otlp.Exporter) { e.Job(job(7), story) }); got[otlp.Failed] != 1 {
		t.Errorf("a file that cannot be: counted %v", got)
	}
}

// A file with headers has nothing else, and no other account can read it.
func TestHeadersAreChecked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for text, wrong := range map[string]string{
		"Authorization: Bearer x\nX-A: b: c\n": "", "": "",
		"Authorization Bearer x\n": ":1: is not a header", "A: b\nB C: d\n": ":2: is not a header", "A: b\x01c\n": ":1: is not a header",
		strings.Repeat("x", 17<<10): "bytes",
	} {
		file := filepath.Join(dir, "headers")
		write(t, file, text)
		_, err := otlp.ReadHeaders(file)
		if (err == nil) != (wrong == "") || err != nil && (!strings.Contains(err.Error(), wrong) || strings.Contains(err.Error(), "Bearer x")) {
			t.Errorf("%.40q: %v, want %q", text, err, wrong)
		}
	}
	open := filepath.Join(dir, "open")
	write(t, open, "A: b\n")
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := otlp.ReadHeaders(open); err == nil {
		t.Error("a file that others can read counts")
	}
	for _, ca := range []string{open, filepath.Join(dir, "missing")} {
		if _, err := otlp.New(otlp.Config{Endpoint: "https://127.0.0.1:1", CA: ca}); err == nil {
			t.Errorf("%s has no certificate, and counts", ca)
		}
	}
}

// Whatever a file has, what is read of it can be sent as headers, and what is not is named by its line alone.
func FuzzHeaders(f *testing.F) {
	for _, seed := range []string{"Authorization: Bearer x\n", "A: b\r\n\nA:c", "A b: c", ": x", "A: \x00", "ä: b"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		headers, err := otlp.ParseHeaders(data)
		if err != nil {
			if headers != nil || len(err.Error()) > 200 {
				t.Errorf("%q: %v, %v", data, headers, err)
			}
			return
		}
		var sent strings.Builder
		if err = headers.Write(&sent); err != nil {
			t.Fatal(err)
		}
		read, err := http.ReadRequest(bufio.NewReader(strings.NewReader("GET / HTTP/1.0\r\n" + sent.String() + "\r\n")))
		if err != nil {
			t.Fatalf("%q is sent as %q: %v", data, sent.String(), err)
		}
		for name, values := range headers {
			if name != "Host" && name != "Content-Length" && name != "Transfer-Encoding" && !slices.Equal(read.Header[name], values) {
				t.Errorf("%q: %s is sent as %q and read as %q", data, name, values, read.Header[name])
			}
		}
	})
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
