package pluginv1_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	pluginv1 "github.com/switchyard-hpc/switchyard/protocol/plugin/v1"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

func rightInfo() *pluginv1.InfoResponse {
	return &pluginv1.InfoResponse{
		Kind: "localsched", Name: "own-1.x_y", Version: "1.4.0", About: "Drives our own batch system.",
		Services:     []string{"switchyard.plugin.v1.Base", "switchyard.localsched.v1.Scheduler", "switchyard.localsched.v1.Engine"},
		Capabilities: []string{"reserve", "simulate"},
	}
}

func TestCheckInfo(t *testing.T) {
	t.Parallel()
	for _, right := range []*pluginv1.InfoResponse{
		rightInfo(),
		{Kind: "policy", Name: "p", Version: "1", Services: []string{"switchyard.policy.v1.Policy"}},
		{Kind: "price", Name: "p", Version: "1", Services: []string{"switchyard.price.v1.Feed"}},
		{Kind: "localsched", Name: "p", Version: "1", Services: []string{"switchyard.localsched.v1.Scheduler"}},
	} {
		if err := pluginv1.CheckInfo(right); err != nil {
			t.Errorf("%v: %v", right, err)
		}
	}
	type m = *pluginv1.InfoResponse
	cases := map[string]func(m){
		`kind: "" is unknown; use policy, localsched or price`:          func(m m) { m.Kind = "" },
		`kind: "storage" is unknown`:                                    func(m m) { m.Kind = "storage" },
		`name: "" is not the name of a plugin`:                          func(m m) { m.Name = "" },
		`name: "Own" is not the name of a plugin`:                       func(m m) { m.Name = "Own" },
		`name: "a/b" is not the name of a plugin`:                       func(m m) { m.Name = "a/b" },
		"name: use 1 to 64 lower case letters":                          func(m m) { m.Name = strings.Repeat("x", 65) },
		"version: is missing":                                           func(m m) { m.Version = "" },
		"version: has 65":                                               func(m m) { m.Version = strings.Repeat("x", 65) },
		"about: has 257":                                                func(m m) { m.About = strings.Repeat("x", 257) },
		"about: has several lines":                                      func(m m) { m.About = "one\ntwo" },
		"services: has 65":                                              func(m m) { m.Services = make([]string, 65) },
		"services[0]: is missing":                                       func(m m) { m.Services[0] = "" },
		"services[0]: has 257":                                          func(m m) { m.Services[0] = strings.Repeat("x", 257) },
		"services: switchyard.localsched.v1.Scheduler is not among":     func(m m) { m.Services = nil },
		"services: switchyard.localsched.v1.Engine is not among them, ": func(m m) { m.Services = m.GetServices()[:2] },
		"services: switchyard.policy.v1.Policy is not among them":       func(m m) { m.Kind = "policy" },
		"services: switchyard.price.v1.Feed is not among them, w":       func(m m) { m.Kind = "price" },
		"capabilities: has 65":                                          func(m m) { m.Capabilities = make([]string, 65) },
		"capabilities[1]: is missing":                                   func(m m) { m.Capabilities[1] = "" },
		"capabilities[0]: has 65":                                       func(m m) { m.Capabilities[0] = strings.Repeat("x", 65) },
		`capabilities[1]: "simulate" does not sort after "simulate"`:    func(m m) { m.Capabilities[0] = "simulate" },
	}
	for want, change := range cases {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			m := rightInfo()
			change(m)
			err := pluginv1.CheckInfo(m)
			protocoltest.Refused(t, err, "info."+want)
		})
	}
}

func TestServicesOfKindsThatDoNotExist(t *testing.T) {
	t.Parallel()
	if got := pluginv1.Services("storage", nil); got != nil {
		t.Errorf("got %v", got)
	}
	if got := pluginv1.Services("policy", []string{"simulate"}); !slices.Equal(got, []string{"switchyard.policy.v1.Policy"}) {
		t.Errorf("got %v", got)
	}
}

func FuzzCheckInfo(f *testing.F) {
	data, err := proto.Marshal(rightInfo())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		m := &pluginv1.InfoResponse{}
		if proto.Unmarshal(data, m) != nil || pluginv1.CheckInfo(m) != nil {
			return
		}
		if len(m.GetName()) == 0 || len(m.GetName()) > 64 || len(m.GetServices()) == 0 || strings.Contains(m.GetAbout(), "\n") {
			t.Fatalf("%v passed", m)
		}
	})
}
