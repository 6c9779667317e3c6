package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// coupled is an application of two components with all that may be said.
func coupled() api.Submission {
	s := oneJob()
	s.Jobs = append(s.Jobs, s.Jobs[0])
	s.Application = &protocol.Application{
		Name: "coupled", Beta: 1, MaxCost: 5_000_000, MaxTime: protocol.Hour, Currency: "CHF",
		Rates: []protocol.WaitingRate{{}, {From: protocol.Minute, PerHour: 60_000_000}},
	}
	s.Jobs[0].Spec.DataOut, s.Jobs[0].Spec.QOS = 7, "urgent"
	s.Jobs[0].Spec.Resources = []protocol.Resource{protocol.NewLicense("ansys", 2)}
	s.Jobs[0].Component = protocol.Component{
		Name: "mesh", Alpha: 1, Gamma: 2, Delta: 3, Together: 1, Estimate: 9,
		Shapes:   []protocol.Shape{{CPUs: 8, Nodes: 2, WallTime: protocol.Hour, Estimate: 8}},
		Behavior: protocol.Behavior{Mflop: 1, Sent: 2, Messages: 3, CPUs: 4, Scaling: protocol.Multicast},
	}
	s.Jobs[1].Component = protocol.Component{Name: "solve", Together: 1}
	return s
}

func TestApplicationsReachThePeerWhole(t *testing.T) {
	t.Parallel()
	node := &peerFake{reply: view.Submitted{Jobs: []protocol.JobID{jobA, jobB}}}
	client := serve(t, node)
	sent := coupled()
	if _, err := client.Submit(t.Context(), sent); err != nil {
		t.Fatal(err)
	}
	ev, ok := node.last(t).(event.Submit)
	if !ok || !reflect.DeepEqual(ev.Application, sent.Application) {
		t.Fatalf("asked %+v", node.last(t))
	}
	mesh := ev.Jobs[0]
	if !reflect.DeepEqual(mesh.Component, sent.Jobs[0].Component) || mesh.Spec.DataOut != 7 || mesh.Spec.QOS != "urgent" ||
		len(mesh.Spec.Licenses()) != 1 || mesh.Payload == nil {
		t.Errorf("the job is %+v", mesh)
	}
	node.reply = view.TestSubmitResult{Front: &view.ParetoFront{Currency: "CHF"}}
	sent.Front = true
	if quoted, err := client.Quotes(t.Context(), sent); err != nil || quoted.Front == nil || quoted.Front.Currency != "CHF" {
		t.Errorf("got %+v, %v", quoted, err)
	}
	asked, ok := node.last(t).(event.TestSubmit)
	if !ok || !asked.Front || asked.Application == nil || !reflect.DeepEqual(asked.Jobs[0].Component, mesh.Component) ||
		asked.Jobs[0].Payload != nil {
		t.Errorf("asked %+v", node.last(t))
	}
}

// A limit that is not there is none, not one of 0.
func TestLimitsThatAreLeftOut(t *testing.T) {
	t.Parallel()
	body := `{"jobs":[{"spec":{"cpus":1,"wall_time_ms":1}}],"application":{"wait_weight_ppm":3}}`
	s, err := api.DecodeSubmission(strings.NewReader(body))
	if err != nil || s.Application.Beta != 3 || s.Application.MaxCost != protocol.Unlimited || s.Application.MaxTime != protocol.Never {
		t.Errorf("got %+v, %v", s.Application, err)
	}
	s, err = api.DecodeSubmission(strings.NewReader(`{"jobs":[{"spec":{"cpus":1,"wall_time_ms":1}}]}`))
	if err != nil || s.Application != nil {
		t.Errorf("an application appeared from nowhere: %+v, %v", s.Application, err)
	}
	data, err := json.Marshal(coupled())
	if err != nil {
		t.Fatal(err)
	}
	back, err := api.DecodeSubmission(bytes.NewReader(data))
	if err != nil || !reflect.DeepEqual(back, coupled()) {
		t.Errorf("it came back as %+v, %v", back, err)
	}
}

