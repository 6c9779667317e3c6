package recording

import (
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"reflect"
	"strconv"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Format is the version of the recordings that this package writes and reads.
const Format = 17

// magic begins the first line of a recording.
const magic = "switchyard-recording"

// Header is what the recorded peer was made from, but for its rows.
type Header struct {
	Software string // that wrote the recording
	Seed     uint64
	Config   rules.Config // with its defaults and the policy's parameters; Accounts, Costs and WaitingCosts answer for the last step read
	Rows     int          // that follow
	Bodies   bool         // payloads are whole, not their stand-ins
}

// Step is one event and what the peer made of it.
type Step struct {
	N       uint64 // from 1
	Now     protocol.Instant
	Event   event.Event
	Answers []Answer // of the accounts in this step, each question once
	Charges []Charge // of the costs in this step, in order
	Rates   []Rated  // of the curves of waiting in this step, each question once
	Print   Print
}

// End closes a recording. Without it the peer was killed.
type End struct {
	Steps  uint64
	Reason string
}

// row is one row in its durable form.
type stored struct {
	Table row.Table
	Key   string
	Value string // by [row.Encode]
}

// entry is a line; exactly one field is set.
type entry struct {
	Header *Header
	Row    *stored
	Step   *Step
	End    *End
}

// Print is the fingerprint of a [event.Ready].
type Print struct {
	Fault     Part
	Records   Part
	Messages  Part
	Calls     Part
	Digest    Part
	LogEvents Part
	Answers   Part
	Wake      protocol.Instant
}

// Part is the fingerprint of one part of a Ready.
type Part struct {
	Count int
	Sum   string // FNV-1a, 64 bits in hexadecimal, of the canonical form; empty without content
	Text  string // the canonical form, if that is recorded
}

// printOf makes the fingerprint of a Ready, with the texts if they are wanted.
func printOf(ready event.Ready, texts bool) (Print, error) {
	p := Print{Wake: ready.Wake}
	digest, fault, faults := 0, "", 0
	if ready.Digest != nil {
		digest = 1
	}
	if ready.Fault != nil {
		fault, faults = ready.Fault.Error(), 1
	}
	for _, one := range []struct {
		part  *Part
		name  string
		count int
		of    any
	}{
		{&p.Fault, "fault", faults, fault},
		{&p.Records, "records", len(ready.Records), ready.Records},
		{&p.Messages, "messages", len(ready.Messages), ready.Messages},
		{&p.Calls, "calls", len(ready.Calls), ready.Calls},
		{&p.Digest, "digest", digest, ready.Digest},
		{&p.LogEvents, "events", len(ready.LogEvents), ready.LogEvents},
		{&p.Answers, "answers", len(ready.Answers), ready.Answers},
	} {
		if one.count == 0 {
			continue
		}
		text, err := canonical(one.of)
		if err != nil {
			return Print{}, fmt.Errorf("%s: %w", one.name, err)
		}
		*one.part = Part{Count: one.count, Sum: sum(text)}
		if texts {
			one.part.Text = text
		}
	}
	return p, nil
}

func sum(text string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // a hash takes everything
	return fmt.Sprintf("%016x", h.Sum64())
}

// lineOf is an entry as it stands in the file.
func lineOf(e entry, bodies bool) ([]byte, error) {
	enc := encoder{out: make([]byte, crcSize, 512), bodies: bodies, wire: true}
	if err := enc.value(reflect.ValueOf(e)); err != nil {
		return nil, err
	}
	copy(enc.out, crcOf(enc.out[crcSize:]))
	return append(enc.out, '\n'), nil
}

// crcSize is the length of a line's checksum and the space behind it.
const crcSize = 9

func crcOf(data []byte) string {
	return fmt.Sprintf("%08x ", crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
}

// rowOf gives a row its form in the file.
func rowOf(rec row.Record, bodies bool) (stored, error) {
	content := rec.Row
	if payload, ok := content.(row.Payload); ok && payload.Payload != nil && !bodies {
		short := standIn(*payload.Payload)
		content = row.Payload{Payload: &short}
	}
	if content == nil {
		return stored{}, fmt.Errorf("row %q of table %s has no content", rec.Key, rec.Table)
	}
	value, err := row.Encode(content)
	return stored{Table: rec.Table, Key: rec.Key, Value: string(value)}, err
}

// record is the row as [peer.New] takes it.
func (r stored) record() (row.Record, error) {
	content, err := row.Decode(r.Table, []byte(r.Value))
	if err != nil {
		return row.Record{}, fmt.Errorf("row %q: %w", r.Key, err)
	}
	return row.Record{Table: r.Table, Key: r.Key, Row: content}, nil
}

// titleOf is the first line.
func titleOf(software string) string {
	software = strconv.Quote(software)
	return fmt.Sprintf("%s %d %s\n", magic, Format, software[1:len(software)-1])
}
