package pluginv1_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	pluginv1 "github.com/switchyard-hpc/switchyard/protocol/plugin/v1"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

const file = "/etc/switchyard/own.toml"

func drawProblems(t *rapid.T) (out problems.List) {
	for range rapid.IntRange(0, 3).Draw(t, "problems") {
		out = append(out, problems.Problem{
			Place: problems.Place{File: file, Line: rapid.IntRange(0, math.MaxInt32).Draw(t, "line"), Key: rapid.StringN(0, 20, 100).Draw(t, "key")},
			Text:  rapid.StringN(1, 20, 100).Draw(t, "text"),
		})
	}
	return out
}

// travel is what is left of notes on the other side.
func travel(t interface{ Fatal(args ...any) }, notes []*pluginv1.Note) []*pluginv1.Note {
	data, err := proto.Marshal(&pluginv1.ValidateResponse{Notes: notes})
	if err != nil {
		t.Fatal(err)
	}
	m := &pluginv1.ValidateResponse{}
	if err = proto.Unmarshal(data, m); err != nil {
		t.Fatal(err)
	}
	return m.GetNotes()
}

func TestNotesRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		wrong, warnings := drawProblems(t), drawProblems(t)
		gotWrong, gotWarnings, err := pluginv1.DecodeNotes(travel(t, pluginv1.EncodeNotes(wrong, warnings)), file)
		if err != nil || !reflect.DeepEqual(gotWrong, wrong) || !reflect.DeepEqual(gotWarnings, warnings) {
			t.Fatalf("got %+v, %+v, %v\nwant %+v, %+v", gotWrong, gotWarnings, err, wrong, warnings)
		}
	})
}

// However much is wrong, the operator must be told of it.
func TestManyAndLongNotesAreCut(t *testing.T) {
	t.Parallel()
	wrong := problems.List{{Place: problems.Place{Line: -1, Key: "\xff"}, Text: "x" + strings.Repeat("ß", 5000)}}
	warnings := make(problems.List, 2000)
	for i := range warnings {
		warnings[i].Text = "odd"
	}
	gotWrong, gotWarnings, err := pluginv1.DecodeNotes(travel(t, pluginv1.EncodeNotes(wrong, warnings)), file)
	if err != nil {
		t.Fatal(err)
	}
	want := problems.Problem{Place: problems.Place{File: file, Key: "?"}, Text: "x" + strings.Repeat("ß", 2047)}
	if len(gotWrong) != 1 || gotWrong[0] != want || len(gotWarnings) != pluginv1.MaxNotes-1 {
		t.Errorf("got %d wrong, %d odd", len(gotWrong), len(gotWarnings))
	}
}

func TestDecodeNotesRefuses(t *testing.T) {
	t.Parallel()
	const wrong = pluginv1.Note_SEVERITY_ERROR
	cases := map[string]*pluginv1.Note{
		"severity: 0 is unknown or missing": {Text: "x"},
		"severity: 3 is unknown or missing": {Severity: 3, Text: "x"},
		"line: no file has this number of":  {Severity: wrong, Line: 1 << 31, Text: "x"},
		"key: has 1025":                     {Severity: wrong, Key: strings.Repeat("x", 1025), Text: "x"},
		"text: is missing":                  {Severity: wrong},
		"text: has 4097":                    {Severity: wrong, Text: strings.Repeat("x", 4097)},
	}
	for want, note := range cases {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			_, _, err := pluginv1.DecodeNotes([]*pluginv1.Note{{Severity: wrong, Text: "right"}, note}, file)
			protocoltest.Refused(t, err, "notes[1]."+want)
		})
	}
	_, _, err := pluginv1.DecodeNotes(make([]*pluginv1.Note, pluginv1.MaxNotes+1), file)
	protocoltest.Refused(t, err, "notes: has 1001")
	_, _, err = pluginv1.DecodeNotes([]*pluginv1.Note{nil}, file)
	protocoltest.Refused(t, err, "notes[0].severity")
}

func FuzzDecodeNotes(f *testing.F) {
	notes := pluginv1.EncodeNotes(problems.List{{Place: problems.Place{Line: 3, Key: "a.b"}, Text: "is wrong"}}, problems.List{{Text: "is odd"}})
	data, err := proto.Marshal(&pluginv1.ValidateResponse{Notes: notes})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		m := &pluginv1.ValidateResponse{}
		if proto.Unmarshal(data, m) != nil {
			return
		}
		wrong, warnings, err := pluginv1.DecodeNotes(m.GetNotes(), file)
		if err != nil {
			return
		}
		wrong2, odd2, err := pluginv1.DecodeNotes(travel(t, pluginv1.EncodeNotes(wrong, warnings)), file)
		if err != nil || !reflect.DeepEqual(wrong2, wrong) || !reflect.DeepEqual(odd2, warnings) {
			t.Fatalf("got %+v, %+v, %v\nwant %+v, %+v", wrong2, odd2, err, wrong, warnings)
		}
	})
}
