package recording

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

// encoder appends values in the canonical form: equal values have equal bytes.
type encoder struct {
	out    []byte
	bodies bool // payloads whole, not their stand-ins
	wire   bool // messages in their form on the wire, not in clear
}

// canonical is the form that fingerprints are made of.
func canonical(value any) (string, error) {
	e := encoder{}
	if err := e.value(reflect.ValueOf(value)); err != nil {
		return "", err
	}
	return string(e.out), nil
}

func (e *encoder) value(v reflect.Value) error {
	switch kind := v.Kind(); {
	case kind == reflect.Bool:
		e.out = strconv.AppendBool(e.out, v.Bool())
	case v.CanInt():
		e.out = strconv.AppendInt(e.out, v.Int(), 10)
	case v.CanUint():
		e.out = strconv.AppendUint(e.out, v.Uint(), 10)
	case kind == reflect.String:
		return e.text(v.String())
	case kind == reflect.Slice || kind == reflect.Array:
		return e.list(v)
	case kind == reflect.Struct:
		return e.object(v)
	case kind == reflect.Map && v.Type().Key().Kind() == reflect.String:
		return e.mapping(v)
	case v.CanFloat():
		return e.float(v.Float())
	case kind == reflect.Pointer:
		return e.pointer(v)
	case kind == reflect.Interface:
		return e.choice(v)
	default:
		return fmt.Errorf("a %s has no form in a recording", v.Type())
	}
	return nil
}

func (e *encoder) text(s string) error {
	if !utf8.ValidString(s) {
		e.out = append(e.out, `{"base64":`...)
		e.bytes([]byte(s))
		e.out = append(e.out, '}')
		return nil
	}
	quoted, err := json.Marshal(s)
	e.out = append(e.out, quoted...)
	return err
}

func (e *encoder) bytes(b []byte) {
	e.out = append(e.out, '"')
	e.out = base64.StdEncoding.AppendEncode(e.out, b)
	e.out = append(e.out, '"')
}

func (e *encoder) list(v reflect.Value) error {
	isSlice := v.Kind() == reflect.Slice
	switch {
	case isSlice && v.IsNil():
		e.out = append(e.out, "null"...)
		return nil
	case v.Type().Elem() == reflect.TypeFor[byte]():
		b := make([]byte, v.Len())
		reflect.Copy(reflect.ValueOf(b), v)
		e.bytes(b)
		return nil
	}
	e.out = append(e.out, '[')
	for i := range v.Len() {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		if err := e.value(v.Index(i)); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}
	e.out = append(e.out, ']')
	return nil
}

func (e *encoder) object(v reflect.Value) error {
	e.out = append(e.out, '{')
	first := true
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if v.Field(i).IsZero() {
			continue
		}
		if !field.IsExported() {
			return fmt.Errorf("field %s of %s cannot be recorded, since it is not exported", field.Name, v.Type())
		}
		if !first {
			e.out = append(e.out, ',')
		}
		first = false
		e.out = append(e.out, '"')
		e.out = append(e.out, field.Name...)
		e.out = append(e.out, '"', ':')
		if err := e.value(v.Field(i)); err != nil {
			return fmt.Errorf("%s: %w", field.Name, err)
		}
	}
	e.out = append(e.out, '}')
	return nil
}

// mapping writes a map in the order of its keys.
func (e *encoder) mapping(v reflect.Value) error {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	e.out = append(e.out, '{')
	for i, key := range keys {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		name, err := json.Marshal(key.String())
		if err == nil && !utf8.ValidString(key.String()) {
			err = errors.New("is not UTF-8")
		}
		e.out = append(append(e.out, name...), ':')
		if err == nil {
			err = e.value(v.MapIndex(key))
		}
		if err != nil {
			return fmt.Errorf("[%q]: %w", key.String(), err)
		}
	}
	e.out = append(e.out, '}')
	return nil
}

// float writes what is shown to people, for fingerprints only: with the digits on which
// machines agree that round the last bits in other ways.
func (e *encoder) float(f float64) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("%v has no form in a recording", f)
	}
	e.out = strconv.AppendFloat(e.out, f, 'g', 6, 64)
	return nil
}

func (e *encoder) pointer(v reflect.Value) error {
	if v.IsNil() {
		e.out = append(e.out, "null"...)
		return nil
	}
	if payload, ok := reflect.TypeAssert[*protocol.Payload](v); ok && !e.bodies {
		return e.value(reflect.ValueOf(standIn(*payload)))
	}
	return e.value(v.Elem())
}

// choice is a value of a closed set, or one of the open ones: an error is its text;
// accounts, costs and curves of waiting are only there or not.
func (e *encoder) choice(v reflect.Value) error {
	if v.IsNil() {
		e.out = append(e.out, "null"...)
		return nil
	}
	switch one := v.Interface().(type) {
	case error:
		return e.text(one.Error())
	case rules.Accounts, pricing.Costs, rules.WaitingCost:
		e.out = append(e.out, "true"...)
		return nil
	case protocol.Message:
		if e.wire {
			return e.message(one)
		}
	}
	e.out = append(e.out, '{', '"')
	e.out = append(e.out, v.Elem().Type().Name()...)
	e.out = append(e.out, '"', ':')
	if err := e.value(v.Elem()); err != nil {
		return fmt.Errorf("%s: %w", v.Elem().Type().Name(), err)
	}
	e.out = append(e.out, '}')
	return nil
}

func (e *encoder) message(m protocol.Message) error {
	if offer, ok := m.(protocol.Offer); ok && offer.Payload != nil && !e.bodies {
		short := standIn(*offer.Payload)
		offer.Payload = &short
		m = offer
	}
	body, err := peerv1.Encode(m)
	if err != nil {
		return err
	}
	e.out = append(e.out, '{', '"')
	e.out = append(e.out, m.Kind()...)
	e.out = append(e.out, '"', ':')
	e.bytes(body)
	e.out = append(e.out, '}')
	return nil
}
