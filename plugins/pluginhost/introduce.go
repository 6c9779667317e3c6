package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	pluginv1 "github.com/switchyard-hpc/switchyard/protocol/plugin/v1"
	policyv1 "github.com/switchyard-hpc/switchyard/protocol/policy/v1"
)

// Info is what a plugin says of itself.
type Info struct {
	Kind         Kind
	Name         string // its own
	Version      string // its own
	About        string // one line
	Services     []string
	Capabilities []string // sorted
}

// Can says whether the plugin has a capability.
func (i *Info) Can(capability string) bool { return slices.Contains(i.Capabilities, capability) }

// identity is what must stay the same when a plugin is started again: what runs was
// chosen by it, and recordings name it.
type identity struct {
	Info
	policy policy.Description // of policies
}

// introduce asks the plugin what it is and configures it.
func (p *Plugin) introduce(ctx context.Context, life *instance) error {
	limited, cancel := context.WithTimeout(ctx, p.spec.Timing.Start)
	defer cancel()
	base := pluginv1.NewBaseClient(life.conn)
	info, err := p.ask(limited, base)
	if err != nil {
		return p.during(limited, "Info", life, err)
	}
	if err = p.configure(limited, base); err != nil {
		return p.during(limited, "Configure", life, err)
	}
	is := identity{Info: info}
	if info.Kind == PolicyKind {
		if is.policy, err = describe(limited, life); err != nil {
			return p.during(limited, "Describe", life, err)
		}
	}
	if err = p.recognise(&is); err != nil {
		return err
	}
	p.findReserver(limited, life, info.Kind)
	return nil
}

// describe asks a policy what it is.
func describe(ctx context.Context, life *instance) (policy.Description, error) {
	reply, err := policyv1.NewPolicyClient(life.conn).Describe(ctx, &policyv1.DescribeRequest{})
	if err != nil {
		return policy.Description{}, err
	}
	return policyv1.DecodeDescription(reply)
}

// during says what failed before the plugin was up.
func (p *Plugin) during(limited context.Context, call string, life *instance, err error) error {
	if _, ok := errors.AsType[problems.List](err); ok {
		return err
	}
	if errors.Is(over(limited), context.DeadlineExceeded) {
		return fmt.Errorf("%s: no answer within %v", call, p.spec.Timing.Start)
	}
	if gone := life.process.hasEnded(); gone != nil {
		return fmt.Errorf("%s: %w", call, gone)
	}
	return fmt.Errorf("%s: %w", call, plain(err))
}

// ask asks the plugin what it is.
func (p *Plugin) ask(ctx context.Context, base pluginv1.BaseClient) (Info, error) {
	reply, err := base.Info(ctx, &pluginv1.InfoRequest{})
	if err != nil {
		return Info{}, err
	}
	kind := Kind(reply.GetKind())
	if p.spec.Kind != AnyKind && kind != p.spec.Kind && pluginv1.Services(reply.GetKind(), nil) != nil {
		return Info{}, fmt.Errorf("it is a %s plugin, not a %s plugin", kind, p.spec.Kind)
	}
	if err = pluginv1.CheckInfo(reply); err != nil {
		return Info{}, err
	}
	return Info{
		Kind: kind, Name: reply.GetName(), Version: reply.GetVersion(), About: reply.GetAbout(),
		Services: reply.GetServices(), Capabilities: reply.GetCapabilities(),
	}, nil
}

// configure has the plugin look at its configuration, which changes nothing, and take
// it. What is wrong is the error, of type [problems.List] within.
func (p *Plugin) configure(ctx context.Context, base pluginv1.BaseClient) error {
	seen, err := base.Validate(ctx, &pluginv1.ValidateRequest{Config: p.spec.Config})
	if err != nil {
		return err
	}
	wrong, warnings, err := pluginv1.DecodeNotes(seen.GetNotes(), p.spec.ConfigFile)
	if err != nil {
		return err
	}
	for _, note := range warnings {
		p.log.Warn("plugin_configuration", "note", note.String())
	}
	if len(wrong) > 0 {
		return refusedConfig(wrong)
	}
	host := p.spec.Host
	taken, err := base.Configure(ctx, &pluginv1.ConfigureRequest{
		Config: p.spec.Config, Site: string(host.Site), StateDir: host.StateDir, Seed: host.Seed, Host: host.Software,
	})
	if err != nil {
		return err
	}
	if wrong, _, err = pluginv1.DecodeNotes(taken.GetNotes(), p.spec.ConfigFile); err != nil {
		return err
	}
	if len(wrong) > 0 {
		return refusedConfig(wrong)
	}
	return nil
}

func refusedConfig(wrong problems.List) error {
	return fmt.Errorf("its configuration is wrong:\n%w", wrong)
}

// recognise remembers what the plugin is, and refuses another one in its place.
func (p *Plugin) recognise(is *identity) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.first == nil {
		p.first = is
		return nil
	}
	if was := p.first; !reflect.DeepEqual(was, is) {
		return fmt.Errorf("it is not what it was before its restart: it says %s, and said %s; restart the host to accept that", is, was)
	}
	return nil
}

func (i *identity) String() string {
	text := fmt.Sprintf("%s %s, capabilities %q", i.Name, i.Version, i.Capabilities)
	if i.Kind == PolicyKind {
		text += fmt.Sprintf(", policy %+v", i.policy)
	}
	return text
}
