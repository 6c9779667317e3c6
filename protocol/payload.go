package protocol

import (
	"bytes"
	"encoding/json"
)

// Payload is what a job runs. A Payload is never changed once made.
type Payload struct {
	Script  []byte
	Args    []string
	Env     []string // NAME=value
	WorkDir string   // at the origin
	Stdout  string   // at the origin, absolute
	Stderr  string   // at the origin, absolute; equal to Stdout: both in one file
}

// payloadJSON is a payload in JSON: its strings as bytes, since they need not be
// UTF-8 and JSON text would change them.
type payloadJSON struct {
	Script  []byte   `json:"script,omitempty"`
	Args    [][]byte `json:"args,omitempty"`
	Env     [][]byte `json:"env,omitempty"`
	WorkDir []byte   `json:"work_dir,omitempty"`
	Stdout  []byte   `json:"stdout,omitempty"`
	Stderr  []byte   `json:"stderr,omitempty"`
}

// MarshalJSON implements [json.Marshaler].
func (p Payload) MarshalJSON() ([]byte, error) {
	return json.Marshal(payloadJSON{
		Script: p.Script, Args: converted[[]byte](p.Args), Env: converted[[]byte](p.Env),
		WorkDir: []byte(p.WorkDir), Stdout: []byte(p.Stdout), Stderr: []byte(p.Stderr),
	})
}

// UnmarshalJSON implements [json.Unmarshaler]. Fields that it does not know are errors.
func (p *Payload) UnmarshalJSON(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields() // whoever decodes what a payload is in cannot say so for it
	var read payloadJSON
	if err := decoder.Decode(&read); err != nil {
		return err
	}
	*p = Payload{
		Script: read.Script, Args: converted[string](read.Args), Env: converted[string](read.Env),
		WorkDir: string(read.WorkDir), Stdout: string(read.Stdout), Stderr: string(read.Stderr),
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
