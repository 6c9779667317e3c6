package recording

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// File is what a recording goes to.
type File = file

// NewWriter is Create with another file.
func NewWriter(name string, f File, o Options) *Writer { return newWriter(name, f, o) }

// Events and Results are the kinds that can be read.
func Events() []event.Event { return events() }

func Results() []event.Result { return results() }

// StandIn replaces a payload's bodies.
func StandIn(p protocol.Payload) protocol.Payload { return standIn(p) }

// Canonical is the form that fingerprints are made of.
func Canonical(value any) (string, error) { return canonical(value) }

// Encode gives the recorded form of what to points to, with bodies.
func Encode(to any) ([]byte, error) {
	e := encoder{wire: true, bodies: true}
	err := e.value(reflect.ValueOf(to).Elem())
	return e.out, err
}

// Decode reads it again.
func Decode(data []byte, to any, accounts rules.Accounts) error {
	parsed := json.NewDecoder(bytes.NewReader(data))
	parsed.UseNumber()
	var from any
	if err := parsed.Decode(&from); err != nil {
		return err
	}
	d := decoder{kinds: newKinds(), accounts: accounts}
	d.costs, _ = accounts.(pricing.Costs)
	if curve, ok := accounts.(rules.WaitingCost); ok {
		d.curve = func(string) rules.WaitingCost { return curve }
	}
	return d.into(reflect.ValueOf(to).Elem(), from)
}

// CRC begins a line with this JSON.
func CRC(data []byte) string { return crcOf(data) }
