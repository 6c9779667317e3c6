package spans_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/spans"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	parent    protocol.Traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	unsampled protocol.Traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
)

// job is one of north that was submitted at 1000 and ended at 9000, changed.
func job(change func(*view.Job)) *view.Job {
	v := &view.Job{
		ID: 1e12 + 7, Origin: "north", Site: "north", State: protocol.Completed, CPUs: 4, Epoch: 1, Submitted: 1000, CommittedAt: 2000, Started: 3000, Ended: 9000,
	}
	change(v)
	return v
}

func guest(v *view.Job) spans.Guest {
	return spans.Guest{Job: spans.Job{ID: v.ID, Submitted: v.Submitted, Parent: v.Traceparent}, Origin: v.Origin, Epoch: v.Epoch}
}

// tree prints spans below a parent, by their start, and counts those that it prints.
func tree(all []spans.Span, below protocol.SpanID, indent string, out *strings.Builder) (printed int) {
	slices.SortStableFunc(all, func(a, b spans.Span) int { return int(a.Start - b.Start) })
	for _, s := range all {
		if s.Parent != below {
			continue
		}
		fmt.Fprintf(out, "%s%s %d-%d%s%s\n", indent, s.Name, s.Start, s.End, map[bool]string{true: " failed"}[s.Failed], moments(s))
		printed += 1 + tree(slices.Clone(all), s.ID, indent+"  ", out)
	}
	return printed
}

// named is the first span of a name.
func named(all []spans.Span, name spans.Name) spans.Span {
	return all[slices.IndexFunc(all, func(s spans.Span) bool { return s.Name == name })]
}

func moments(s spans.Span) string {
	var out strings.Builder
	for _, m := range s.Moments {
		fmt.Fprintf(&out, " %s@%d", m.Name, m.At)
	}
	return out.String()
}