func TestBadApplications(t *testing.T) {
	t.Parallel()
	change := func(f func(*api.Submission)) api.Submission {
		s := coupled()
		f(&s)
		return s
	}
	tests := map[string]struct {
		body api.Submission
		want string
	}{
		"cost":           {change(func(s *api.Submission) { s.Application.MaxCost = -1 }), "application: invalid max_cost_micro -1"},
		"name":           {change(func(s *api.Submission) { s.Application.Name = "a\nb" }), "application: name"},
		"curve":          {change(func(s *api.Submission) { s.Application.Waiting = strings.Repeat("x", 65) }), "application: waiting"},
		"currency":       {change(func(s *api.Submission) { s.Application.Currency = "\x1b" }), "application: currency"},
		"no application": {change(func(s *api.Submission) { s.Application = nil }), "job 1 of 2: component: weights and together require an application"},
		"data":           {change(func(s *api.Submission) { s.Jobs[1].Spec.DataOut = -1 }), "job 2 of 2: the job has 0 bytes of data and -1 of results"},
		"licenses":       {change(func(s *api.Submission) { s.Jobs[0].Spec.Resources[0].Count = 0 }), "job 1 of 2: resources[0]: count: 0"},
		"license":        {change(func(s *api.Submission) { s.Jobs[0].Spec.Resources[0].Type = "\a" }), "job 1 of 2: resources[0]: type"},
		"qos":            {change(func(s *api.Submission) { s.Jobs[0].Spec.QOS = strings.Repeat("x", 33) }), "job 1 of 2: qos"},
		"component":      {change(func(s *api.Submission) { s.Jobs[0].Component.Name = "\a" }), "job 1 of 2: component: name"},
		"shapes":         {change(func(s *api.Submission) { s.Jobs[0].Component.Shapes = make([]protocol.Shape, 16) }), "job 1 of 2: the job may run in 17 shapes; use at most 16"},
		"estimate":       {change(func(s *api.Submission) { s.Jobs[0].Component.Estimate = -1 }), "component: estimate_ms is -1"},
		"its estimate":   {change(func(s *api.Submission) { s.Jobs[0].Component.Shapes[0].Estimate = -1 }), "component: shapes[0]: estimate_ms"},
		"behavior":       {change(func(s *api.Submission) { s.Jobs[0].Component.Behavior.Sent = -1 }), "component: behavior: sent_words is -1; use 0 or more"},
		"scaling":        {change(func(s *api.Submission) { s.Jobs[0].Component.Behavior.Scaling = "cubic" }), `the scaling "cubic" is unknown`},
		"to all":         {change(func(s *api.Submission) { s.Jobs[0].Component.Behavior.CPUs = 1 }), "one CPU sends nothing to all"},
		"its user":       {change(func(s *api.Submission) { s.Jobs[1].Spec.User = "root" }), "job 2 of 2: spec: job, user"},
		"weights":        {change(func(s *api.Submission) { s.Application.Beta = -1 }), "application: the weight β is -1"},
		"front":          {change(func(s *api.Submission) { s.Front = true }), "front applies to quotes only"},
	}
	node := &peerFake{}
	client := serve(t, node)
	for name, test := range tests {
		_, err := client.Submit(t.Context(), test.body)
		refused, ok := errors.AsType[*api.Error](err)
		if !ok || refused.Code != view.BadRequest || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	for name, body := range map[string]string{
		"a wish":       `{"jobs":[{"spec":{"cpus":1,"wall_time_ms":1}}],"application":{"max_carbon":3}}`,
		"of one":       `{"jobs":[{"spec":{"cpus":1,"wall_time_ms":1},"component":{"colour":3}}]}`,
		"of a shape":   `{"jobs":[{"spec":{"cpus":1,"wall_time_ms":1},"component":{"shapes":[{"gpus":3}]}}]}`,
		"of a payload": `{"jobs":[{"spec":{"cpus":1,"wall_time_ms":1},"payload":{"stdin":"L2E="}}]}`,
		"another kind": `{"jobs":[{"spec":{"cpus":1,"wall_time_ms":1}}],"application":[]}`,
	} {
		if status, answer := raw(t, client, http.MethodPost, "/v1/quotes", strings.NewReader(body)); status != 400 {
			t.Errorf("%s: status %d: %s", name, status, answer)
		}
	}
	if len(node.events) > 0 {
		t.Errorf("the node was asked %v", node.events)
	}
}

func TestRunHistory(t *testing.T) {
	t.Parallel()
	node := &peerFake{reply: view.RunHistory{Components: []view.ComponentHistory{{Name: "mesh"}}}}
	client := serve(t, node)
	known, err := client.RunHistory(t.Context(), "mesh & more", false)
	if err != nil || len(known.Components) != 1 {
		t.Fatalf("got %+v, %v", known, err)
	}
	if want := (event.AskRunHistory{Asked: 7, User: me(t), Component: "mesh & more"}); node.last(t) != want {
		t.Errorf("asked %+v", node.last(t))
	}
	if _, err = client.RunHistory(t.Context(), "", true); err != nil {
		t.Fatal(err)
	}
	if want := (event.AskRunHistory{Asked: 7}); node.last(t) != want {
		t.Errorf("asked %+v", node.last(t))
	}
}
