package protocol_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
)

const validTraceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// A program is handed valid ones only, as version 00 has them.
func TestReadTraceparent(t *testing.T) {
	t.Parallel()
	ids := validTraceparent[2:53]
	for text, want := range map[string]string{
		validTraceparent:                  validTraceparent,
		"00" + ids + "00":                 "00" + ids + "00",
		"00" + ids + "03":                 "00" + ids + "03",
		"00" + ids + "ff":                 "00" + ids + "03", // flags of a later level
		"01" + ids + "01":                 validTraceparent,
		"cc" + ids + "01-what-comes":      validTraceparent,
		"00" + ids + "01-what-comes":      "",
		"cc" + ids + "01.what-comes":      "",
		"ff" + ids + "01":                 "",
		"0" + ids + "01":                  "",
		"":                                "",
		"00" + ids:                        "",
		"00" + ids + "0":                  "",
		"00" + ids + "0g":                 "",
		"0G" + ids + "01":                 "",
		strings.ToUpper(validTraceparent): "",
		" " + validTraceparent:            "",
		validTraceparent + " ":            "",
		"00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01":                 "",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-" + strings.Repeat("0", 16) + "-01": "",
		"00-4bf92f3577b34da6a3ce929d0e0e473-600f067aa0ba902b7-01":                "",
		"00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01":                "",
		"00-4bf92f3577b34da6a3ce929d0e0e47ä-00f067aa0ba902b7-01":                 "",
	} {
		got, err := protocol.ReadTraceparent(text)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%q is read as %q, %v; want %q", text, got, err, want)
		}
	}
}

// In messages and rows it is as this program writes it, and in no other way.
func TestTraceparentCheck(t *testing.T) {
	t.Parallel()
	for text, valid := range map[string]bool{
		"": true, validTraceparent: true,
		"01" + validTraceparent[2:]:        false,
		validTraceparent[:53] + "04":       false,
		validTraceparent + "-more":         false,
		"4bf92f3577b34da6a3ce929d0e0e4736": false,
	} {
		if err := protocol.Traceparent(text).Check(); (err == nil) != valid {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestTraceparentParts(t *testing.T) {
	t.Parallel()
	trace, span, sampled := protocol.Traceparent(validTraceparent).Parts()
	if trace.String() != "4bf92f3577b34da6a3ce929d0e0e4736" || span.String() != "00f067aa0ba902b7" || !sampled {
		t.Errorf("%v, %v, %v", trace, span, sampled)
	}
	if made := protocol.MakeTraceparent(trace, span, true); made != validTraceparent {
		t.Errorf("made %q", made)
	}
	if made := protocol.MakeTraceparent(trace, span, false); string(made) != validTraceparent[:53]+"00" {
		t.Errorf("made %q", made)
	}
	if trace, span, sampled = protocol.Traceparent("").Parts(); trace != (protocol.TraceID{}) || span != (protocol.SpanID{}) || sampled {
		t.Errorf("of none: %v, %v, %v", trace, span, sampled)
	}
}

// What is read is valid in a message, names a trace and a span, and is read again as it is.
func FuzzTraceparent(f *testing.F) {
	for _, seed := range []string{validTraceparent, "cc" + validTraceparent[2:] + "-x", "00-", "", strings.ToUpper(validTraceparent)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		read, err := protocol.ReadTraceparent(text)
		if err != nil {
			if read != "" {
				t.Errorf("%q is read as %q, with %v", text, read, err)
			}
			return
		}
		if wrong := read.Check(); wrong != nil || read == "" {
			t.Errorf("%q is read as %q: %v", text, read, wrong)
		}
		trace, span, _ := read.Parts()
		if !strings.Contains(text, "-"+trace.String()+"-"+span.String()+"-") || trace == (protocol.TraceID{}) || span == (protocol.SpanID{}) {
			t.Errorf("%q is read as %q, with the IDs %v and %v", text, read, trace, span)
		}
		if again, err := protocol.ReadTraceparent(string(read)); again != read || err != nil {
			t.Errorf("%q is read again as %q, %v", read, again, err)
		}
	})
}
