package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Limits of a submission.
const (
	MaxJobs = 1000     // jobs
	MaxBody = 32 << 20 // bytes of JSON
	maxKey  = 256      // bytes
)

// Submission is the body of a request to submit jobs, or to get quotes for them. The jobs' ids,
// their user, and what else a peer says of them are not there; a payload is not needed for quotes.
type Submission struct {
	Key         string                `json:"key,omitempty"` // makes a repetition harmless
	Jobs        []protocol.Job        `json:"jobs"`
	Application *protocol.Application `json:"application,omitempty"` // what is wanted of all jobs together; nil: nothing is
	Front       bool                  `json:"front,omitempty"`       // of quotes: also the choices between cost and time
}

// Quoted answers a request for quotes.
type Quoted struct {
	view.TestSubmitResult

	Exports []Exported `json:"exports,omitempty"` // one for each job; nil: none has variables
}

// Exported lists a job's variables by whether they leave the site when another one runs it.
type Exported struct {
	Leave []string `json:"leave,omitempty"`
	Stay  []string `json:"stay,omitempty"`
}

// Explanation is what happened to a job, in order.
type Explanation struct {
	Events []event.LogEvent `json:"events"`
}

// Info says what peer answers.
type Info struct {
	User          string              `json:"user"` // who asks, as the site knows him
	Site          protocol.SiteName   `json:"site"`
	Number        protocol.SiteNumber `json:"site_number"`
	Version       string              `json:"version"`
	Uptime        protocol.Duration   `json:"uptime_ms"`
	Rules         Rules               `json:"rules"`
	Gossip        bool                `json:"gossip"`                     // whether the site exchanges load data by gossip
	GossipAlone   bool                `json:"gossip_alone,omitempty"`     // whether no other member of the gossip answers
	Power         *Power              `json:"power,omitempty"`            // nil: the site has no power budget
	Staging       int64               `json:"max_staging_bytes"`          // that go with a job of the site to another one, as an archive; 0: none do
	Upload        int64               `json:"max_upload_bytes,omitempty"` // of files that come over TCP with one request, as an archive; 0: none do
	SlurmCommands bool                `json:"slurm_commands,omitempty"`   // whether jobs that run here find Slurm's commands that speak to this peer
	MaxArraySize  int                 `json:"max_array_size,omitempty"`   // number above the highest index of a job array
	Alarms        []string            `json:"alarms,omitempty"`           // what the site's operator should look at now
	Notes         []string            `json:"notes,omitempty"`            // what the site's operator should know
	Roster        string              `json:"roster,omitempty"`           // that the roster of the grid ends soon or has ended, which is among the notes; empty: neither
}

// Power is what the jobs of the site draw together and may draw, in milliwatts.
type Power struct {
	Draw    int64            `json:"draw_mw"`              // of jobs that run
	Pending int64            `json:"pending_mw,omitempty"` // kept for jobs that another batch system was given and has not started
	Budget  *int64           `json:"budget_mw,omitempty"`  // nil: none holds now
	Until   protocol.Instant `json:"until_ms,omitempty"`   // when it is another; 0: not in the time ahead that is known
	Next    *int64           `json:"next_mw,omitempty"`    // the budget from then on; nil: none
}

// Prices are the prices of electricity at this site by which it quotes, for some time ahead.
type Prices struct {
	Currency       string           `json:"currency,omitempty"`           // empty: no prices are known
	PublishedUntil protocol.Instant `json:"published_until_ms,omitempty"` // later ones are forecast
	StaleReason    string           `json:"stale_reason,omitempty"`       // why there are no newer ones; empty: these are the newest
	Slots          []PriceSlot      `json:"slots"`                        // in the order of time
}

// PriceSlot is a time with one price.
type PriceSlot struct {
	Start  protocol.Instant  `json:"start_ms"`
	Length protocol.Duration `json:"length_ms"`
	Price  protocol.Micro    `json:"price_micro_mwh"` // per MWh; prices below 0 happen
}

// Rules are by what jobs are placed at this site.
type Rules struct {
	Initiation  string `json:"initiation"`   // of rounds: "sender", "receiver", "symmetric" or "cycle"
	Policy      string `json:"policy"`       // that decides rounds
	LocalPolicy string `json:"local_policy"` // of the local queue
}

// Plugins are the plugins that the peer has started.
type Plugins struct {
	Plugins []Plugin `json:"plugins"` // sorted by name
}

// Plugin is a plugin and how it is.
type Plugin struct {
	Name     string           `json:"name"` // as it is configured
	Kind     string           `json:"kind"`
	Path     string           `json:"path"`
	Version  string           `json:"version,omitempty"` // its own; empty: it has not said yet
	State    string           `json:"state"`             // "starting", "up", "down" or "closed"
	Since    protocol.Instant `json:"since_ms"`          // of the state
	Restarts int              `json:"restarts"`
	Failure  string           `json:"failure,omitempty"` // the last
	RetryAt  protocol.Instant `json:"retry_at_ms,omitempty"`
	PID      int              `json:"pid,omitempty"`
}

