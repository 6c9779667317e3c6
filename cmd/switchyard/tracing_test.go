package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// otlpSpan is a span in a line of OTLP/JSON, as far as the test goes by it.
type otlpSpan struct {
	Trace  string `json:"traceId"`
	ID     string `json:"spanId"`
	Parent string `json:"parentSpanId"`
	Name   string `json:"name"`
}

// spansOf are the spans of a trace in a file.
func spansOf(t *testing.T, file, trace string) (found []otlpSpan) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	complete := data[:bytes.LastIndexByte(data, '\n')+1]
	for line := range bytes.Lines(complete) {
		var batch struct {
			ResourceSpans []struct {
				ScopeSpans []struct{ Spans []otlpSpan }
			}
		}
		if err = json.Unmarshal(line, &batch); err != nil {
			t.Fatalf("%s: %v in %q", file, err, line)
		}
		for _, s := range batch.ResourceSpans[0].ScopeSpans[0].Spans {
			if s.Trace == trace {
				found = append(found, s)
			}
		}
	}
	return found
}

// TestOneTraceOverSites submits a job within a trace, which runs at a partner. Both peers are killed while it does. Each exports its part of
// one trace, the parts fit together, and the job has found its place in it.
func TestOneTraceOverSites(t *testing.T) {
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	dir := t.TempDir()
	site := func(name protocol.SiteName) testbed.Machine {
		return testbed.Machine{Name: name, CPUs: 2, More: "[tracing]\nfile = \"" + filepath.Join(dir, string(name)) + "\"\n"}
	}
	g := startGrid(t, site("aurora"), site("borealis"), site("calypso"))
	aurora, borealis := g.Sites[0], g.Sites[1]
	goOn := filepath.Join(g.work, "go-on")
	submit := g.process(patience(t), t, aurora, "submit", "--sites=borealis", "--stage-in-size=0")
	submit.Env = append(submit.Env, "TRACEPARENT=00-"+trace+"-"+parent+"-01")
	got := finished(t, submit, "#!/bin/sh\necho $TRACEPARENT\nuntil [ -e "+goOn+" ]; do sleep 0.1; done\n")
	id, err := protocol.ParseJobID(strings.TrimSpace(strings.TrimPrefix(got.stdout, "Submitted batch job ")))
	if err != nil || strings.Contains(got.stderr, "is ignored") {
		t.Fatalf("submit: %+v, %v", got, err)
	}
	g.until(t, aurora, id, running)
	for _, site := range []*testbed.Site{aurora, borealis} { // log events are durable with the next rows
		other := g.process(patience(t), t, site, "submit", "--sites="+string(site.Name))
		other.Env = append(other.Env, "TRACEPARENT=00-0-"+parent+"-01")
		if got = finished(t, other, "#!/bin/sh\n"); got.code != 0 || !strings.Contains(got.stderr, "TRACEPARENT") || !strings.Contains(got.stderr, "is ignored") {
			t.Errorf("an invalid one: %+v", got)
		}
		if err = site.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	for _, site := range []*testbed.Site{aurora, borealis} {
		if err = site.Start(); err != nil {
			t.Fatal(err)
		}
	}
	g.until(t, aurora, id, running)
	writeText(t, goOn, "")
	if got = g.at(t, aurora, "", "wait", id.String()); got.code != 0 {
		t.Fatalf("wait: %+v", got)
	}
	home, away := filepath.Join(dir, "aurora"), filepath.Join(dir, "borealis")
	var origin, partner []otlpSpan
	for ctx := patience(t); len(origin) == 0 || len(partner) == 0; time.Sleep(10 * time.Millisecond) {
		if origin, partner = spansOf(t, home, trace), spansOf(t, away, trace); ctx.Err() != nil {
			t.Fatalf("exported are only %+v and %+v", origin, partner)
		}
	}
	if tree := below(slices.Concat(origin, partner), parent); tree != "job(grid queue(hand-off(placement(local queue results run)) round) results)" {
		t.Errorf("the spans are %s: %+v, %+v", tree, origin, partner)
	}
	if other := spansOf(t, filepath.Join(dir, "calypso"), trace); len(other) > 0 {
		t.Errorf("a site that has nothing to do with the job exports %+v", other)
	}
	run := partner[slices.IndexFunc(partner, func(s otlpSpan) bool { return s.Name == "run" })]
	output, err := os.ReadFile(filepath.Join(g.work, "switchyard-"+id.String()+".out"))
	if want := "00-" + trace + "-" + run.ID + "-01\n"; err != nil || string(output) != want {
		t.Errorf("the job is in %q, %v; want %q", output, err, want)
	}
}

// below prints the names of the spans below one, sorted.
func below(all []otlpSpan, parent string) string {
	var names []string
	for _, s := range all {
		if s.Parent == parent {
			text := s.Name
			if within := below(all, s.ID); within != "" {
				text += "(" + within + ")"
			}
			names = append(names, text)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