func wantTree(t *testing.T, all []spans.Span, below protocol.SpanID, want string) {
	t.Helper()
	var out strings.Builder
	if n := tree(slices.Clone(all), below, "", &out); n != len(all) {
		t.Errorf("%d of %d spans are in the tree", n, len(all))
	}
	if got := strings.TrimSpace(out.String()); got != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// round is the end of one that took 500 ms.
func round(at protocol.Instant, kind event.LogKind, site protocol.SiteName) event.LogEvent {
	return event.LogEvent{At: at, Kind: kind, Round: 3, Site: site, Duration: 500}
}

func step(at protocol.Instant, kind event.LogKind, epoch protocol.Epoch) event.LogEvent {
	return event.LogEvent{At: at, Kind: kind, Epoch: epoch}
}

func TestSpansAtTheOrigin(t *testing.T) {
	t.Parallel()
	stays := func(*view.Job) {}
	leaves := func(v *view.Job) { v.Site, v.Epoch = "south", 2 }
	for name, tt := range map[string]struct {
		job   func(*view.Job)
		story []event.LogEvent
		want  string
	}{
		"runs at its origin": {stays, []event.LogEvent{
			step(1000, event.LogJobSubmitted, 0), round(1800, event.LogJobPlacedLocally, "north"), step(2000, event.LogJobCommitted, 1),
			step(3100, event.LogJobStarted, 1), step(9100, event.LogJobEnded, 1),
		}, `
job 1000-9100 started@3100
  grid queue 1000-2000
    round 1300-1800
  placement 2000-9000
    local queue 2000-3000
    run 3000-9000`},
		"runs at a partner, which the second one that is offered it is": {leaves, []event.LogEvent{
			round(1500, event.LogJobDeferred, ""), round(1600, event.LogRoundDecided, "east"), step(1600, event.LogJobOffered, 1),
			step(1700, event.LogOfferRefused, 1), round(1900, event.LogRoundDecided, "south"), step(1900, event.LogJobOffered, 2),
			step(2000, event.LogJobGranted, 2), step(2200, event.LogJobHandedOff, 2), step(3300, event.LogJobStarted, 2), step(9500, event.LogJobEnded, 2),
		}, `
job 1000-9500 started@3300
  grid queue 1000-2000
    round 1000-1500
    round 1100-1600
    round 1400-1900
    hand-off 1600-1700 failed
    hand-off 1900-2200 granted@2000
  results 9000-9500`},
		"fails where it runs, and runs again": {func(v *view.Job) { v.Epoch, v.CommittedAt, v.Started, v.State = 2, 5000, 6000, protocol.Failed }, []event.LogEvent{
			step(2000, event.LogJobCommitted, 1), step(3000, event.LogJobStarted, 1), step(4000, event.LogJobReclaimed, 1),
			step(5000, event.LogJobCommitted, 2), step(6050, event.LogJobStarted, 2), step(9000, event.LogJobEnded, 2),
		}, `
job 1000-9000 failed started@3000 reclaimed@4000 started@6050
  grid queue 1000-2000
  placement 2000-4000
    local queue 2000-3000
    run 3000-4000
  grid queue 4000-5000
  placement 5000-9000 failed
    local queue 5000-6000
    run 6000-9000 failed`},
		"is moved from the own local queue": {leaves, []event.LogEvent{
			step(1100, event.LogJobCommitted, 1), round(1500, event.LogMoveBegun, "south"), step(1600, event.LogJobMoved, 1),
			step(1800, event.LogJobOffered, 2), step(2000, event.LogJobGranted, 2), step(2200, event.LogJobHandedOff, 2), step(9000, event.LogJobEnded, 2),
		}, `
job 1000-9000 moved@1600
  grid queue 1000-1100
  round 1000-1500
  placement 1100-1600
    local queue 1100-1600
  grid queue 1600-2000
    hand-off 1800-2200 granted@2000
  results 9000-9000`},
		"is cancelled in the grid queue": {func(v *view.Job) {
			v.Site, v.State, v.Epoch, v.CommittedAt, v.Started, v.Ended = "", protocol.Cancelled, 0, 0, 0, 5000
		}, []event.LogEvent{round(1500, event.LogJobDeferred, ""), step(5000, event.LogJobEnded, 0)}, `
job 1000-5000 failed
  grid queue 1000-5000
    round 1000-1500`},
		"has lost all log events": {stays, nil, `
job 1000-9000
  grid queue 1000-2000
  placement 2000-9000
    local queue 2000-3000
    run 3000-9000`},
		"has lost those from the grant on": {leaves, []event.LogEvent{step(1900, event.LogJobOffered, 2)}, `
job 1000-9000
  grid queue 1000-2000
    hand-off 1900-3000
  results 9000-9000`},
		"runs though the acceptance of its grant is lost": {leaves, []event.LogEvent{
			step(1900, event.LogJobOffered, 2), step(2000, event.LogJobGranted, 2), step(3300, event.LogJobStarted, 2), step(9000, event.LogJobEnded, 2),
		}, `
job 1000-9000 started@3300
  grid queue 1000-2000
    hand-off 1900-3300 granted@2000
  results 9000-9000`},
		"is granted, and cancelled before that is accepted": {func(v *view.Job) {
			v.Site, v.State, v.Epoch, v.Started = "south", protocol.Cancelled, 2, 0
		}, []event.LogEvent{step(1900, event.LogJobOffered, 2), step(2000, event.LogJobGranted, 2), step(9000, event.LogJobEnded, 2)}, `
job 1000-9000 failed
  grid queue 1000-2000
    hand-off 1900-9000 failed granted@2000`},
		"is at a partner, as that says to a store of before": {func(v *view.Job) { v.Site, v.Epoch, v.CommittedAt = "south", 2, 0 }, []event.LogEvent{
			step(1500, event.LogJobOffered, 1), step(2500, event.LogJobHandedOff, 2), step(3300, event.LogJobStarted, 2),
		}, `
job 1000-9000 started@3300
  grid queue 1000-2500
  results 9000-9000`},
		"starts with others, at its origin": {stays, []event.LogEvent{
			{At: 1800, Kind: event.LogJobOffered, Site: "north", Epoch: 1}, step(1900, event.LogReserved, 1), step(2000, event.LogJobCommitted, 1),
		}, `
job 1000-9000
  grid queue 1000-2000
  placement 2000-9000
    local queue 2000-3000
    run 3000-9000`},
		"has lost that it left the own local queue for a partner": {leaves, []event.LogEvent{step(1100, event.LogJobCommitted, 1)}, `
job 1000-9000
  grid queue 1000-1100
  results 9000-9000`},
		"has lost that it left the own local queue, and was offered to a partner": {leaves, []event.LogEvent{
			step(1100, event.LogJobCommitted, 1), step(1800, event.LogJobOffered, 2), step(2000, event.LogJobGranted, 2), step(2200, event.LogJobHandedOff, 2),
		}, `
job 1000-9000
  grid queue 1000-1100
  hand-off 1800-2200 granted@2000
  results 9000-9000`},
		"has lost that it came to the own local queue again": {func(v *view.Job) { v.Epoch = 2 }, []event.LogEvent{
			step(1100, event.LogJobCommitted, 1), step(3300, event.LogJobStarted, 2),
		}, `
job 1000-9000 started@3300
  grid queue 1000-1100
  placement 2000-9000
    local queue 2000-3000
    run 3000-9000`},
		"has lost that an offer came to nothing": {leaves, []event.LogEvent{step(1500, event.LogJobOffered, 1), step(1900, event.LogJobOffered, 2)}, `
job 1000-9000
  grid queue 1000-2000
    hand-off 1900-3000
  results 9000-9000`},
		"is an array": {func(v *view.Job) { v.Array = &view.Array{} }, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantTree(t, spans.OfJob(job(tt.job), tt.story), protocol.SpanID{}, tt.want)
		})
	}
}

func TestSpansOfAGuest(t *testing.T) {
	t.Parallel()
	v := job(func(v *view.Job) { v.Site, v.Guest, v.Epoch, v.Ended = "south", true, 2, 8000 })
	for name, tt := range map[string]struct {
		run   *view.Job
		story []event.LogEvent
		want  string
	}{
		"runs": {v, []event.LogEvent{
			step(100, event.LogGuestPrepared, 1), step(150, event.LogGuestAborted, 1), // an earlier offer
			step(1950, event.LogGuestPrepared, 2), step(2100, event.LogGuestAccepted, 2), step(3050, event.LogGuestStarted, 2),
			step(8050, event.LogGuestEnded, 2), step(8200, event.LogGuestClosed, 2),
		}, `
placement 1950-8200
  local queue 2100-3000
  run 3000-8000
  results 8000-8200`},
		"is recalled": {nil, []event.LogEvent{step(1950, event.LogGuestPrepared, 2), step(2100, event.LogGuestAccepted, 2), step(4000, event.LogGuestClosed, 2)}, `
placement 1950-4000
  local queue 2100-4000`},
		"is not granted": {nil, []event.LogEvent{step(1950, event.LogGuestPrepared, 2), step(2500, event.LogGuestAborted, 2)}, `
placement 1950-2500`},
		"has lost its log events": {v, nil, `
placement 3000-8000
  run 3000-8000
  results 8000-8000`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			handOff := named(spans.OfJob(v, []event.LogEvent{step(1900, event.LogJobOffered, 2)}), spans.HandOff)
			all := guest(v).At("south", tt.run, tt.story)
			wantTree(t, all, handOff.ID, tt.want)
			for _, s := range all {
				if s.Trace != handOff.Trace {
					t.Errorf("%s is in the trace %v, not %v", s.Name, s.Trace, handOff.Trace)
				}
			}
		})
	}
}

