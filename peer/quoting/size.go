package quoting

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// A round's jobs are bounded by what one message may hold: by their number, and by the
// bytes of a request for all of them, well below the 4 MiB of the wire.
const (
	MaxRows         = 16384
	maxRequestBytes = 3 << 20
)

// Request is how much of a quote request is taken.
type Request struct{ rows, bytes int }

// Fits says whether the request holds these rows, too, and adds them if so. The first ones always
// fit.
func (r *Request) Fits(rows []protocol.Spec, predicted bool) bool {
	bytes := 0
	for i := range rows {
		bytes += RequestBytes(&rows[i], predicted)
	}
	if r.rows > 0 && (r.bytes+bytes > maxRequestBytes || r.rows+len(rows) > MaxRows) {
		r.bytes += bytes
		return false
	}
	r.rows, r.bytes = r.rows+len(rows), r.bytes+bytes
	return true
}

// RequestBytes is the most that a job can have in a quote request: its numbers take less
// than 100 bytes, and 50 more of results and with what is predicted of the run; a text its
// length and up to 3 bytes more, or 4 for an account or a partition, and a resource 20 more than its name and type.
func RequestBytes(spec *protocol.Spec, predicted bool) int {
	n := 100 + len(spec.User)
	if spec.Stages() {
		n += 14
	}
	for _, name := range []string{spec.Account, spec.Partition} {
		if name != "" {
			n += 4 + len(name)
		}
	}
	if predicted || spec.DataOut > 0 || spec.QOS != "" {
		n += 50 + len(spec.QOS)
	}
	for _, site := range spec.Sites {
		n += 3 + len(site)
	}
	for _, one := range spec.Resources {
		n += 20 + len(one.Name) + len(one.Type)
	}
	if spec.Features != "" {
		n += 3 + len(spec.Features)
	}
	return n
}

// TooLargeReason says why an application does not fit in one round, which has all its components
// in all their shapes; empty: it does.
func TooLargeReason(user string, jobs []protocol.Job) string {
	rows, bytes := 0, 0
	for i := range jobs {
		shapes := 1 + len(jobs[i].Component.Shapes)
		rows += shapes
		bytes += shapes * (RequestBytes(&jobs[i].Spec, true) + len(user))
	}
	if rows <= MaxRows && bytes <= maxRequestBytes {
		return ""
	}
	return fmt.Sprintf("the application has %d components in %d shapes, which sites are asked about at once, in %d bytes; "+
		"at most %d and %d are possible: make several applications of it", len(jobs), rows, bytes, MaxRows, maxRequestBytes)
}

// MaxNote bounds what people may read in a note, in bytes: the wire takes 256, and the
// mark of the cut needs three.
const MaxNote = 240

// Note is what people may read of a quote's wait. One that is declined has a reason
// instead.
func Note(q *protocol.Quote) string {
	if q.Declined != "" {
		return ""
	}
	return view.ClipTo(MaxNote, q.Note)
}

// A reply to a question about many jobs has short reasons and no notes, and fits into the
// 4 MiB of the wire.
const (
	fewJobs       = 64
	shortReason   = 160 // bytes; 16384 of them, with all the rest of a quote, are about 3 MB
	maxReplyBytes = 7 << 19
	emptyQuote    = 64 // the most bytes of a declined quote with a reason of up to 30 bytes
)

// Truncated is the reply in what a message holds: quotes beyond that are declined.
func Truncated(reply protocol.QuoteReply) protocol.QuoteReply {
	bytes := 0
	for i := range reply.Quotes {
		q := &reply.Quotes[i]
		if q.Declined = view.Clip(q.Declined); len(reply.Quotes) > fewJobs {
			q.Declined, q.Note = view.ClipTo(shortReason, q.Declined), ""
		}
		n := quoteBytes(q)
		if left := (len(reply.Quotes) - i - 1) * emptyQuote; bytes+n+left > maxReplyBytes {
			*q = protocol.Quote{Job: q.Job, Declined: "too many jobs for one reply"}
			n = quoteBytes(q)
		}
		bytes += n
	}
	return reply
}

// quoteBytes is the most that a quote can have in a reply.
func quoteBytes(q *protocol.Quote) int {
	n := 20 + len(q.Declined)
	if q.Declined == "" {
		n += 60 + len(q.Currency) + len(q.Note) // five durations
	}
	for _, term := range q.Terms {
		n += 20 + len(term.Name)
	}
	return n
}

// Declined is the reply that declines all jobs of a request.
func Declined(m protocol.QuoteRequest, why string) protocol.QuoteReply {
	reply := protocol.QuoteReply{Round: m.Round, Quotes: make([]protocol.Quote, len(m.Jobs))}
	for i := range m.Jobs {
		reply.Quotes[i] = protocol.Quote{Job: m.Jobs[i].Job, Declined: why}
	}
	return reply
}
