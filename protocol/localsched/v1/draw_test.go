package localschedv1_test

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

// travel is what is left of a message on the other side.
func travel[M proto.Message](t interface{ Fatal(args ...any) }, m, into M) M {
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err = proto.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
	return into
}

// with returns a changed copy.
func with[T any](v T, change func(*T)) T {
	change(&v)
	return v
}

func drawQueued(t *rapid.T) localsched.Queued {
	tag := protocoltest.Tag(t)
	return localsched.Queued{Tag: tag, Request: protocoltest.Request(t, tag.Job), Since: protocol.Instant(protocoltest.Amount(t))}
}

// drawNote draws a note, of which most are empty.
func drawNote(t *rapid.T) string {
	return rapid.OneOf(rapid.Just(""), rapid.StringN(0, 20, 200)).Draw(t, "note")
}

func drawHold(t *rapid.T) localsched.Reservation {
	tag := protocoltest.Tag(t)
	return localsched.Reservation{
		Tag: tag, Request: protocoltest.Request(t, tag.Job), Start: protocol.Instant(protocoltest.Amount(t)),
		Account: drawAccount(t),
	}
}

func drawQuery(t *rapid.T) localsched.Query {
	query := localsched.Query{
		Jobs: protocoltest.Slice(t, drawRequest),
		Ahead: protocoltest.Slice(t, func(t *rapid.T) localsched.Tentative {
			tag := protocoltest.Tag(t)
			one := localsched.Tentative{Tag: tag, Request: protocoltest.Request(t, tag.Job)}
			one.Association.Partition = rapid.SampledFrom([]string{"", "batch,long"}).Draw(t, "partition")
			return one
		}),
	}
	if rapid.Bool().Draw(t, "protects") {
		query.ProtectSite = new(protocol.SiteNumber(rapid.Uint16Range(1, uint16(protocol.MaxSiteNumber)).Draw(t, "protect_site")))
	}
	return query
}

// drawRequest draws the shape of any job.
func drawRequest(t *rapid.T) protocol.Request { return protocoltest.Request(t, protocoltest.Job(t)) }

// drawQuotes draws answers to jobs, all in one currency or none.
func drawQuotes(t *rapid.T, jobs []protocol.Request) (quotes []protocol.Quote) {
	priced := rapid.Bool().Draw(t, "priced")
	for _, job := range jobs {
		quotes = append(quotes, protocoltest.Quote(t, job.Job, priced))
	}
	return quotes
}

func drawSubmission(t *rapid.T) localsched.Submission {
	tag := protocoltest.Tag(t)
	return localsched.Submission{
		Tag: tag, Spec: protocoltest.Spec(t, tag.Job), Payload: protocoltest.Payload(t),
		Origin: protocoltest.Site(t), Account: drawAccount(t), Guest: rapid.Bool().Draw(t, "guest"),
		StartBy: protocoltest.Instant(t),
	}
}

func drawAccount(t *rapid.T) string { return strings.ReplaceAll(protocoltest.Text(t), "\x00", "") }

func drawChange(t *rapid.T) localsched.Change {
	c := localsched.Change{
		Tag: protocoltest.Tag(t), State: rapid.SampledFrom(protocol.States()).Draw(t, "state"),
		Reason: protocoltest.Text(t), Started: protocol.Instant(protocoltest.Amount(t)),
	}
	if !c.State.Terminal() {
		return c
	}
	c.Outcome = protocoltest.Outcome(t)
	c.Outcome.State = c.State
	return c
}

func drawWatched(t *rapid.T) localsched.Watched {
	return localsched.Watched{
		Changes: protocoltest.Slice(t, drawChange), Cursor: localsched.Cursor(protocoltest.Text(t)), Load: protocoltest.Load(t),
	}
}

func drawActions(t *rapid.T) localsched.Actions {
	return localsched.Actions{
		Starts: protocoltest.Slice(t, protocoltest.Tag), Kills: protocoltest.Slice(t, protocoltest.Tag), Wake: protocol.Instant(protocoltest.Amount(t)),
	}
}

func drawPlanned(t *rapid.T) localsched.Planned {
	if rapid.Bool().Draw(t, "declined") {
		return localsched.Planned{Declined: "no: " + protocoltest.Text(t)}
	}
	return localsched.Planned{Start: protocol.Instant(protocoltest.Span(t)), Note: drawNote(t)} // never is the last instant
}
