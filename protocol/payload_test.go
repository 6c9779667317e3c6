package protocol_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Each field of a payload is read as it was written.
func TestPayloadInJSON(t *testing.T) {
	t.Parallel()
	written := protocol.Payload{
		Script: []byte("s"), Args: []string{"a"}, Env: []string{"N=1"}, WorkDir: "/w", Stdout: "/o", Stderr: "/e", Input: "/i", AppendOutput: true,
		LimitSignal: protocol.LimitSignal{Signal: 1}, Staging: &protocol.Staging{Bytes: 1}, Shell: &protocol.Shell{},
	}
	for field, value := range reflect.ValueOf(written).Fields() {
		if value.IsZero() {
			t.Errorf("the test has nothing for %s", field.Name)
		}
	}
	text, err := json.Marshal(&written)
	if err != nil {
		t.Fatal(err)
	}
	var read protocol.Payload
	if err = json.Unmarshal(text, &read); err != nil || !reflect.DeepEqual(read, written) {
		t.Errorf("%s was read as %+v, %v", text, read, err)
	}
}

// A field whose name differs from a known one in case only is refused: its plain text could be base64.
func TestPayloadNamesCountInCase(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"Env":["QUJD"]}`:                    `unknown field "Env"`,
		`{"work_dir":"L2E=","Args":["abcd"]}`: `unknown field "Args"`,
		`{"WorkDir":"/a"}`:                    `unknown field "WorkDir"`,
		`[]`:                                  "cannot unmarshal array",
	} {
		var p protocol.Payload
		if err := json.Unmarshal([]byte(text), &p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
