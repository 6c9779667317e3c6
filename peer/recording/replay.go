package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Policies gives the policy of a name with its parameters; nil: not known, and
// its decisions are not checked. It is asked for the one that the recorded peer
// began with, and again after each [event.Reconfigure].
type Policies func(name string, params []policy.Param) (policy.Policy, error)

// Summary is what a replay found.
type Summary struct {
	Steps     uint64 `json:"steps"`
	Jobs      int    `json:"jobs"`      // submitted, or prepared for a partner
	Rounds    int    `json:"rounds"`    // that the policy was asked about
	Decisions int    `json:"decisions"` // that it took
	Checked   int    `json:"rounds_decided_again"`
	Received  int    `json:"messages_received"`
	Sent      int    `json:"messages_sent"` // by the replayed peer

	Differences int         `json:"differences"`                // steps and rounds that differ
	First       *Difference `json:"first_difference,omitempty"` // nil: none
	Cut         string      `json:"cut_off,omitempty"`          // why the end is missing; empty: it is there
	End         string      `json:"-"`                          // why the recording ended; empty: its end is missing
}

// Difference is the first place where the replay was not as recorded. What follows
// it means little.
type Difference struct {
	Step     uint64           `json:"step"`
	Now      protocol.Instant `json:"at_ms"`
	Event    string           `json:"event"`    // in the form of the recording
	What     string           `json:"what"`     // "records", "messages", …, "decisions"
	Expected string           `json:"recorded"` // a fingerprint, unless it was recorded in clear
	Got      string           `json:"replayed"`
}

// String tells the difference in full.
func (d *Difference) String() string {
	return fmt.Sprintf("step %d at %d differs in its %s\nevent:    %s\nexpected: %s\ngot:      %s",
		d.Step, d.Now, d.What, d.Event, d.Expected, d.Got)
}

// Replay feeds the recorded events to a fresh peer and compares what it makes of
// them; a policy that is known decides each round again. An error says that the
// recording cannot be read or replayed; the summary then tells how far it went. A
// recording that is cut off is no error.
func Replay(r *Reader, policies Policies) (Summary, error) {
	return replayed(r, replay{policies: policies})
}

// Observe is [Replay] without policies for one who wants to know what the recorded peer did: see is
// called with each step and what the peer made of it. After the first difference in the [Summary] that
// may not be what the recorded peer made.
func Observe(r *Reader, see func(Step, event.Ready)) (Summary, error) {
	return replayed(r, replay{see: see})
}

func replayed(r *Reader, p replay) (Summary, error) {
	h := r.Header()
	p.open = map[event.CallID]asked{}
	err := p.choose(h.Config.Policy)
	if err != nil {
		return p.Summary, err
	}
	if p.peer, err = peer.New(h.Config, h.Seed, r.Rows()); err != nil {
		return p.Summary, fmt.Errorf("make the recorded peer: %w", err)
	}
	for {
		step, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			p.End = r.End().Reason
			return p.Summary, nil
		case errors.Is(err, ErrCut):
			p.Cut = err.Error()
			return p.Summary, nil
		case err != nil:
			return p.Summary, err
		}
		if err = p.step(step); err != nil {
			return p.Summary, fmt.Errorf("step %d: %w", step.N, err)
		}
	}
}

type replay struct {
	Summary

	peer     *peer.Peer
	policies Policies
	see      func(Step, event.Ready) // nil: it is only compared
	policy   policy.Policy           // the active one; nil if not known
	open     map[event.CallID]asked
}

// asked is what a policy was asked.
type asked struct {
	policy   policy.Policy
	snapshot policy.Snapshot
}

// choose takes the policy that this tells of.
func (p *replay) choose(says policy.Description) (err error) {
	if p.policies == nil {
		return nil
	}
	if p.policy, err = p.policies(says.Name, says.Params); err != nil {
		return fmt.Errorf("the recorded policy %q: %w", says.Name, err)
	}
	return nil
}

