package peer

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Copy is a copy of a peer, or of any other data, that shares nothing with it which either changes.
func Copy[T any](of T) T {
	out, _ := reflect.TypeAssert[T](copier{}.copied(reflect.ValueOf(&of).Elem()))
	return out
}

// shared are the interfaces behind which a peer has what is not its own and never changes, and errors.
var shared = map[reflect.Type]bool{
	reflect.TypeFor[rules.Accounts](): true, reflect.TypeFor[pricing.Costs](): true, reflect.TypeFor[rules.WaitingCost](): true, reflect.TypeFor[error](): true,
}

// copier remembers the copies that pointers have, so that what was one stays one.
type copier map[any]reflect.Value

// copied copies a value that is addressable.
func (c copier) copied(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() { //nolint:exhaustive // the others have nothing below them
	case reflect.Struct:
		for i := range v.NumField() {
			open(out.Field(i)).Set(c.copied(open(v.Field(i))))
		}
		return out
	case reflect.Array:
		for i := range v.Len() {
			out.Index(i).Set(c.copied(v.Index(i)))
		}
		return out
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		if !v.IsNil() && !shared[v.Type()] {
			return c.pointed(v)
		}
	}
	return v
}

// pointed copies what a value points to.
func (c copier) pointed(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() { //nolint:exhaustive // the others have nothing below them
	case reflect.Pointer:
		if same, ok := c[v.Interface()]; ok {
			return same
		}
		out.Set(reflect.New(v.Type().Elem()))
		c[v.Interface()] = out
		out.Elem().Set(c.copied(v.Elem()))
	case reflect.Slice:
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(c.copied(v.Index(i)))
		}
	case reflect.Map:
		out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for key, elem := range v.Seq2() {
			out.SetMapIndex(c.copied(placed(key)), c.copied(placed(elem)))
		}
	case reflect.Interface:
		out.Set(c.copied(placed(v.Elem())))
	}
	return out
}

// open is a field that may be read and set, exported or not.
func open(field reflect.Value) reflect.Value {
	return reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
}

// placed is a value that is addressable.
func placed(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	return out
}

// Print is all that a peer is, a line for each thing, in an order of its own.
func (p *Peer) Print() string {
	w := printer{known: map[any]string{}}
	w.print("peer", reflect.ValueOf(&p).Elem())
	return w.out.String()
}

type printer struct {
	out   strings.Builder
	known map[any]string // what pointers point to, by where it was printed
}

func (w *printer) print(at string, v reflect.Value) {
	switch v.Kind() { //nolint:exhaustive // the others have nothing below them
	case reflect.Struct:
		for i := range v.NumField() {
			w.print(at+"."+v.Type().Field(i).Name, open(v.Field(i)))
		}
	case reflect.Array, reflect.Slice:
		for i := range v.Len() {
			w.print(fmt.Sprintf("%s[%d]", at, i), v.Index(i))
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, key := range keys {
			w.print(fmt.Sprintf("%s[%v]", at, key), placed(v.MapIndex(key)))
		}
	case reflect.Pointer:
		w.pointed(at, v)
	case reflect.Interface:
		if !v.IsNil() && !shared[v.Type()] {
			w.print(fmt.Sprintf("%s(%s)", at, v.Elem().Type()), placed(v.Elem()))
		}
	default:
		fmt.Fprintf(&w.out, "%s = %v\n", at, v)
	}
}

func (w *printer) pointed(at string, v reflect.Value) {
	if v.IsNil() {
		return
	}
	if where, ok := w.known[v.Interface()]; ok {
		fmt.Fprintf(&w.out, "%s is %s\n", at, where)
		return
	}
	w.known[v.Interface()] = at
	w.print(at, v.Elem())
}

// Impure says what a peer keeps that is not data: functions, channels, what may be anything, and what
// packages of others hide; and what its pending calls point to of it.
func (p *Peer) Impure() []string {
	c := inspection{seen: map[reflect.Type]bool{}}
	c.inspect("peer", reflect.TypeFor[Peer]())
	for _, then := range p.calls.Pending() {
		t := reflect.TypeOf(then)
		call := inspection{seen: map[reflect.Type]bool{}}
		call.inspect(t.String(), t)
		for reached := range call.seen {
			if reached.Kind() == reflect.Pointer && reached.Elem().PkgPath() == t.PkgPath() {
				call.faults = append(call.faults, fmt.Sprintf("%s has a %s", t, reached))
			}
		}
		c.faults = append(c.faults, call.faults...)
	}
	return c.faults
}

// module is where the packages are that are looked into.
const module = "github.com/switchyard-hpc/switchyard/"

// closed are the interfaces behind which there are only structs of data.
var closed = map[reflect.Type]bool{
	reflect.TypeFor[pending](): true, reflect.TypeFor[quotes](): true, reflect.TypeFor[event.Op](): true,
	reflect.TypeFor[row.Row](): true, reflect.TypeFor[protocol.Message](): true, reflect.TypeFor[view.Reply](): true,
}

type inspection struct {
	seen   map[reflect.Type]bool
	faults []string
}

// inspect looks at a type and all that it is made of.
func (c *inspection) inspect(at string, t reflect.Type) {
	if c.seen[t] {
		return
	}
	c.seen[t] = true
	switch t.Kind() { //nolint:exhaustive // the others are data
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Uintptr:
		c.faults = append(c.faults, fmt.Sprintf("%s is a %s", at, t))
	case reflect.Interface:
		if !shared[t] && !closed[t] {
			c.faults = append(c.faults, fmt.Sprintf("%s is a %s, which may be anything", at, t))
		}
	case reflect.Pointer, reflect.Slice, reflect.Array:
		c.inspect(at, t.Elem())
	case reflect.Map:
		c.inspect(at, t.Key())
		c.inspect(at, t.Elem())
	case reflect.Struct:
		for field := range t.Fields() {
			if !field.IsExported() && !strings.HasPrefix(field.PkgPath, module) && t != reflect.TypeFor[rand.PCG]() {
				c.faults = append(c.faults, fmt.Sprintf("%s is a %s, which hides %s", at, t, field.Name))
			}
			c.inspect(at+"."+field.Name, field.Type)
		}
	}
}
