package commonv1_test

import (
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

// arrives checks that a noun passes its check, and is the same on the other side.
func arrives[N any, M proto.Message](t *rapid.T, want N, encode func(N) M, into M, decode func(M) (N, error), check func(N) error) {
	if err := check(want); err != nil {
		t.Fatalf("%+v: %v", want, err)
	}
	data, err := proto.Marshal(encode(want))
	if err != nil {
		t.Fatal(err)
	}
	if err = proto.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
	if got, err := decode(into); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %+v, %v\nwant %+v", got, err, want)
	}
}

// sure is a decoder that never fails.
func sure[M, N any](decode func(M) N) func(M) (N, error) {
	return func(m M) (N, error) { return decode(m), nil }
}

func TestRoundTrips(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*rapid.T){
		"tag": func(t *rapid.T) {
			arrives(t, protocoltest.Tag(t), commonv1.EncodeTag, &commonv1.Tag{}, sure(commonv1.DecodeTag), commonv1.CheckTag)
		},
		"spec": func(t *rapid.T) {
			arrives(t, protocoltest.Spec(t, protocoltest.Job(t)), commonv1.EncodeSpec, &commonv1.Spec{}, sure(commonv1.DecodeSpec), commonv1.CheckSpec)
		},
		"payload": func(t *rapid.T) {
			arrives(t, protocoltest.Payload(t), commonv1.EncodePayload, &commonv1.Payload{}, sure(commonv1.DecodePayload), commonv1.CheckPayload)
		},
		"load": func(t *rapid.T) {
			load := protocoltest.Load(t)
			load.Benefit = protocoltest.Count(t)
			arrives(t, load, commonv1.EncodeLoad, &commonv1.Load{}, commonv1.DecodeLoad, commonv1.CheckLoad)
		},
		"quote": func(t *rapid.T) {
			q := protocoltest.Quote(t, protocoltest.Job(t), true)
			if q.Declined == "" {
				q.Delay = protocoltest.Span(t)
			}
			if len(q.Terms) == 0 {
				q.Terms = nil
			}
			arrives(t, q, commonv1.EncodeQuote, &commonv1.Quote{}, sure(commonv1.DecodeQuote), commonv1.CheckQuote)
		},
		"outcome": func(t *rapid.T) {
			o := protocoltest.Outcome(t)
			o.Bill = protocoltest.Bill(t)
			arrives(t, o, commonv1.EncodeOutcome, &commonv1.Outcome{}, commonv1.DecodeOutcome, commonv1.CheckOutcome)
		},
		"capacity": func(t *rapid.T) {
			arrives(t, protocoltest.Capacity(t), commonv1.EncodeCapacity, &commonv1.Capacity{}, sure(commonv1.DecodeCapacity), commonv1.CheckCapacity)
		},
	}
	for name, check := range cases {
		t.Run(name, rapid.MakeCheck(check))
	}
}

// TestNoFieldIsLost: a field that a noun gets and its message or its conversion does not is missed
// here.
func TestNoFieldIsLost(t *testing.T) {
	t.Parallel()
	kept(t, commonv1.EncodeSpec, &commonv1.Spec{}, sure(commonv1.DecodeSpec))
	kept(t, func(p protocol.Payload) *commonv1.Payload {
		return commonv1.EncodePayload(&p)
	}, &commonv1.Payload{}, func(m *commonv1.Payload) (protocol.Payload, error) {
		p := commonv1.DecodePayload(m)
		here := protocoltest.Full[protocol.Payload]().Staging
		p.Staging.Inputs, p.Staging.Links, p.Staging.Places = here.Inputs, here.Links, here.Places // they stay at the origin
		return *p, nil
	})
	kept(t, commonv1.EncodeQuote, &commonv1.Quote{}, sure(commonv1.DecodeQuote))
	kept(t, commonv1.EncodeLoad, &commonv1.Load{}, commonv1.DecodeLoad)
	kept(t, commonv1.EncodeOutcome, &commonv1.Outcome{}, commonv1.DecodeOutcome)
	kept(t, commonv1.EncodeCapacity, &commonv1.Capacity{}, sure(commonv1.DecodeCapacity))
}

