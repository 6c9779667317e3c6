package protocol

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Payload is what a job runs. A Payload is never changed once made.
type Payload struct {
	Script  []byte
	Args    []string
	Env     []string // NAME=value
	WorkDir string   // at the origin
	Stdout  string   // at the origin, absolute
	Stderr  string   // at the origin, absolute; equal to Stdout: both in one file

	Input        string      // file of the standard input at the origin, absolute; empty: nothing is read
	AppendOutput bool        // Stdout and Stderr go behind what is in their files already
	LimitSignal  LimitSignal // before the wall-time limit
	Staging      *Staging    // what files travel with it; nil: none
	Shell        *Shell      // what it takes over from the shell of its submission; nil: nothing
}

// LimitSignal is a signal that a job gets before its wall-time limit, as --signal of sbatch(1) asks
// for it. The zero LimitSignal is none.
type LimitSignal struct {
	Signal             int      `json:"signal,omitempty"`              // its number on Linux; 0: none is sent
	Before             Duration `json:"before_ms,omitempty"`           // the limit
	ScriptOnly         bool     `json:"script_only,omitempty"`         // the script's own process gets it; otherwise all but that
	OverlapReservation bool     `json:"overlap_reservation,omitempty"` // the batch system may let the job overlap an advance reservation that can begin later
}

// MaxSignal is the highest number of a signal on Linux.
const MaxSignal = 64

// check says what is wrong with the signal, if anything, wherever it comes from.
func (s *LimitSignal) check() error {
	switch {
	case *s == LimitSignal{}:
		return nil
	case s.Signal < 1 || s.Signal > MaxSignal:
		return wrongField("signal", "%d is outside 1 to %d", s.Signal, MaxSignal)
	case s.Before < 0:
		return wrongField("before_ms", "is negative")
	}
	return nil
}

// CheckLimitSignal says what is wrong with the signal that a job gets before its limit, if anything.
func (p *Payload) CheckLimitSignal() error {
	if err := p.LimitSignal.check(); err != nil {
		return &FieldError{"limit_signal", err}
	}
	return nil
}

// CheckStaging says what is wrong with the files that travel with a job, if anything.
func (p *Payload) CheckStaging() error {
	if err := p.Staging.Check(); err != nil {
		return &FieldError{"staging", err}
	}
	return nil
}

// PayloadJSON is a [Payload] in JSON: its texts are bytes in base64, since they need not be UTF-8 and JSON text would change them.
type PayloadJSON struct {
	Script  []byte   `json:"script,omitempty"`
	Args    [][]byte `json:"args,omitempty"`
	Env     [][]byte `json:"env,omitempty"`      // NAME=value
	WorkDir []byte   `json:"work_dir,omitempty"` // at the origin, absolute
	Stdout  []byte   `json:"stdout,omitempty"`   // at the origin, absolute
	Stderr  []byte   `json:"stderr,omitempty"`   // at the origin, absolute; equal to stdout: both in one file

	Input        []byte      `json:"input,omitempty"`         // file of the standard input at the origin, absolute; empty: nothing is read
	AppendOutput bool        `json:"append_output,omitempty"` // stdout and stderr go behind what is in their files already
	LimitSignal  LimitSignal `json:"limit_signal,omitzero"`   // before the wall-time limit
	Staging      *Staging    `json:"staging,omitempty"`       // what files travel with it
	Shell        *Shell      `json:"shell,omitempty"`         // what it takes over from the shell of its submission
}

// payloadFields are the names of the fields of [PayloadJSON].
func payloadFields() []string {
	return []string{
		"script", "args", "env", "work_dir", "stdout", "stderr", "input", "append_output", "limit_signal", "staging", "shell",
	}
}

