package protocol

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Traceparent names the span of a trace below which a job's spans are, as the header of that name of W3C Trace Context,
// level 2, in version 00: the ID of the trace, that of the span, and flags. Empty: the job begins a trace of its own.
type Traceparent string

// TraceparentVariable is the variable of the environment by which programs hand a [Traceparent] on to those that they start.
const TraceparentVariable = "TRACEPARENT"

// TraceID names a trace. The zero TraceID is none.
type TraceID [16]byte

// SpanID names a span within its trace. The zero SpanID is none.
type SpanID [8]byte

func (t TraceID) String() string { return hex.EncodeToString(t[:]) }

func (s SpanID) String() string { return hex.EncodeToString(s[:]) }

// traceparentLength is that of a [Traceparent], which is also the least of later versions.
const traceparentLength = len("00-00112233445566778899aabbccddeeff-0011223344556677-01")

// The flags that version 00 knows.
const (
	sampledFlag     = 1 << 0
	randomFlag      = 1 << 1 // the ID of the trace was drawn at random
	knownTraceFlags = sampledFlag | randomFlag
)

// MakeTraceparent names a span. Sampled says whether spans below it are to be exported.
func MakeTraceparent(trace TraceID, span SpanID, sampled bool) Traceparent {
	flags := "00"
	if sampled {
		flags = "01"
	}
	return Traceparent("00-" + trace.String() + "-" + span.String() + "-" + flags)
}

// ReadTraceparent reads what a program was handed. Of a later version it takes what version 00 has, as W3C Trace Context says. Flags that
// are not known are dropped.
func ReadTraceparent(text string) (Traceparent, error) {
	head := text[:min(len(text), traceparentLength)]
	trace, span, flags, err := splitTraceparent(head)
	switch rest := text[len(head):]; {
	case err != nil:
		return "", err
	case strings.HasPrefix(text, "ff"):
		return "", errors.New("its version is ff, which is none")
	case strings.HasPrefix(text, "00") && rest != "":
		return "", fmt.Errorf("it has %d characters; those of version 00 have %d", len(text), traceparentLength)
	case rest != "" && rest[0] != '-':
		return "", fmt.Errorf("behind its flags comes %.1q, and not a hyphen", rest)
	}
	return Traceparent(fmt.Sprintf("00-%s-%s-%02x", trace, span, flags&knownTraceFlags)), nil
}

// splitTraceparent reads the fields behind the version, which it checks to be a number only.
func splitTraceparent(text string) (trace TraceID, span SpanID, flags byte, err error) {
	fields := strings.Split(text, "-")
	if len(text) != traceparentLength || len(fields) != 4 {
		return trace, span, 0, errors.New("it is not of the form 00-TRACE-SPAN-FLAGS, with 32, 16 and 2 hexadecimal digits")
	}
	var version, last [1]byte
	for i, into := range [][]byte{version[:], trace[:], span[:], last[:]} {
		if len(fields[i]) != 2*len(into) || strings.ToLower(fields[i]) != fields[i] {
			return trace, span, 0, fmt.Errorf("%q is not %d hexadecimal digits in lower case", fields[i], 2*len(into))
		}
		if _, err = hex.Decode(into, []byte(fields[i])); err != nil {
			return trace, span, 0, fmt.Errorf("%q is not %d hexadecimal digits in lower case", fields[i], 2*len(into))
		}
	}
	if trace == (TraceID{}) || span == (SpanID{}) {
		return trace, span, 0, errors.New("the ID of its trace or of its span is 0, which is none")
	}
	return trace, span, last[0], nil
}

// Check says what is wrong with the field, if anything. It may be empty.
func (t Traceparent) Check() error {
	if t == "" {
		return nil
	}
	read, err := ReadTraceparent(string(t))
	switch {
	case err != nil:
		return wrongField("traceparent", "%.80q: %w", string(t), err)
	case read != t:
		return wrongField("traceparent", "%.80q: it is not of version 00, or has flags other than 01 and 02", string(t))
	}
	return nil
}

// Parts are the IDs of the trace and of the span, and whether spans below that are to be exported. Precondition: the field is valid;
// of an empty one the IDs are zero.
func (t Traceparent) Parts() (trace TraceID, span SpanID, sampled bool) {
	trace, span, flags, err := splitTraceparent(string(t))
	if err != nil {
		return TraceID{}, SpanID{}, false
	}
	return trace, span, flags&sampledFlag != 0
}
