package recording_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/pricing"
	"github.com/switchyard-hpc/switchyard/peer/recording"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// declared reads the types of a closed set from its source: those that have the
// method.
func declared(t *testing.T, files, method string) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if ok && fn.Recv != nil && fn.Name.Name == method {
				names = append(names, fn.Recv.List[0].Type.(*ast.Ident).Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

func namesOf[Set any](all []Set) []string {
	var names []string
	for _, one := range all {
		names = append(names, reflect.TypeOf(one).Name())
	}
	slices.Sort(names)
	return names
}

// written has one of each kind of what fingerprints are made of and nobody reads
// back.
func written() (ops []event.Op, replies []view.Reply, rows []row.Row) {
	ops = []event.Op{
		event.QuoteOp{},
		event.SubmitOp{},
		event.StageInOp{},
		event.LookupOp{},
		event.WithdrawOp{},
		event.KillOp{},
		event.WatchOp{},
		event.ForgetOp{},
		event.PrioritizeOp{},
		event.PlannedStartsOp{},
		event.CollectOp{},
		event.DiscardOp{},
		event.DecideOp{},
		event.ParetoOp{},
		event.ReserveOp{},
		event.CancelReservationOp{},
		event.ArchiveOp{},
		event.PriceOp{},
	}
	replies = []view.Reply{
		view.Submitted{}, view.Done{}, view.Refusal{}, view.TestSubmitResult{}, view.Queue{}, view.Job{}, view.Sites{}, view.Shares{}, view.RunHistory{}, view.Recovery{},
	}
	rows = []row.Row{
		row.Job{},
		row.Payload{},
		row.Guest{},
		row.Run{},
		row.Dedup{},
		row.Site{},
		row.Partner{},
		row.Use{},
		row.Generation{},
		row.Archived{},
		row.EarlierRun{},
		row.Requeueable{},
		row.Application{},
		row.Array{},
		row.Executions{},
	}
	return ops, replies, rows
}

// TestNoKindIsForgotten: whoever adds an event or a result adds it to kinds.go,
// and an op, reply or row to the table above.
func TestNoKindIsForgotten(t *testing.T) {
	t.Parallel()
	ops, replies, rows := written()
	for _, tt := range []struct {
		files, method string
		known         []string
	}{
		{"../event/*.go", "event", namesOf(recording.Events())},
		{"../event/*.go", "result", namesOf(recording.Results())},
		{"../event/*.go", "op", namesOf(ops)},
		{"../view/*.go", "reply", namesOf(replies)},
		{"../row/*.go", "table", namesOf(rows)},
	} {
		if names := declared(t, tt.files, tt.method); len(names) < 7 || !slices.Equal(names, tt.known) {
			t.Errorf("%s: %s declares %v\nknown are %v", tt.method, tt.files, names, tt.known)
		}
	}
}

// fill sets all of a value to something that is not zero, each time something
// else.
func fill(v reflect.Value, n *int) {
	*n++
	switch {
	case v.CanInt():
		v.SetInt(int64(*n%100 + 1))
	case v.CanUint():
		v.SetUint(uint64(*n%100 + 1))
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.Kind() == reflect.String:
		v.SetString(strings.Repeat("s\xff<\u2028\"", *n%3+1))
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("fill") != "no" {
				fill(v.Field(i), n)
			}
		}
	case v.Type() == reflect.TypeFor[error]():
		v.Set(reflect.ValueOf(errors.New("bad \xfe")))
	case v.CanFloat():
		v.SetFloat(float64(*n) / 7)
	case v.Kind() == reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for _, key := range []string{"b", "a"} {
			one := reflect.New(v.Type().Elem()).Elem()
			fill(one, n)
			v.SetMapIndex(reflect.ValueOf(key), one)
		}
	case v.Type() == reflect.TypeFor[rules.Accounts](), v.Type() == reflect.TypeFor[pricing.Costs](), v.Type() == reflect.TypeFor[rules.WaitingCost]():
		v.Set(reflect.ValueOf(people{}))
	case v.Type() == reflect.TypeFor[protocol.Message]():
		v.Set(reflect.ValueOf(protocol.Grant{Tag: protocol.Tag{Job: 1_000_000_000_001, Epoch: 3}}))
	case v.Type() == reflect.TypeFor[event.Result]():
		v.Set(reflect.ValueOf(event.KillResult{}))
	default:
		panic(v.Type())
	}
}

func filled[V any](one V) V {
	n := 0
	v := reflect.New(reflect.TypeOf(one)).Elem()
	fill(v, &n)
	return v.Interface().(V)
}

func roundTrip[V any](t *testing.T, want V) {
	t.Helper()
	data, err := recording.Encode(&want)
	if err != nil {
		t.Errorf("%T: %v", want, err)
		return
	}
	var got V
	if err = recording.Decode(data, &got, people{}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%T: %v\ngot  %+v\nwant %+v\nfrom %s", want, err, got, want, data)
	}
}

// TestRoundTrip: every field of every event, result and of the configuration is
// read as it was, even text that is no UTF-8, and what is empty stays empty.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, ev := range recording.Events() {
		roundTrip(t, ev)
		roundTrip(t, filled(ev))
	}
	for _, result := range recording.Results() {
		roundTrip(t, result)
		roundTrip(t, filled(result))
		roundTrip[event.Event](t, event.CallDone{ID: 7, Result: filled(result)})
	}
	roundTrip(t, filled(rules.Config{}))
	roundTrip(t, rules.Config{Partners: []rules.Partner{}})
	roundTrip(t, rules.Config{Exchange: map[string]protocol.Micro{}})
	roundTrip[event.Event](t, event.CallDone{Err: errors.New("")})
	roundTrip[event.Result](t, event.DecideResult{Hint: []byte{}})
	roundTrip[event.Result](t, event.WatchResult{Watched: localsched.Watched{Changes: []localsched.Change{{State: protocol.Running}}}})
	roundTrip[event.Event](t, event.Submit{Jobs: []protocol.Job{{}, {Payload: &protocol.Payload{Args: []string{""}}}}})
}