// What a round comes to is said by its attributes, and nothing that names users or jobs.
func TestAttributesOfARound(t *testing.T) {
	t.Parallel()
	decided := round(1600, event.LogRoundDecided, "south")
	decided.Quotes = []view.Quote{{Site: "south", AWT: 70, Declined: "no"}, {Site: "south", AWT: 80, CPUs: 2}, {Site: "south", AWT: 90, CPUs: 4}}
	decided.Asked, decided.Answered, decided.Silent, decided.CPUs, decided.Text = 3, 2, []string{"west"}, 4, "for ann"
	all := spans.OfJob(job(func(v *view.Job) { v.Name, v.User, v.Reason = "secret", "ann", "of ann" }), []event.LogEvent{decided})
	var text strings.Builder
	for _, a := range named(all, spans.Round).Attributes {
		switch {
		case a.Number != nil:
			fmt.Fprintln(&text, a.Key, *a.Number)
		case a.Text != nil:
			fmt.Fprintln(&text, a.Key, *a.Text)
		default:
			fmt.Fprintln(&text, a.Key, a.Texts)
		}
	}
	const want = `switchyard.job.id 1000000000007
switchyard.round 3
switchyard.result decided
switchyard.partners.asked 3
switchyard.partners.answered 2
switchyard.partners.silent [west]
switchyard.site south
switchyard.quoted_wait_ms 90
`
	if text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", text.String(), want)
	}
	for _, s := range all {
		for _, a := range s.Attributes {
			if a.Text != nil && (strings.Contains(*a.Text, "ann") || strings.Contains(*a.Text, "secret")) {
				t.Errorf("%s of %s is %q", a.Key, s.Name, *a.Text)
			}
		}
	}
}

// A job with a parent is in its trace, below it; one whose parent is not sampled has no spans, but hands its trace on.
func TestParentOfAJob(t *testing.T) {
	t.Parallel()
	trace, span, _ := parent.Parts()
	v := job(func(v *view.Job) { v.Traceparent = parent })
	whole := spans.OfJob(v, nil)[0]
	if whole.Trace != trace || whole.Parent != span || whole.Name != spans.Whole {
		t.Errorf("got %+v", whole)
	}
	v.Traceparent = unsampled
	if got := spans.OfJob(v, nil); len(got) > 0 {
		t.Errorf("spans of a trace that is not sampled: %+v", got)
	}
	if got := guest(v).At("south", v, nil); len(got) > 0 {
		t.Errorf("spans of a guest of a trace that is not sampled: %+v", got)
	}
	if run, _, sampled := guest(v).Run(1).Parts(); run != trace || sampled {
		t.Errorf("the trace goes on as %s, sampled: %v", run, sampled)
	}
}

// Sites of other versions name the same spans, so the IDs stay what they are.
func TestIDsStay(t *testing.T) {
	t.Parallel()
	v := job(func(*view.Job) {})
	if got, want := guest(v).Run(2), protocol.Traceparent("00-727476758c18b0230a114fbd61a6938d-4fa492036d74c294-01"); got != want {
		t.Errorf("the run is %s, want %s", got, want)
	}
	all := spans.OfJob(v, nil)
	run := named(all, spans.Run)
	if got := guest(v).Run(v.Epoch); got != protocol.MakeTraceparent(run.Trace, run.ID, true) {
		t.Errorf("programs in the job are below %s, its run is %v of %v", got, run.ID, run.Trace)
	}
	seen := map[protocol.SpanID]bool{}
	later, again := job(func(v *view.Job) { v.Submitted++ }), guest(v)
	again.Epoch = 2
	for _, s := range slices.Concat(all, again.At("south", v, nil), spans.OfJob(later, nil)) {
		if seen[s.ID] {
			t.Errorf("a second span %s has the ID %v", s.Name, s.ID)
		}
		seen[s.ID] = true
	}
}
