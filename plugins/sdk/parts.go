package sdk

import (
	"google.golang.org/grpc"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
	pluginv1 "github.com/switchyard-hpc/switchyard/protocol/plugin/v1"
	policyv1 "github.com/switchyard-hpc/switchyard/protocol/policy/v1"
	pricev1 "github.com/switchyard-hpc/switchyard/protocol/price/v1"
)

// parts is a plugin as it is served, whatever its kind.
type parts struct {
	info       *pluginv1.InfoResponse
	configured configured
	register   func(grpc.ServiceRegistrar) // the services of its kind
	ready      func()                      // called when the host asks for Info; may be nil
}

// configured is what a configuration makes.
type configured interface {
	validate(text string) []*pluginv1.Note
	configure(text string, host Host) ([]*pluginv1.Note, error)
	close() error
}

func (p Policy[C]) parts() parts {
	m := &maker[C, policy.Policy]{defaults: p.Defaults, check: p.Check, make: p.Make}
	return parts{
		info:       infoOf(pluginv1.KindPolicy, p.Name, p.Version, p.About),
		configured: m,
		register: func(r grpc.ServiceRegistrar) {
			policyv1.RegisterPolicyServer(r, &policyServer{made: m.get})
		},
	}
}

func (p Scheduler[C]) parts() parts {
	m := &maker[C, localsched.Scheduler]{defaults: p.Defaults, check: p.Check, make: p.Make, siteOnly: p.Engine != nil}
	var capabilities []string
	if p.Engine != nil {
		capabilities = []string{pluginv1.Simulate}
	}
	return parts{
		info:       infoOf(pluginv1.KindScheduler, p.Name, p.Version, p.About, capabilities...),
		configured: m,
		register: func(r grpc.ServiceRegistrar) {
			localschedv1.RegisterSchedulerServer(r, newSchedulerServer(m.get))
			if p.Engine != nil {
				localschedv1.RegisterEngineServer(r, newEngineServer(m.settings, p.Engine))
			}
		},
	}
}

func (p Feed[C]) parts() parts {
	m := &maker[C, price.Feed]{defaults: p.Defaults, check: p.Check, make: p.Make}
	return parts{
		info:       infoOf(pluginv1.KindFeed, p.Name, p.Version, p.About),
		configured: m,
		register: func(r grpc.ServiceRegistrar) {
			pricev1.RegisterFeedServer(r, &feedServer{made: m.get})
		},
	}
}

func infoOf(kind, name, version, about string, capabilities ...string) *pluginv1.InfoResponse {
	return &pluginv1.InfoResponse{
		Kind: kind, Name: name, Version: version, About: about,
		Services: pluginv1.Services(kind, capabilities), Capabilities: capabilities,
	}
}
