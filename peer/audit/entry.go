package audit

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Way is how an action came to the peer.
type Way string

// The ways.
const (
	Socket  Way = "socket"  // by the user that the kernel names
	Network Way = "network" // over TCP
	Signal  Way = "signal"  // by root or the peer's account
	Partner Way = "partner" // by a message of its peer
	Peer    Way = "peer"    // the peer itself
)

// Done is the result of an action that was carried out. Others are the codes of refusals.
const Done = "done"

// Entry is one line of the log.
type Entry struct {
	At      time.Time         `json:"time"`
	Action  string            `json:"action"` // a request of the API as "DELETE /v1/jobs/{id}", or the kind of a log event
	Way     Way               `json:"way"`
	User    string            `json:"user,omitempty"`
	UID     *int              `json:"uid,omitempty"` // nil: no user is known
	Token   string            `json:"token,omitempty"`
	From    string            `json:"from,omitempty"` // address of a caller over TCP
	Partner protocol.SiteName `json:"partner,omitempty"`
	Path    string            `json:"path,omitempty"`    // of the request, with its query
	Request string            `json:"request,omitempty"` // its body, except of submissions
	Jobs    []protocol.JobID  `json:"jobs,omitempty"`
	Omitted int               `json:"jobs_omitted,omitempty"` // jobs beyond the first [MaxJobs]
	Made    string            `json:"made_token,omitempty"`
	Changed []string          `json:"changed,omitempty"` // keys of the configuration, with their values
	Result  string            `json:"result"`            // [Done], or the code of the refusal
	Reason  string            `json:"reason,omitempty"`  // of the refusal, or what else there is to say
}

// Bounds of an entry. Longer texts and lists are cut.
const (
	maxText    = 1024 // bytes
	MaxJobs    = 1000
	maxChanged = 100
)

// OfEvent is the entry for a log event that tells what a partner did, or what an operator must be able to
// prove; false for all others.
func OfEvent(f event.LogEvent) (Entry, bool) {
	e := Entry{At: f.At.Time(), Action: string(f.Kind), Way: Partner, Partner: f.Site, Result: Done, Reason: f.Text}
	switch f.Kind { //nolint:exhaustive // of the others nothing must be proved
	case event.LogGuestAccepted, event.LogGuestAborted, event.LogJobHandedOff, event.LogBillDisputed:
	case event.LogGuestEnded:
		e.Reason = strings.TrimSpace(f.State.String() + " " + f.Text)
	case event.LogGuestRefused, event.LogOfferRefused, event.LogKeyRefused:
		e.Result = "refused"
	case event.LogRecoveryNeeded, event.LogRecovered, event.LogTwoPeers, event.LogRequeueForced:
		e.Way, e.Partner = Peer, ""
	default:
		return Entry{}, false
	}
	if f.Job != 0 {
		e.Jobs = []protocol.JobID{f.Job}
	}
	return e, true
}

// line is the entry as it stands in the file.
func (e Entry) line() ([]byte, error) {
	e.At = e.At.UTC().Truncate(time.Millisecond)
	for _, text := range []*string{&e.User, &e.From, &e.Path, &e.Request, &e.Result, &e.Reason, &e.Made, &e.Token} {
		*text = cut(*text)
	}
	if more := len(e.Jobs) - MaxJobs; more > 0 {
		e.Jobs, e.Omitted = e.Jobs[:MaxJobs], more
	}
	changed := make([]string, 0, min(len(e.Changed), maxChanged+1))
	for i, text := range e.Changed {
		if i == maxChanged {
			changed = append(changed, fmt.Sprintf("and %d more", len(e.Changed)-i))
			break
		}
		changed = append(changed, cut(text))
	}
	e.Changed = changed
	data, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	return append(printable(data), '\n'), nil
}

// cut shortens a text to whole characters of at most maxText bytes.
func cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	end := maxText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// printable escapes characters of a JSON document that are not printable. Outside its strings there are none.
func printable(data []byte) []byte {
	if strings.IndexFunc(string(data), unprintable) < 0 {
		return data
	}
	out := make([]byte, 0, len(data)+16)
	for _, r := range string(data) {
		if !unprintable(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }
