package row

import (
	"encoding/json"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Payload is what a job runs.
type Payload struct {
	Payload *protocol.Payload `json:"payload"`
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
func (r Payload) MarshalJSON() ([]byte, error) {
	if r.Payload == nil {
		return []byte("null"), nil
	}
	p := r.Payload
	return json.Marshal(payloadJSON{
		Script: p.Script, Args: converted[[]byte](p.Args), Env: converted[[]byte](p.Env),
		WorkDir: []byte(p.WorkDir), Stdout: []byte(p.Stdout), Stderr: []byte(p.Stderr),
	})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (r *Payload) UnmarshalJSON(data []byte) error {
	var p *payloadJSON
	if err := json.Unmarshal(data, &p); err != nil || p == nil {
		return err
	}
	r.Payload = &protocol.Payload{
		Script: p.Script, Args: converted[string](p.Args), Env: converted[string](p.Env),
		WorkDir: string(p.WorkDir), Stdout: string(p.Stdout), Stderr: string(p.Stderr),
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

func (Payload) table() Table { return PayloadTable }