// TestEverythingHasAFingerprint: no part of a Ready is of a type without a form,
// and each field counts.
func TestEverythingHasAFingerprint(t *testing.T) {
	t.Parallel()
	ops, replies, rows := written()
	ready := filled(ready{})
	for _, one := range ops {
		ready.Ops = append(ready.Ops, filled(one), one)
	}
	for _, one := range replies {
		ready.Replies = append(ready.Replies, filled(one), one)
	}
	for _, one := range rows {
		ready.Rows = append(ready.Rows, filled(one), one)
	}
	text, err := recording.Canonical(ready)
	if err != nil {
		t.Fatal(err)
	}
	for i, op := range ready.Ops {
		if again, err := recording.Canonical(op); err != nil || strings.Count(text, again) == 0 || i%2 == 0 && again == "{}" {
			t.Errorf("%T: %s, %v", op, again, err)
		}
	}
	for _, name := range slices.Concat(namesOf(ops), namesOf(replies), namesOf(rows)) {
		if strings.Count(text, `{"`+name+`":`) < 2 {
			t.Errorf("%s is not told from the other kinds", name)
		}
	}
}

// ready has the types that a event.Ready is made of.
type ready struct {
	Fact    event.LogEvent
	Load    *protocol.Load
	Ops     []event.Op   `fill:"no"`
	Replies []view.Reply `fill:"no"`
	Rows    []row.Row    `fill:"no"`
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for data, fault := range map[string]string{
		`{"Gift":{}}`:                 `"Gift" is unknown`,
		`{"Tick":{},"AskQueue":{}}`:   "an object with one key",
		`[]`:                          "an object with one key",
		`{"Tick":{"At":1}}`:           `no field "At"`,
		`{"Disconnected":{"Site":7}}`: "Disconnected: Site",
		`{"Disconnected":{"Site":{"base64":"%"}}}`: "illegal base64",
		`{"DigestSeen":{"Age":1.5}}`:               "an integer of 64 bits",
		`{"MemberSeen":{"Number":65536}}`:          "a natural number of 16 bits",
		`{"Cancel":{"Admin":1}}`:                   "true or false",
		`{"Submit":{"Jobs":[{},{"Spec":[]}]}}`:     "Jobs: [1]: Spec",
		`{"Submit":{"Jobs":{}}}`:                   "a list",
		`{"MessageIn":{"Body":{"gift":""}}}`:       "gift",
		`{"MessageIn":{"Body":{"grant":""}}}`:      "grant: tag.job",
		`{"CallDone":{"Result":{"Tick":{}}}}`:      `"Tick" is unknown`,
		`{"CallDone":{"Err":7}}`:                   "Err",
		`{"Submit":{"Application":{"Rates":[7]}}}`: "Application: Rates: [0]",
		`{"CallDone":{"Result":{"WatchResult":{"Watched":{"Changes":[{"Outcome":{"Files":[{"SHA256":"AA=="}]}}]}}}}}`: "1 bytes instead of 32",
	} {
		var ev event.Event
		if err := recording.Decode([]byte(data), &ev, nil); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: %v, want an error about %q", data, err, fault)
		}
	}
}

