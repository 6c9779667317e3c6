package localschedv1_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
)

func TestDecodeSubmissionRefuses(t *testing.T) {
	t.Parallel()
	type m = *localschedv1.SubmitRequest
	long := strings.Repeat("x", 4097)
	spoilt(t, rightSubmission, localschedv1.DecodeSubmission, map[string]func(m){
		"submission: tag: is missing":                        func(m m) { m.Tag = nil },
		"submission: tag: job: is 0":                         func(m m) { m.Tag.Job = 0 },
		"submission: tag: epoch: is 0":                       func(m m) { m.Tag.Epoch = 0 },
		"submission: spec: is missing":                       func(m m) { m.Spec = nil },
		"submission: spec: job: is 5, but the tag's is ":     func(m m) { m.Spec.Job = 5 },
		"submission: spec: cpus: -1":                         func(m m) { m.Spec.Cpus = -1 },
		"submission: spec: wall_time: -2":                    func(m m) { m.Spec.WallTime = -2 },
		"submission: spec: name: has 4097":                   func(m m) { m.Spec.Name = long },
		"submission: spec: user: has 4097":                   func(m m) { m.Spec.User = long },
		"submission: spec: sites: has 1025":                  func(m m) { m.Spec.Sites = make([]string, 1025) },
		"submission: spec: sites[0]: site name":              func(m m) { m.Spec.Sites[0] = "A" },
		"submission: spec: submitted: -1":                    func(m m) { m.Spec.Submitted = -1 },
		"submission: spec: mhz: -1":                          func(m m) { m.Spec.Mhz = -1 },
		"submission: spec: mflops: -1":                       func(m m) { m.Spec.Mflops = -1 },
		"submission: spec: power: -1":                        func(m m) { m.Spec.Power = -1 },
		"submission: spec: power: 100000001 is outside 0 to": func(m m) { m.Spec.Power = protocol.MaxPower + 1 },
		"submission: spec: data: -1":                         func(m m) { m.Spec.Data = -1 },
		"submission: spec: data_out: -1":                     func(m m) { m.Spec.DataOut = -1 },
		"submission: spec: licences: has 17":                 func(m m) { m.Spec.Licences = make([]*localschedv1.Licence, 17) },
		"submission: spec: licences[0]: name: is missin":     func(m m) { m.Spec.Licences = []*localschedv1.Licence{{Count: 1}} },
		"submission: spec: licences[0]: name: has 4097":      func(m m) { m.Spec.Licences = []*localschedv1.Licence{{Name: long, Count: 1}} },
		"submission: spec: licences[0]: count: 0 is out":     func(m m) { m.Spec.Licences = []*localschedv1.Licence{{Name: "a", Count: 1<<32 + 1}} },
		"submission: spec: priority: has 33":                 func(m m) { m.Spec.Priority = long[:33] },
		"submission: spec: expected_ms: -1":                  func(m m) { m.Spec.ExpectedMs = -1 },
		"submission: spec: intensity_ppm: 1000001":           func(m m) { m.Spec.IntensityPpm = protocol.PPM + 1 },
		"submission: spec: intensity_ppm: -1":                func(m m) { m.Spec.IntensityPpm = -1 },
		"submission: spec: computing_ppm: 4294967296":        func(m m) { m.Spec.ComputingPpm = 1 << 32 },
		"submission: payload: is missing":                    func(m m) { m.Payload = nil },
		"submission: payload: script: has 4194305":           func(m m) { m.Payload.Script = make([]byte, 4<<20+1) },
		"submission: payload: args: has 65537":               func(m m) { m.Payload.Args = make([][]byte, 65537) },
		"submission: payload: env: has 65537":                func(m m) { m.Payload.Env = make([][]byte, 65537) },
		"submission: payload: args[0]: argument: contai":     func(m m) { m.Payload.Args[0] = []byte("a\x00") },
		"submission: payload: env[0]: is not NAME=value":     func(m m) { m.Payload.Env[0] = []byte("=1") },
		"submission: payload: env[0]: value: contains":       func(m m) { m.Payload.Env[0] = []byte("A=\x00") },
		"submission: payload: work_dir: has 4097":            func(m m) { m.Payload.WorkDir = []byte(long) },
		"submission: payload: stdout: has 4097":              func(m m) { m.Payload.Stdout = []byte(long) },
		"submission: payload: stderr: contains a NUL":        func(m m) { m.Payload.Stderr = []byte("\x00") },
		"submission: origin: site name":                      func(m m) { m.Origin = "" },
		"submission: account: has 4097":                      func(m m) { m.Account = long },
	})
}

// A job that can never travel is refused for good, and not tried for ever.
func TestSubmissionsThatCannotTravelAreRefused(t *testing.T) {
	t.Parallel()
	const latin = "caf\xe9"
	cases := map[string]func(*localsched.Submission){
		"name":     func(s *localsched.Submission) { s.Spec.Name = latin },
		"user":     func(s *localsched.Submission) { s.Spec.User = latin },
		"account":  func(s *localsched.Submission) { s.Account = latin },
		"priority": func(s *localsched.Submission) { s.Spec.Priority = latin },
		"licences": func(s *localsched.Submission) { s.Spec.Licences = []protocol.Licence{{Name: latin, Count: 1}} },
	}
	for field, change := range cases {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			s := localsched.Submission{Tag: placed, Payload: &protocol.Payload{}}
			change(&s)
			_, err := localschedv1.EncodeSubmission(s)
			if got, ok := errors.AsType[*localsched.RefusedError](err); !ok || !strings.HasPrefix(got.Reason, field+`: "`) {
				t.Errorf("got %v, want a refusal that names %s", err, field)
			}
		})
	}
}

// What a job runs need not be UTF-8: paths and variables are bytes.
func TestPayloadsAreBytes(t *testing.T) {
	t.Parallel()
	const latin = "caf\xe9"
	in := localsched.Submission{
		Tag: placed, Origin: "north", Account: "alice",
		Spec: protocol.Spec{Request: protocol.Request{Job: placed.Job, CPUs: 1, WallTime: 1}},
		Payload: &protocol.Payload{
			Script: []byte(latin), Args: []string{latin}, Env: []string{"A=" + latin},
			WorkDir: "/" + latin, Stdout: "/o" + latin, Stderr: "/e" + latin,
		},
	}
	m, err := localschedv1.EncodeSubmission(in)
	if err != nil {
		t.Fatal(err)
	}
	wire, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var read localschedv1.SubmitRequest
	if err := proto.Unmarshal(wire, &read); err != nil {
		t.Fatal(err)
	}
	if out, err := localschedv1.DecodeSubmission(&read); err != nil || !reflect.DeepEqual(out.Payload, in.Payload) {
		t.Errorf("got %+v, %v", out.Payload, err)
	}
}

// An empty answer is none: a job that was taken has a name, and one that was not a
// reason.
func TestEmptyAnswerToASubmission(t *testing.T) {
	t.Parallel()
	id, err := localschedv1.DecodeSubmitted(&localschedv1.SubmitResponse{})
	if id != "" || err == nil || !strings.HasPrefix(err.Error(), "local_id: is missing") {
		t.Errorf("got %q, %v", id, err)
	}
	if _, refused := errors.AsType[*localsched.RefusedError](err); refused {
		t.Error("it is taken for a refusal")
	}
}
