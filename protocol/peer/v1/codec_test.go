package peerv1_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

// declaredKinds reads the kinds from the source of the closed set, so that a new
// one cannot be forgotten here.
func declaredKinds(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../message.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Name.Name != "Kind" {
			continue
		}
		literal := fn.Body.List[0].(*ast.ReturnStmt).Results[0].(*ast.BasicLit)
		kind, err := strconv.Unquote(literal.Value)
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

func TestEveryKindHasAConversion(t *testing.T) {
	t.Parallel()
	declared := declaredKinds(t)
	if len(declared) < 18 {
		t.Fatalf("found only %d kinds in message.go", len(declared))
	}
	if got := peerv1.Kinds(); !slices.Equal(got, declared) {
		t.Errorf("Kinds() = %v\nmessage.go declares %v", got, declared)
	}
}

func TestMessagesRoundTrip(t *testing.T) {
	t.Parallel()
	for _, kind := range declaredKinds(t) {
		t.Run(kind, rapid.MakeCheck(func(t *rapid.T) {
			want := messages(kind).Draw(t, "message")
			if want.Kind() != kind {
				t.Fatalf("the generator made %s for %s", want.Kind(), kind)
			}
			body, err := peerv1.Encode(want)
			if err != nil {
				t.Fatalf("Encode: %v", err)
			}
			got, err := peerv1.Decode(kind, body)
			if err != nil {
				t.Fatalf("Decode: %v", err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("got  %+v\nwant %+v", got, want)
			}
		}))
	}
}

func TestCardsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		card := drawCard(t)
		data, err := peerv1.EncodeCard(card)
		if err != nil {
			t.Fatal(err)
		}
		got, err := peerv1.DecodeCard(data)
		if err != nil || !reflect.DeepEqual(got, card) {
			t.Fatalf("got %+v, %v\nwant %+v", got, err, card)
		}
	})
}

func TestUnknownFieldsAreIgnored(t *testing.T) {
	t.Parallel()
	want := protocol.Grant{Tag: tag}
	body, err := peerv1.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	body = protowire.AppendTag(body, 1000, protowire.BytesType)
	body = protowire.AppendString(body, "from a later minor version")
	got, err := peerv1.Decode("grant", body)
	if err != nil || got != protocol.Message(want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

func TestDecodeRefusesWhatIsTooLong(t *testing.T) {
	t.Parallel()
	limits := map[string]int{
		"offer": peerv1.MaxMessage, "quote-reply": peerv1.MaxQuotes, "status": peerv1.MaxNotice,
	}
	for kind, limit := range limits {
		_, err := peerv1.Decode(kind, make([]byte, limit+1))
		protocoltest.Refused(t, err, kind+": at most")
	}
}

func TestDecodeRefusesUnknownKinds(t *testing.T) {
	t.Parallel()
	_, err := peerv1.Decode("gift", nil)
	protocoltest.Refused(t, err, "gift: unknown")
}

func FuzzDecode(f *testing.F) {
	for i, kind := range peerv1.Kinds() {
		body, err := peerv1.Encode(messages(kind).Example(i))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(kind, body)
		f.Add(kind, []byte{})
	}
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		m, err := peerv1.Decode(kind, body)
		if err != nil {
			return
		}
		again, err := peerv1.Encode(m)
		if err != nil {
			t.Fatalf("what decodes must encode: %v", err)
		}
		m2, err := peerv1.Decode(kind, again)
		if err != nil || !reflect.DeepEqual(m, m2) {
			t.Fatalf("got %+v, %v\nwant %+v", m2, err, m)
		}
	})
}

func FuzzDecodeCard(f *testing.F) {
	data, err := peerv1.EncodeCard(rapid.Custom(drawCard).Example(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := peerv1.DecodeCard(data)
		if err != nil {
			return
		}
		again, err := peerv1.EncodeCard(c)
		if err != nil {
			t.Fatalf("what decodes must encode: %v", err)
		}
		if c2, err := peerv1.DecodeCard(again); err != nil || !reflect.DeepEqual(c2, c) {
			t.Fatalf("got %+v, %v\nwant %+v", c2, err, c)
		}
	})
}

func BenchmarkQuoteRequest(b *testing.B) {
	request := protocol.QuoteRequest{Round: 7, Deadline: 2 * protocol.Second, Jobs: []protocol.Spec{spec, spec}}
	for b.Loop() {
		body, err := peerv1.Encode(request)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := peerv1.Decode("quote-request", body); err != nil {
			b.Fatal(err)
		}
	}
}