func kept[N any, M proto.Message](t *testing.T, encode func(N) M, into M, decode func(M) (N, error)) {
	t.Helper()
	want := protocoltest.Full[N]()
	data, err := proto.Marshal(encode(want))
	if err != nil {
		t.Fatal(err)
	}
	if err = proto.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
	if got, err := decode(into); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
}

// States and streams cross by number; both lists must stay in one order.
func TestStatesHaveTheNumbersOfTheWire(t *testing.T) {
	t.Parallel()
	for _, state := range protocol.States() {
		wire := commonv1.EncodeState(state)
		if wire.String() != "JOB_STATE_"+state.String() || commonv1.DecodeState(wire) != state {
			t.Errorf("%v is %s on the wire", state, wire)
		}
	}
	for _, stream := range protocol.Streams() {
		wire := commonv1.EncodeStream(stream)
		if wire.String() != "STREAM_"+strings.ToUpper(strings.ReplaceAll(stream.String(), "-", "_")) || commonv1.DecodeStream(wire) != stream {
			t.Errorf("%v is %s on the wire", stream, wire)
		}
	}
}

// What nobody asked for does not travel.
func TestWhatSaysNothingIsLeftOut(t *testing.T) {
	t.Parallel()
	for _, m := range []proto.Message{
		commonv1.EncodeRequest(protocol.Request{}), commonv1.EncodeCapacity(protocol.Capacity{}),
		commonv1.EncodeOutcome(protocol.Outcome{}), commonv1.EncodeQuote(protocol.Quote{}),
	} {
		if n := proto.Size(m); n != 0 {
			t.Errorf("%T of nothing has %d bytes", m, n)
		}
	}
	if commonv1.EncodePayload(nil) != nil || commonv1.DecodePayload(nil) != nil {
		t.Error("no payload became one")
	}
	if got := commonv1.DecodePayload(&commonv1.Payload{Script: []byte{}}); got.Script != nil {
		t.Error("no script became an empty one")
	}
}

// FuzzDecode is that no bytes make a decoder panic, and what passes the check is the same when it
// has travelled again.
func FuzzDecode(f *testing.F) {
	for i := range 4 {
		for _, m := range []proto.Message{
			commonv1.EncodeSpec(rapid.Custom(func(t *rapid.T) protocol.Spec { return protocoltest.Spec(t, 1) }).Example(i)),
			commonv1.EncodeOutcome(rapid.Custom(protocoltest.Outcome).Example(i)),
			commonv1.EncodeCapacity(rapid.Custom(protocoltest.Capacity).Example(i)),
			commonv1.EncodePayload(rapid.Custom(protocoltest.Payload).Example(i)),
		} {
			data, err := proto.Marshal(m)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzed(t, data, new(commonv1.Spec), sure(commonv1.DecodeSpec), commonv1.CheckSpec, commonv1.EncodeSpec)
		fuzzed(t, data, new(commonv1.Payload), sure(commonv1.DecodePayload), commonv1.CheckPayload, commonv1.EncodePayload)
		fuzzed(t, data, new(commonv1.Load), commonv1.DecodeLoad, commonv1.CheckLoad, commonv1.EncodeLoad)
		fuzzed(t, data, new(commonv1.Quote), sure(commonv1.DecodeQuote), commonv1.CheckQuote, commonv1.EncodeQuote)
		fuzzed(t, data, new(commonv1.Outcome), commonv1.DecodeOutcome, commonv1.CheckOutcome, commonv1.EncodeOutcome)
		fuzzed(t, data, new(commonv1.Capacity), sure(commonv1.DecodeCapacity), commonv1.CheckCapacity, commonv1.EncodeCapacity)
	})
}

func fuzzed[M proto.Message, N any](t *testing.T, data []byte, m M, decode func(M) (N, error), check func(N) error, encode func(N) M) {
	t.Helper()
	if proto.Unmarshal(data, m) != nil {
		return
	}
	noun, err := decode(m)
	if err != nil || check(noun) != nil {
		return
	}
	if again, err := decode(encode(noun)); err != nil || !reflect.DeepEqual(again, noun) {
		t.Fatalf("got %+v, %v\nwant %+v", again, err, noun)
	}
}
