package protocoltest

import (
	"fmt"
	"reflect"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Full is a noun of which every field says something, and no two numbers or texts the same, so that
// a form that loses or swaps fields is seen to do so. It need not make sense: no check passes it.
func Full[T any]() T {
	var noun T
	f := filler{}
	f.fill(reflect.ValueOf(&noun).Elem())
	return noun
}

// filler counts what it has filled.
type filler struct{ n uint32 }

func (f *filler) fill(v reflect.Value) {
	f.n++
	if indexes, ok := reflect.TypeAssert[*protocol.Indexes](v.Addr()); ok { // has no form if its runs make no sense
		*indexes = protocol.IndexesOf(int(f.n), int(f.n)+1)
		return
	}
	switch v.Kind() { //nolint:exhaustive // nouns have no other parts
	case reflect.Struct:
		for _, field := range v.Fields() {
			f.fill(field)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		const entries = 2
		v.Set(reflect.MakeSlice(v.Type(), entries, entries))
		for i := range entries {
			f.fill(v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			f.fill(v.Index(i))
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("text-%d", f.n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8: // a byte, or one of few kinds
		v.SetUint(1)
	case reflect.Int, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(f.n))
	case reflect.Uint, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(f.n))
	default:
		panic(fmt.Sprintf("%s is no part of a noun", v.Type()))
	}
}

// Unset lists the fields of a struct, and of those that it embeds, that say nothing.
func Unset(of any) (names []string) {
	v := reflect.ValueOf(of)
	for field, value := range v.Fields() {
		switch {
		case field.Anonymous:
			names = append(names, Unset(value.Interface())...)
		case value.IsZero():
			names = append(names, field.Name)
		}
	}
	return names
}
