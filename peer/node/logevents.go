package node

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	factTable = "fact"
	// maxFacts bounds what is kept of one job. Of more, the first firstFacts and
	// the latest stay.
	maxFacts   = 200
	firstFacts = 20
	// factSlack is how many facts come together before the oldest are dropped.
	factSlack = 50
	// maxCounted bounds the jobs whose facts are counted: twice as many at most. Not all that
	// facts are about end in a way that facts tell.
	maxCounted = 1 << 16
	// factDelay is how long a fact waits for a transaction to share.
	factDelay = 500 * time.Millisecond
)

// factLog keeps the facts of jobs for explain, and as those of job 0 what belongs
// to the story of every job that waits meanwhile. They are written along with
// rows, or a little later; a crash may lose the last ones.
type factLog struct {
	store Store
	due   chan struct{} // has a token when facts have waited long enough

	mu      sync.Mutex
	pending []Put // not written
	writing []Put // perhaps written
	counts  factCounts
	seq     uint64
	armed   bool
}

func newFactLog(store Store) *factLog {
	return &factLog{store: store, due: make(chan struct{}, 1)}
}

// factCounts count the facts of the jobs that facts were about lately.
type factCounts struct{ young, old map[protocol.JobID]int }

func (c *factCounts) of(id protocol.JobID) int {
	if n, ok := c.young[id]; ok {
		return n
	}
	return c.old[id]
}

// set notes a count. The older half of the jobs is forgotten when there are too many.
func (c *factCounts) set(id protocol.JobID, n int) {
	if _, ok := c.young[id]; !ok && len(c.young) >= maxCounted || c.young == nil {
		c.young, c.old = make(map[protocol.JobID]int), c.young
	}
	c.young[id] = n
}

func (c *factCounts) forget(id protocol.JobID) {
	delete(c.young, id)
	delete(c.old, id)
}

// add takes in facts that are about a job, or about all that wait.
func (l *factLog) add(facts []event.LogEvent) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range facts {
		f := &facts[i]
		if f.Job == 0 && !ofAll(f.Kind) {
			continue
		}
		value, err := json.Marshal(storedFact{LogEvent: *f})
		if err != nil {
			return fmt.Errorf("fact %s of job %d: %w", f.Kind, f.Job, err)
		}
		l.seq++
		l.pending = append(l.pending, Put{Table: factTable, Key: factKey(f.Job, f.At, l.seq), Value: value})
		if err := l.bound(f); err != nil {
			return err
		}
	}
	if len(l.pending) > 0 && !l.armed {
		l.armed = true
		time.AfterFunc(factDelay, l.ring)
	}
	return nil
}

// storedFact is a fact without what its key says: there are many.
type storedFact struct {
	event.LogEvent

	At  protocol.Instant `json:"at_ms,omitempty"` // always 0, in place of the fact's own
	Job protocol.JobID   `json:"job,omitempty"`   // always 0, too
}

// ofAll says whether a fact about no job belongs to the stories of all jobs that
// wait at that time.
func ofAll(kind event.LogKind) bool {
	return kind == event.LogPartnerVolunteered || kind == event.LogReconfigured
}

// ring says that facts have waited long enough.
func (l *factLog) ring() {
	l.mu.Lock()
	l.armed = false
	l.mu.Unlock()
	select {
	case l.due <- struct{}{}:
	default:
	}
}

// bound drops facts of a job that has very many.
func (l *factLog) bound(f *event.LogEvent) error {
	if last(f) {
		l.counts.forget(f.Job)
		return nil
	}
	n := l.counts.of(f.Job) + 1
	l.counts.set(f.Job, n)
	if n < maxFacts+factSlack {
		return nil
	}
	rows, err := l.store.Scan(factTable, factPrefix(f.Job), false, 2*(maxFacts+factSlack))
	if err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(r Row) bool { return !strings.HasPrefix(r.Key, factPrefix(f.Job)) })
	for i := firstFacts; i < len(rows)-maxFacts+firstFacts; i++ {
		l.pending = append(l.pending, Put{Table: factTable, Key: rows[i].Key})
	}
	l.counts.set(f.Job, maxFacts)
	return nil
}

// last says whether no more is to come about a job.
func last(f *event.LogEvent) bool {
	return f.Kind == event.LogJobEnded || f.Kind == event.LogGuestClosed || f.Kind == event.LogGuestAborted
}

// take hands out what is to be written; taken says that it is.
func (l *factLog) take() []Put {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writing, l.pending = l.pending, nil
	return l.writing
}

func (l *factLog) taken() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writing = nil
}

// of lists the facts of a job in order.
func (l *factLog) of(id protocol.JobID) ([]event.LogEvent, error) {
	prefix := factPrefix(id)
	l.mu.Lock()
	fresh := slices.Concat(l.writing, l.pending)
	l.mu.Unlock()
	rows, err := l.store.Scan(factTable, prefix, false, 4*(maxFacts+factSlack))
	if err != nil {
		return nil, err
	}
	values := make(map[string][]byte, len(rows))
	for _, row := range rows {
		if strings.HasPrefix(row.Key, prefix) {
			values[row.Key] = row.Value
		}
	}
	for _, put := range fresh {
		if put.Value != nil && strings.HasPrefix(put.Key, prefix) {
			values[put.Key] = put.Value
		}
	}
	return decodeFacts(values)
}