// Reloaded says what reading the configuration again has done: with Problems,
// nothing.
type Reloaded struct {
	Problems []string `json:"problems,omitempty"` // "file:line: key: text"
	Warnings []string `json:"warnings,omitempty"`
	Changed  []Change `json:"changed"` // active now
	Restart  []Change `json:"restart"` // active after a restart of the peer
	Rules    Rules    `json:"rules"`

	// Partners that there are now, and that there are no more; their keys are not in Changed.
	Added   []protocol.SiteName `json:"added_partners,omitempty"`
	Removed []protocol.SiteName `json:"removed_partners,omitempty"`
}

// SettingsHistory is what has changed in the settings of the peer, the last change first.
type SettingsHistory struct {
	Changes []SettingsChange `json:"changes"`
}

// SettingsChange is what changed in the settings at once.
type SettingsChange struct {
	At      protocol.Instant `json:"at_ms"`
	By      string           `json:"by,omitempty"` // the user who had the peer reload, or SIGHUP; empty: the peer was started with other settings
	Changed []Change         `json:"changed"`
}

// Change is a key that has another value; its values are in TOML, or empty when
// its table was not there.
type Change struct {
	Key  string `json:"key"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Text is the change in a line; a value that is empty is "-".
func (c Change) Text() string {
	return fmt.Sprintf("%s: %s → %s", c.Key, valueText(c.From), valueText(c.To))
}

func valueText(value string) string {
	if value == "" {
		return "-"
	}
	return protocol.EscapeText(value)
}

// where says where the output of a job is, if not on the way: the caller reads it
// there with its own rights.
type where struct {
	Path string `json:"path"`
}

// DecodeSubmission reads a [Submission]. Unknown fields are errors, so that no option is
// silently ignored. It ends at the first job that is wrong, and decodes none if they are too many: a body takes little more
// memory than its bytes.
func DecodeSubmission(body io.Reader) (Submission, error) {
	decoder := newDecoder(body)
	var read struct {
		Submission

		Jobs        []json.RawMessage `json:"jobs"`
		Application *unlimited        `json:"application"`
	}
	if err := decoder.Decode(&read); err != nil {
		return Submission{}, fmt.Errorf("invalid submission: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Submission{}, errors.New("invalid submission: unexpected data after its end")
	}
	s := read.Submission
	s.Application = (*protocol.Application)(read.Application)
	if err := s.check(len(read.Jobs)); err != nil {
		return Submission{}, err
	}
	s.Jobs = make([]protocol.Job, len(read.Jobs))
	for i, text := range read.Jobs {
		if err := s.readJob(&s.Jobs[i], text); err != nil {
			return Submission{}, fmt.Errorf("job %d of %d: %w", i+1, len(s.Jobs), err)
		}
		read.Jobs[i] = nil
	}
	if err := s.checkApplication(); err != nil {
		return Submission{}, err
	}
	return s, nil
}

// unlimited is an application in JSON, of which a limit that is left out is none. Weights that are
// all 0, of the components too, stand for the site's usual ones.
type unlimited protocol.Application

// UnmarshalJSON implements [json.Unmarshaler].
func (a *unlimited) UnmarshalJSON(data []byte) error {
	*a = unlimited{MaxCost: protocol.Unlimited, MaxTime: protocol.Never}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	return decoder.Decode((*protocol.Application)(a))
}

// check refuses before the peer is asked what it would refuse of every site, of all but the jobs and their application.
func (s *Submission) check(jobs int) error {
	switch {
	case jobs == 0 || jobs > MaxJobs:
		return fmt.Errorf("the submission has %d jobs; send 1 to %d", jobs, MaxJobs)
	case len(s.Key) > maxKey:
		return fmt.Errorf("key %.80q must be at most %d bytes", s.Key, maxKey)
	}
	if err := protocol.CheckText(s.Key); err != nil {
		return fmt.Errorf("key %+.80q: %w", s.Key, err)
	}
	return nil
}

// readJob reads and checks one of the jobs.
func (s *Submission) readJob(j *protocol.Job, text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(j); err != nil {
		return err
	}
	return s.checkJob(j)
}

func (s *Submission) checkJob(j *protocol.Job) error {
	c := &j.Component
	switch {
	case !reflect.DeepEqual(j.Spec, j.Spec.Described()):
		return errors.New("spec: job, user, submitted_ms, like, mhz, mflops and the predictions are set by the peer; omit them")
	case s.Application == nil && (c.Alpha != 0 || c.Gamma != 0 || c.Delta != 0 || c.Together != 0):
		return errors.New("component: weights and together require an application")
	}
	return j.Check()
}

func (s *Submission) checkApplication() error {
	switch a := s.Application; {
	case a == nil:
		return nil
	case a.MaxCost < 0:
		return fmt.Errorf("application: invalid max_cost_micro %d; use 0 or more", a.MaxCost)
	default:
		if faults := a.Faults(s.Jobs); len(faults) > 0 {
			return fmt.Errorf("application: %s", strings.Join(faults, "; "))
		}
		return nil
	}
}

// complete says what is missing of jobs that are to run, if anything.
func (s *Submission) complete() error {
	for i := range s.Jobs {
		switch p := s.Jobs[i].Payload; {
		case p == nil || len(bytes.TrimSpace(p.Script)) == 0:
			return fmt.Errorf("job %d of %d has no script", i+1, len(s.Jobs))
		case p.WorkDir == "" || p.Stdout == "" || p.Stderr == "":
			return fmt.Errorf("job %d of %d must name work_dir, stdout and stderr", i+1, len(s.Jobs))
		}
	}
	return nil
}