func TestEncodeRefusesWhatItCannotKeep(t *testing.T) {
	t.Parallel()
	for fault, value := range map[string]any{
		"map[int]int":            struct{ M map[int]int }{map[int]int{1: 1}},
		`["\xff"]: is not UTF-8`: map[string]int{"\xff": 1},
		"NaN has no form":        []float64{math.NaN()},
		"func()":                 struct{ F func() }{func() {}},
		"field hidden of struct": struct{ hidden int }{1},
		"[1]: complex64: a complex64 has no form": []any{1, complex64(1i)},
	} {
		if text, err := recording.Canonical(value); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%v: %s, %v, want an error about %q", value, text, err, fault)
		}
	}
}

// with is a payload with more variables.
func with(p protocol.Payload, env ...string) protocol.Payload {
	p.Env = append(slices.Clip(p.Env), env...)
	return p
}

// TestStandInsHaveNoValues: of variables the names stay, by which the peer decides which of
// them may leave the site, so that a stand-in becomes what the payload becomes.
func TestStandInsHaveNoValues(t *testing.T) {
	t.Parallel()
	p := protocol.Payload{Script: []byte("x"), Env: []string{"A=1", "SWITCHYARD_MHZ=2400", "B=2=3"}}
	short := recording.StandIn(p)
	if want := []string{"A=", "SWITCHYARD_MHZ=2400", "B="}; !slices.Equal(short.Env, want) {
		t.Errorf("%q, want %q", short.Env, want)
	}
	p.Env, short.Env = p.Env[1:], short.Env[1:]
	if later := recording.StandIn(p); !reflect.DeepEqual(later, short) {
		t.Errorf("without a variable: %+v, want %+v", later, short)
	}
}

// TestStandIns tell different payloads apart, keep the paths and stand for
// themselves.
func TestStandIns(t *testing.T) {
	t.Parallel()
	seen := map[string]protocol.Payload{}
	reported := []string{"SWITCHYARD_APPLICATION=7", "SWITCHYARD_MHZ=2400"}
	for _, p := range []protocol.Payload{
		{},
		{Script: []byte("x")},
		{Args: []string{"x"}},
		{Env: []string{"x=secret"}},
		{Env: []string{"x=", "y="}},
		{Args: []string{"x", ""}},
		{Args: []string{"", "x"}},
		{Script: []byte("#switchyard-payload 1 bytes sha256 00")},
	} {
		p.WorkDir, p.Stdout, p.Stderr = "/w", "/o", "/e"
		short := recording.StandIn(p)
		if later := recording.StandIn(with(p, reported...)); !reflect.DeepEqual(later, with(short, reported...)) {
			t.Errorf("what the peer tells a job is not told its stand-in: %+v", later)
		}
		key := fmt.Sprintf("%s %q", short.Script, short.Env)
		if other, ok := seen[key]; ok {
			t.Errorf("%+v and %+v have one stand-in", p, other)
		}
		seen[key] = p
		if short.WorkDir != "/w" || short.Stdout != "/o" || short.Stderr != "/e" || !reflect.DeepEqual(recording.StandIn(short), short) {
			t.Errorf("%+v", short)
		}
	}
}