func decodeFacts(values map[string][]byte) ([]event.LogEvent, error) {
	keys := make([]string, 0, len(values))
	for key := range values {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	facts := make([]event.LogEvent, len(keys))
	for i, key := range keys {
		if err := json.Unmarshal(values[key], &facts[i]); err != nil {
			return nil, fmt.Errorf("fact %s: %w", key, err)
		}
		facts[i].Job, facts[i].At = factJob(key), factTime(key)
	}
	return facts, nil
}

// factKey sorts by job, then by time, then by order within one life of the node.
func factKey(id protocol.JobID, at protocol.Instant, seq uint64) string {
	return fmt.Sprintf("%016d-%015d-%09d", id, at, seq)
}

func factPrefix(id protocol.JobID) string { return fmt.Sprintf("%016d-", id) }

// factTime reads the time out of a key; of a key that is none it is the last one there is,
// so that the fact stays.
func factTime(key string) protocol.Instant {
	_, rest, _ := strings.Cut(key, "-")
	digits, _, _ := strings.Cut(rest, "-")
	at, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return math.MaxInt64
	}
	return protocol.Instant(at)
}

// factJob reads the job out of a key; 0: it is about all jobs that wait.
func factJob(key string) protocol.JobID {
	digits, _, _ := strings.Cut(key, "-")
	id, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0
	}
	return protocol.JobID(id)
}

// Explain lists what happened to a job, in order, and while it waited to be placed
// also which partners volunteered and how the rules changed.
func (n *Node) Explain(id protocol.JobID) ([]event.LogEvent, error) {
	facts, err := n.facts.of(id)
	if err != nil || len(facts) == 0 || facts[0].Kind != event.LogJobSubmitted {
		return facts, err
	}
	all, err := n.facts.of(0)
	if err != nil {
		return nil, err
	}
	from, to := waited(facts)
	all = slices.DeleteFunc(all, func(f event.LogEvent) bool { return f.At < from || f.At > to })
	all = append(all, facts...)
	slices.SortStableFunc(all, func(a, b event.LogEvent) int { return cmp.Compare(a.At, b.At) })
	return all, nil
}

// waited is from when to when a job waited to be placed, as far as is known.
func waited(facts []event.LogEvent) (from, to protocol.Instant) {
	const open protocol.Instant = math.MaxInt64
	from, to = facts[0].At, open
	for _, f := range facts {
		switch f.Kind { //nolint:exhaustive // the rest does not say where the job is
		case event.LogJobCommitted, event.LogJobGranted, event.LogJobEnded:
			to = min(to, f.At)
		case event.LogJobRequeued, event.LogJobReclaimed, event.LogJobMoved:
			to = open
		}
	}
	return from, to
}

// tell passes facts on to the log, the meter and explain.
func (n *Node) tell(ctx context.Context, facts []event.LogEvent) {
	if len(facts) == 0 {
		return
	}
	for i := range facts {
		n.cfg.Meter.Count(facts[i])
		n.logFact(ctx, &facts[i])
	}
	if err := n.facts.add(facts); err != nil {
		n.log.Warn("events_dropped", "error", err)
	}
}

func (n *Node) logFact(ctx context.Context, f *event.LogEvent) {
	level := levelOf(f.Kind)
	if !n.log.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, 8)
	attrs = append(attrs, slog.String("kind", string(f.Kind)))
	if f.Job != 0 {
		attrs = append(attrs, slog.Uint64("job", uint64(f.Job)))
	}
	if f.Site != "" {
		attrs = append(attrs, slog.String("site", string(f.Site)))
	}
	if f.Epoch != 0 {
		attrs = append(attrs, slog.Uint64("epoch", uint64(f.Epoch)))
	}
	if f.State != 0 {
		attrs = append(attrs, slog.String("state", f.State.String()))
	}
	if f.Duration != 0 {
		attrs = append(attrs, slog.Int64("duration_ms", int64(f.Duration)))
	}
	if f.Text != "" {
		attrs = append(attrs, slog.String("text", f.Text))
	}
	n.log.LogAttrs(ctx, level, "event", attrs...)
}

// levelOf keeps the log of a busy peer readable: what ends, crosses sites or
// goes wrong is shown, the steps between are for debugging and for explain.
func levelOf(kind event.LogKind) slog.Level {
	switch kind {
	case event.LogSiteIDConflict, event.LogNeedsOperator, event.LogPartnerMissing, event.LogRecoveryNeeded, event.LogTwoPeers:
		return slog.LevelError
	case event.LogCallFailed, event.LogPolicyFailed, event.LogUnexpectedMessage, event.LogPartnerUnresponsive, event.LogPricesMissing,
		event.LogMemberConflict, event.LogRequeueForced, event.LogUnknownLocalJob, event.LogOutputLeft,
		event.LogPartnerQuality, event.LogRecovered, event.LogKeyRefused, event.LogBillDisputed, event.LogLimitExceeded, event.LogStartMissed:
		return slog.LevelWarn
	case event.LogJobPlacedLocally, event.LogRoundOpened, event.LogRoundDecided, event.LogJobDeferred, event.LogJobCommitted, event.LogJobOffered,
		event.LogReserved, event.LogJobGranted, event.LogOfferRefused, event.LogGuestPrepared, event.LogGuestClosed, event.LogVolunteered,
		event.LogPartnerVolunteered, event.LogQuoteRequestDropped, event.LogOfferDropped:
		return slog.LevelDebug
	case event.LogJobSubmitted, event.LogJobHandedOff, event.LogJobStarted, event.LogJobEnded, event.LogJobRequeued, event.LogCancelRequested, event.LogRequeueRequested, event.LogJobHeld, event.LogJobReleased, event.LogJobUpdated,
		event.LogJobReclaimed, event.LogGuestRefused, event.LogGuestAccepted, event.LogGuestAborted, event.LogGuestStarted, event.LogGuestEnded,
		event.LogPartnerUp, event.LogPartnerDown, event.LogReconfigured, event.LogDrained, event.LogResumed, event.LogCallRestored,
		event.LogArraySubmitted, event.LogArrayEnded, event.LogMoveBegun, event.LogJobMoved:
	}
	return slog.LevelInfo
}
