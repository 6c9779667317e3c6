package recording

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
)

// decoder reads what an [encoder] wrote. The JSON has been parsed with numbers as
// [json.Number].
type decoder struct {
	kinds    kinds
	accounts rules.Accounts                      // stands where accounts were
	costs    pricing.Costs                       // where costs were
	curve    func(name string) rules.WaitingCost // where the curve of a name was
}

// into sets v from the parsed JSON. It is strict: unknown fields, numbers out of
// range and other types are errors, which name the place.
func (d *decoder) into(v reflect.Value, from any) error {
	switch kind := v.Kind(); {
	case kind == reflect.Bool:
		b, ok := from.(bool)
		v.SetBool(b)
		return unless(ok, "true or false", from)
	case v.CanInt() || v.CanUint():
		return number(v, from)
	case kind == reflect.String:
		s, err := text(from)
		v.SetString(s)
		return err
	case kind == reflect.Slice || kind == reflect.Array:
		return d.list(v, from)
	case kind == reflect.Struct:
		return d.object(v, from)
	case kind == reflect.Map && v.Type().Key().Kind() == reflect.String:
		return d.mapping(v, from)
	case kind == reflect.Pointer:
		return d.pointer(v, from)
	case kind == reflect.Interface:
		return d.choice(v, from)
	}
	return fmt.Errorf("a %s has no form in a recording", v.Type())
}

func (d *decoder) pointer(v reflect.Value, from any) error {
	if from == nil {
		return nil
	}
	v.Set(reflect.New(v.Type().Elem()))
	return d.into(v.Elem(), from)
}

func number(v reflect.Value, from any) error {
	digits, _ := from.(json.Number) // what is none is empty, which is no number either
	if v.CanInt() {
		n, err := strconv.ParseInt(string(digits), 10, v.Type().Bits())
		v.SetInt(n)
		return unless(err == nil, fmt.Sprintf("an integer of %d bits", v.Type().Bits()), from)
	}
	n, err := strconv.ParseUint(string(digits), 10, v.Type().Bits())
	v.SetUint(n)
	return unless(err == nil, fmt.Sprintf("a natural number of %d bits", v.Type().Bits()), from)
}

func unless(ok bool, want string, got any) error {
	if ok {
		return nil
	}
	return fmt.Errorf("%.60q is not %s", fmt.Sprint(got), want)
}

func text(from any) (string, error) {
	switch from := from.(type) {
	case string:
		return from, nil
	case map[string]any:
		b, err := fromBase64(from["base64"])
		return string(b), err
	}
	return "", unless(false, "a string", from)
}

func fromBase64(from any) ([]byte, error) {
	s, ok := from.(string)
	if !ok {
		return nil, unless(false, "a string in base64", from)
	}
	return base64.StdEncoding.DecodeString(s)
}

func (d *decoder) list(v reflect.Value, from any) error {
	if v.Type().Elem() == reflect.TypeFor[byte]() {
		return setBytes(v, from)
	}
	if from == nil && v.Kind() == reflect.Slice {
		return nil
	}
	items, ok := from.([]any)
	if !ok || (v.Kind() == reflect.Array && v.Len() != len(items)) {
		return unless(false, "a list of the right length", from)
	}
	if v.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
	}
	for i, item := range items {
		if err := d.into(v.Index(i), item); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return nil
}

func setBytes(v reflect.Value, from any) error {
	if from == nil && v.Kind() == reflect.Slice {
		return nil
	}
	b, err := fromBase64(from)
	switch {
	case err != nil:
		return err
	case v.Kind() == reflect.Slice:
		v.SetBytes(b)
	case v.Len() != len(b):
		return fmt.Errorf("has %d bytes instead of %d", len(b), v.Len())
	default:
		reflect.Copy(v, reflect.ValueOf(b))
	}
	return nil
}

func (d *decoder) object(v reflect.Value, from any) error {
	fields, ok := from.(map[string]any)
	if !ok {
		return unless(false, "an object", from)
	}
	known := 0
	for i := range v.NumField() {
		field := v.Type().Field(i)
		value, there := fields[field.Name]
		if !there || !field.IsExported() {
			continue
		}
		known++
		if err := d.into(v.Field(i), value); err != nil {
			return fmt.Errorf("%s: %w", field.Name, err)
		}
	}
	if known < len(fields) {
		return fmt.Errorf("a %s has no field %s", v.Type(), firstUnknown(v.Type(), fields))
	}
	return nil
}

func (d *decoder) mapping(v reflect.Value, from any) error {
	entries, ok := from.(map[string]any)
	if !ok {
		return unless(false, "an object", from)
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(entries)))
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		one := reflect.New(v.Type().Elem()).Elem()
		if err := d.entry(one, name, entries[name]); err != nil {
			return fmt.Errorf("[%q]: %w", name, err)
		}
		v.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), one)
	}
	return nil
}

// entry sets the value of a map's key. A curve of waiting has its name from there.
func (d *decoder) entry(v reflect.Value, name string, from any) error {
	if v.Type() != reflect.TypeFor[rules.WaitingCost]() {
		return d.into(v, from)
	}
	if d.curve != nil {
		v.Set(reflect.ValueOf(d.curve(name)))
	}
	return unless(from == true, "true", from)
}

// firstUnknown is the first key by name that is no field.
func firstUnknown(t reflect.Type, fields map[string]any) string {
	first := ""
	for name := range fields {
		field, ok := t.FieldByName(name)
		if ok && field.IsExported() && len(field.Index) == 1 {
			continue
		}
		if first == "" || name < first {
			first = name
		}
	}
	return strconv.Quote(first)
}

func (d *decoder) choice(v reflect.Value, from any) error {
	if from == nil {
		return nil
	}
	switch v.Type() {
	case reflect.TypeFor[error]():
		s, err := text(from)
		v.Set(reflect.ValueOf(errors.New(s)))
		return err
	case reflect.TypeFor[rules.Accounts]():
		if d.accounts != nil {
			v.Set(reflect.ValueOf(d.accounts))
		}
		return unless(from == true, "true", from)
	case reflect.TypeFor[pricing.Costs]():
		if d.costs != nil {
			v.Set(reflect.ValueOf(d.costs))
		}
		return unless(from == true, "true", from)
	}
	name, value, err := only(from)
	if err != nil {
		return err
	}
	if v.Type() == reflect.TypeFor[protocol.Message]() {
		return setMessage(v, name, value)
	}
	t, ok := d.kinds[v.Type()][name]
	if !ok {
		return fmt.Errorf("%s %q is unknown; it may come from a newer version", v.Type(), name)
	}
	one := reflect.New(t).Elem()
	if err = d.into(one, value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	v.Set(one)
	return nil
}

// only gives the one key of an object and its value.
func only(from any) (string, any, error) {
	fields, ok := from.(map[string]any)
	if ok && len(fields) == 1 {
		for name, value := range fields {
			return name, value, nil
		}
	}
	return "", nil, unless(false, "an object with one key", from)
}

func setMessage(v reflect.Value, kind string, from any) error {
	body, err := fromBase64(from)
	if err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	m, err := peerv1.Decode(kind, body)
	if err != nil {
		return err
	}
	v.Set(reflect.ValueOf(m))
	return nil
}
