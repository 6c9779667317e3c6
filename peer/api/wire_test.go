package api_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/api"
)

// FuzzDecodeSubmission looks for bodies that break the decoder, and for accepted
// ones that are not what they say.
func FuzzDecodeSubmission(f *testing.F) {
	whole, err := json.Marshal(oneJob())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte(`{"jobs":[{"spec":{"cpus":1,"wall_time_ms":1}}]}`))
	f.Add([]byte(`{"jobs":[{"spec":{"cpus":-1e3},"payload":{"env":["a"]}}]}`))
	app, err := json.Marshal(coupled())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(app)
	f.Add([]byte(`{"jobs":[{"component":{"compute_weight_ppm":1}}],"application":{},"front":true}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		s, err := api.DecodeSubmission(bytes.NewReader(body))
		if err != nil {
			return
		}
		if len(s.Jobs) == 0 || len(s.Jobs) > api.MaxJobs {
			t.Fatalf("%d jobs were accepted", len(s.Jobs))
		}
		for _, job := range s.Jobs {
			if p := job.Payload; p != nil && strings.ContainsRune(p.WorkDir+p.Stdout+p.Stderr+strings.Join(p.Env, ""), 0) {
				t.Fatal("a NUL byte was accepted")
			}
		}
		again, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		back, err := api.DecodeSubmission(bytes.NewReader(again))
		if err != nil {
			t.Fatalf("its own writing is refused: %v", err)
		}
		if third, _ := json.Marshal(back); !bytes.Equal(again, third) {
			t.Fatalf("%s became %s", again, third)
		}
	})
}