// MarshalJSON implements [json.Marshaler].
func (p *Payload) MarshalJSON() ([]byte, error) {
	return json.Marshal(PayloadJSON{
		Script: p.Script, Args: converted[[]byte](p.Args), Env: converted[[]byte](p.Env),
		WorkDir: []byte(p.WorkDir), Stdout: []byte(p.Stdout), Stderr: []byte(p.Stderr),
		Input: []byte(p.Input), AppendOutput: p.AppendOutput, LimitSignal: p.LimitSignal,
		Staging: p.Staging, Shell: p.Shell,
	})
}

// UnmarshalJSON implements [json.Unmarshaler]. Fields that it does not know are errors, also if their names differ in case only: plain
// text of a field such as Env could be read as base64, which it is not.
func (p *Payload) UnmarshalJSON(data []byte) error {
	if err := checkNames(data, payloadFields()); err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields() // of what is in it; whoever decodes what a payload is in cannot say so for it
	var read PayloadJSON
	if err := decoder.Decode(&read); err != nil {
		return err
	}
	*p = Payload{
		Script: read.Script, Args: converted[string](read.Args), Env: converted[string](read.Env),
		WorkDir: string(read.WorkDir), Stdout: string(read.Stdout), Stderr: string(read.Stderr),
		Input: string(read.Input), AppendOutput: read.AppendOutput, LimitSignal: read.LimitSignal,
		Staging: read.Staging, Shell: read.Shell,
	}
	return nil
}

// checkNames refuses an object in JSON that has other fields than those that are known. What is no object is left to its decoder.
func checkNames(data []byte, known []string) error {
	var given map[string]json.RawMessage
	if json.Unmarshal(data, &given) != nil {
		return nil //nolint:nilerr // whoever decodes it says so better
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("unknown field %.80q; use %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// Bytes is the size of the script, its arguments and its environment.
func (p *Payload) Bytes() int64 {
	size := len(p.Script)
	for _, words := range [][]string{p.Args, p.Env} {
		for _, word := range words {
			size += len(word)
		}
	}
	return int64(size)
}

// Check says what is wrong with what a job runs, if anything, wherever it is submitted. What is
// empty is not looked at.
func (p *Payload) Check() error {
	if p == nil {
		return nil
	}
	if len(p.Script) > MaxScript {
		return fmt.Errorf("the script has %d bytes, at most %d are allowed; let it read large data from a file", len(p.Script), MaxScript)
	}
	return cmp.Or(
		checkPath("working directory", p.WorkDir), checkPath("stdout", p.Stdout), checkPath("stderr", p.Stderr),
		checkPath("standard input", p.Input), p.CheckLimitSignal(), p.CheckStaging(), p.CheckShell(), p.checkWords(),
	)
}

func checkPath(of, path string) error {
	switch {
	case path == "":
	case !strings.HasPrefix(path, "/"):
		return fmt.Errorf("the name of the job's %s %.80q is not an absolute path", of, path)
	case len(path) > MaxPath:
		return fmt.Errorf("the name of the job's %s has %d bytes; give one of at most %d", of, len(path), MaxPath)
	case strings.ContainsRune(path, 0):
		return fmt.Errorf("the name of the job's %s %.80q has a NUL byte", of, path)
	}
	return nil
}

// checkWords looks at the arguments and variables.
func (p *Payload) checkWords() error {
	size := 0
	for _, arg := range p.Args {
		size += len(arg)
		if strings.ContainsRune(arg, 0) {
			return fmt.Errorf("args: %q has a NUL byte", arg)
		}
	}
	for _, pair := range p.Env {
		size += len(pair)
		if strings.IndexByte(pair, '=') < 1 || strings.ContainsRune(pair, 0) {
			return fmt.Errorf("env: %.80q is not NAME=value", pair)
		}
	}
	if size > MaxWords || len(p.Args)+len(p.Env) > MaxArgs {
		return fmt.Errorf("%d arguments and variables with %d bytes; at most %d with %d bytes are allowed",
			len(p.Args)+len(p.Env), size, MaxArgs, MaxWords)
	}
	return nil
}

func converted[B, A []byte | string](in []A) []B {
	var out []B
	for _, one := range in {
		out = append(out, B(one))
	}
	return out
}
