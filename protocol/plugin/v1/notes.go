package pluginv1

import (
	"math"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// Limits of notes.
const (
	MaxNotes = 1000

	maxKey  = 1024 // bytes
	maxText = 4096 // bytes
)

// EncodeNotes converts the errors and warnings about a configuration, the
// errors first. File names are not sent: a plugin knows only the text. What is beyond
// [MaxNotes], or too long, is cut.
func EncodeNotes(wrong, warnings problems.List) []*Note {
	notes := make([]*Note, 0, len(wrong)+len(warnings))
	for _, p := range wrong {
		notes = append(notes, wireNote(Note_SEVERITY_ERROR, p))
	}
	for _, p := range warnings {
		notes = append(notes, wireNote(Note_SEVERITY_WARNING, p))
	}
	return notes[:min(len(notes), MaxNotes)]
}

// DecodeNotes checks and converts what a plugin says of a configuration that is
// from the file, into errors and warnings. The error names the note.
func DecodeNotes(notes []*Note, file string) (wrong, warnings problems.List, _ error) {
	if err := wire.AtMost("notes", len(notes), MaxNotes); err != nil {
		return nil, nil, err
	}
	for i, note := range notes {
		p, err := readNote(note, file)
		if err != nil {
			return nil, nil, wire.In(wire.Entry("notes", i), err)
		}
		if note.GetSeverity() == Note_SEVERITY_ERROR {
			wrong = append(wrong, p)
		} else {
			warnings = append(warnings, p)
		}
	}
	return wrong, warnings, nil
}

func wireNote(severity Note_Severity, p problems.Problem) *Note {
	return &Note{
		Severity: severity, Line: uint32(max(0, min(p.Line, math.MaxInt32))),
		Key: wire.Clip(p.Key, maxKey), Text: wire.Clip(p.Text, maxText),
	}
}

func readNote(note *Note, file string) (problems.Problem, error) {
	if s := note.GetSeverity(); s != Note_SEVERITY_ERROR && s != Note_SEVERITY_WARNING {
		return problems.Problem{}, wire.Wrong("severity", "%d is unknown or missing", int32(s))
	}
	if note.GetLine() > math.MaxInt32 {
		return problems.Problem{}, wire.Wrong("line", "no file has this number of lines")
	}
	return problems.Problem{Place: problems.Place{File: file, Line: int(note.GetLine()), Key: note.GetKey()}, Text: note.GetText()},
		wire.First(wire.AtMost("key", len(note.GetKey()), maxKey), wire.Required("text", note.GetText(), maxText))
}
