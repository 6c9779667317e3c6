package eventstream

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Kind says what an event is about. Its text is part of the API.
type Kind string

// The kinds of events.
const (
	OfJob  Kind = "job"  // a [JobChange]
	OfSite Kind = "site" // a [SiteChange]
	OfLog  Kind = "log"  // an [event.LogEvent]
)

// Kinds are all kinds of events.
func Kinds() []Kind { return []Kind{OfJob, OfLog, OfSite} }

// JobChange says that a job is new, has another state, or is placed at another site.
type JobChange struct {
	At   protocol.Instant `json:"at_ms"`
	From protocol.State   `json:"from,omitempty"` // the state before; left out of JSON: the job is new at this site
	// Job is the job as it is now. Until it has ended, its bill, its energy and the objectives of its application are left out.
	Job view.Job `json:"job"`
	// Left says that a guest has left this site without a run: its origin has recalled it or withdrawn its offer.
	Left bool `json:"left,omitempty"`
}

// SiteChange says that the load, the health or the machine of a site has changed, as far as this peer knows.
type SiteChange struct {
	At   protocol.Instant `json:"at_ms"`
	Site view.Site        `json:"site"`           // as it is now
	Left bool             `json:"left,omitempty"` // it is no partner any more
}

// Event is one event of a stream. It never changes.
type Event struct {
	ID   ID
	Kind Kind
	Of   *view.Traits // the job that the event is about; nil: of none

	size int // in the stream
	body any // nil once there is the text
	once sync.Once
	text []byte
	err  error
}

// JSON is what the event says.
func (e *Event) JSON() ([]byte, error) {
	e.once.Do(func() {
		e.text, e.err = json.Marshal(e.body)
		e.body = nil
	})
	return e.text, e.err
}

// AboutJob makes an event of a change of a job.
func AboutJob(change *JobChange) *Event {
	return &Event{Kind: OfJob, Of: view.TraitsOf(&change.Job), body: change}
}

// AboutSite makes an event of a change of a site.
func AboutSite(change *SiteChange) *Event { return &Event{Kind: OfSite, body: change} }

// Logged makes an event of a log event about a job; nil: it is about none.
func Logged(entry *event.LogEvent, of *view.Traits) *Event {
	return &Event{Kind: OfLog, Of: of, body: entry}
}

// ID names an event.
type ID struct {
	Life protocol.Instant // when the stream began
	N    uint64           // the number of the event in it, from 1
}

var errNoID = errors.New("invalid ID of an event; send the last one that you got, or none")

// ParseID reads what [ID.String] wrote.
func ParseID(text string) (id ID, err error) {
	life, number, _ := strings.Cut(text, "-")
	at, err := strconv.ParseUint(life, 10, 63)
	if err != nil {
		return ID{}, errNoID
	}
	if id.N, err = strconv.ParseUint(number, 10, 64); err != nil {
		return ID{}, errNoID
	}
	id.Life = protocol.Instant(at)
	if id.String() != text {
		return ID{}, errNoID
	}
	return id, nil
}

func (id ID) String() string {
	return strconv.FormatInt(int64(id.Life), 10) + "-" + strconv.FormatUint(id.N, 10)
}