func (p *replay) step(step Step) error {
	p.Steps++
	if err := p.decided(step); err != nil {
		return err
	}
	ready := p.peer.Step(step.Now, step.Event)
	if p.see != nil {
		p.see(step, ready)
	}
	if err := p.retuned(step.Event, ready); err != nil {
		return err
	}
	p.count(step.Event, ready)
	got, err := printOf(ready, true)
	if err != nil {
		return err
	}
	for i, want := range step.Print.named() {
		came := got.named()[i]
		if want.Count == came.Count && want.Sum == came.Sum {
			continue
		}
		return p.differs(step, want.name, want.tell(), came.tell())
	}
	if step.Print.Wake != got.Wake {
		return p.differs(step, "wake", fmt.Sprint(step.Print.Wake), fmt.Sprint(got.Wake))
	}
	return nil
}

// retuned follows the peer to another policy, or to other parameters.
func (p *replay) retuned(ev event.Event, ready event.Ready) error {
	tune, ok := ev.(event.Reconfigure)
	if !ok {
		return nil
	}
	for _, answer := range ready.Answers {
		if _, done := answer.Reply.(view.Done); done && answer.Asked == tune.Asked {
			return p.choose(tune.Runtime.Policy)
		}
	}
	return nil
}

func (p *replay) count(ev event.Event, ready event.Ready) {
	if _, ok := ev.(event.MessageIn); ok {
		p.Received++
	}
	p.Sent += len(ready.Messages)
	for _, f := range ready.LogEvents {
		if f.Kind == event.LogJobSubmitted || f.Kind == event.LogGuestPrepared {
			p.Jobs++
		}
	}
	for _, call := range ready.Calls {
		op, ok := call.Op.(event.DecideOp)
		switch {
		case !ok:
		case op.Fallback: // whose parameters are not recorded
			p.open[call.ID] = asked{snapshot: op.Snapshot}
		default:
			p.Rounds++
			p.open[call.ID] = asked{policy: p.policy, snapshot: op.Snapshot}
		}
	}
}

// decided lets the policy decide again what it decided in the recording. A round
// whose decision was an error, such as a time-out, or one of the fallback policy
// is not decided again.
func (p *replay) decided(step Step) error {
	done, ok := step.Event.(event.CallDone)
	if !ok {
		return nil
	}
	question := p.open[done.ID]
	delete(p.open, done.ID)
	result, ok := done.Result.(event.DecideResult)
	if ok = ok && done.Err == nil; !ok {
		return nil
	}
	p.Decisions += len(result.Decisions)
	if question.policy == nil {
		return nil
	}
	p.Checked++
	want, err := canonical(nilIfEmpty(result.Decisions))
	if err != nil {
		return err
	}
	decisions, _, failed := question.policy.Decide(context.Background(), question.snapshot)
	got, err := canonical(nilIfEmpty(decisions))
	switch {
	case err != nil:
		return err
	case failed != nil:
		return p.differs(step, "decisions", want, "the policy failed: "+failed.Error())
	case got != want:
		return p.differs(step, "decisions", want, got)
	}
	return nil
}

func nilIfEmpty(d []policy.Decision) []policy.Decision {
	if len(d) == 0 {
		return nil
	}
	return d
}

func (p *replay) differs(step Step, what, want, got string) error {
	p.Differences++
	if p.First != nil {
		return nil
	}
	enc := encoder{} // messages in clear, payloads without their bodies
	if err := enc.value(reflect.ValueOf(&step.Event).Elem()); err != nil {
		return err
	}
	p.First = &Difference{
		Step: step.N, Now: step.Now, Event: string(enc.out), What: what, Expected: want, Got: got,
	}
	return nil
}

// namedPart is a part with its name.
type namedPart struct {
	Part
	name string
}

// named lists the parts in the order of [event.Ready].
func (p *Print) named() []namedPart {
	return []namedPart{
		{p.Fault, "fault"},
		{p.Records, "records"},
		{p.Messages, "messages"},
		{p.Calls, "calls"},
		{p.Digest, "digest"},
		{p.LogEvents, "events"},
		{p.Answers, "answers"},
	}
}

func (p *namedPart) tell() string {
	switch {
	case p.Count == 0:
		return "none"
	case p.Text == "":
		return fmt.Sprintf("%d with fingerprint %s (not recorded in clear)", p.Count, p.Sum)
	}
	return p.Text
}
