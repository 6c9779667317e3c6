package experiment

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Setting is a key of a plan with a value for it, as people write them.
type Setting struct {
	Key   string
	Value string
}

// setter changes what a key means. Keys of sites and of workloads are set for all
// of them.
type setter struct {
	key string
	set func(p *Plan, value string) error
}

// SettableKeys returns the keys that [Plan.With] knows, sorted.
func SettableKeys() []string {
	var keys []string
	for _, s := range setters() {
		keys = append(keys, s.key)
	}
	slices.Sort(keys)
	return keys
}

// With returns a plan that differs in these settings: of [SettableKeys], or of any key by
// its tables, where those of sites, applications and curves go by their names, as
// "site.farm.cost.cpu.price" or "weighing.beta". The error names the key and what it may
// be.
func (p *Plan) With(settings ...Setting) (*Plan, error) {
	changed := p.clone()
	for _, one := range settings {
		i := slices.IndexFunc(setters(), func(s setter) bool { return s.key == one.Key })
		var err error
		switch {
		case i >= 0:
			err = setters()[i].set(changed, one.Value)
		case strings.Contains(one.Key, "."):
			err = changed.setPath(one.Key, one.Value)
		default:
			return nil, unsettable(one.Key)
		}
		if err != nil {
			return nil, fmt.Errorf("%s = %s: %w", one.Key, one.Value, err)
		}
	}
	c := changed.newChecker()
	changed.check(c)
	if err := c.fault(); err != nil {
		return nil, err
	}
	return changed, nil
}

func unsettable(key string) error {
	return fmt.Errorf("%q cannot be set; use %s, or any key with its tables, as site.NAME.cost.cpu.price", key, strings.Join(SettableKeys(), ", "))
}

func setters() []setter {
	return []setter{
		{"scheme", func(p *Plan, v string) (err error) {
			p.Scheme, err = ParseScheme(v)
			p.Compare = nil
			return err
		}},
		{"load", number(func(p *Plan) *float64 { return &p.Load })},
		{"estimates", text(func(p *Plan) *string { return &p.Estimates })},
		{"phi", span(func(p *Plan) *protocol.Duration { return &p.Peer.Phi })},
		{"sigma", span(func(p *Plan) *protocol.Duration { return &p.Peer.Sigma })},
		{"delta", number(func(p *Plan) *float64 { return &p.Peer.Delta })},
		{"epsilon", span(func(p *Plan) *protocol.Duration { return &p.Peer.Epsilon })},
		{"normalise", text(func(p *Plan) *string { return &p.Peer.Normalise })},
		{"delay_price", func(p *Plan, v string) error { return decimalTo(&p.Peer.Delay, v) }},
		{"weight", share(func(p *Plan) *settings.Share { return &p.Peer.Weight })},
		{"scale", count(func(p *Plan) *int { return &p.Peer.Scale })},
		{"marginal", count(func(p *Plan) *int { return &p.Peer.Marginal })},
		{"recheck", count(func(p *Plan) *int { return &p.Peer.Recheck })},
		{"draw", count(func(p *Plan) *int { return &p.Peer.Draw })},
		{"stay", yes(func(p *Plan) *bool { return &p.Peer.Stay })},
		{"round_jobs", count(func(p *Plan) *int { return &p.Peer.RoundJobs })},
		{"ask", count(func(p *Plan) *int { return &p.Peer.Ask })},
		{"partners", count(func(p *Plan) *int { return &p.Peer.Partners })},
		{"cycle", span(func(p *Plan) *protocol.Duration { return &p.Peer.Cycle })},
		{"max_q", count(func(p *Plan) *int { return &p.Peer.MaxQ })},
		{"waits", text(func(p *Plan) *string { return &p.Peer.Waits })},
		{"perturb", span(func(p *Plan) *protocol.Duration { return &p.Peer.Perturb })},
		{"protect_share", share(func(p *Plan) *settings.Share { return &p.Protect.Share })},
		{"protect_delay", span(func(p *Plan) *protocol.Duration { return &p.Protect.Delay })},
		{"history", count(func(p *Plan) *int { return &p.History })},
		{"grid_share", share(func(p *Plan) *settings.Share { return &p.GridShare })},
		{"forecast", text(func(p *Plan) *string { return &p.Electricity.Forecast })},
		{"budget_kw", perBudget(func(b *SitePower, v string) error { return decimalTo(&b.Budget, v) })},
		{"budget_mode", perBudget(func(b *SitePower, v string) error {
			b.Mode = v
			return nil
		})},
		{"power_low", number(func(p *Plan) *float64 { return &p.Power.Low })},
		{"power_high", number(func(p *Plan) *float64 { return &p.Power.High })},
		{"data_size", func(p *Plan, v string) (err error) {
			p.Data.Size, err = ParseBytes(v)
			return err
		}},
		{"latency", span(func(p *Plan) *protocol.Duration { return &p.Network.Latency })},
		{"jitter", span(func(p *Plan) *protocol.Duration { return &p.Network.Jitter })},
		{"loss", number(func(p *Plan) *float64 { return &p.Network.Loss })},
		{"duplicate", number(func(p *Plan) *float64 { return &p.Network.Duplicate })},
		{"policy", func(p *Plan, v string) error {
			for i := range p.Sites {
				p.Sites[i].Policy = v
			}
			return nil
		}},
		{"peer_policy", text(func(p *Plan) *string { return &p.Peer.Policy })},
		{"bias", perModel(func(w *Workload) *float64 { return &w.Bias })},
		{"service", perModel(func(w *Workload) *float64 { return &w.Service })},
	}
}

func text(of func(*Plan) *string) func(*Plan, string) error {
	return func(p *Plan, value string) error {
		*of(p) = value
		return nil
	}
}

func number(of func(*Plan) *float64) func(*Plan, string) error {
	return func(p *Plan, value string) (err error) {
		*of(p), err = parseNumber(value)
		return err
	}
}

func parseNumber(value string) (float64, error) {
	x, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return 0, errors.New("write a number, as 0.7")
	}
	return x, nil
}

func share(of func(*Plan) *settings.Share) func(*Plan, string) error {
	return func(p *Plan, value string) error { return decimalTo(of(p), value) }
}

// perModel sets a key of all workloads that come from models.
func perModel(of func(*Workload) *float64) func(*Plan, string) error {
	return func(p *Plan, value string) error {
		x, err := parseNumber(value)
		if err != nil {
			return err
		}
		models := 0
		for i := range p.Workloads {
			if w := &p.Workloads[i]; w.Trace == "" && !w.ofGrid() {
				*of(&p.Workloads[i]) = x
				models++
			}
		}
		if models == 0 {
			return errors.New("no workload comes from a model")
		}
		return nil
	}
}

func count(of func(*Plan) *int) func(*Plan, string) error {
	return func(p *Plan, value string) (err error) {
		if *of(p), err = strconv.Atoi(value); err != nil {
			return errors.New("write a whole number, as 12")
		}
		return nil
	}
}

func yes(of func(*Plan) *bool) func(*Plan, string) error {
	return func(p *Plan, value string) (err error) {
		if *of(p), err = strconv.ParseBool(value); err != nil {
			return errors.New("write true or false")
		}
		return nil
	}
}

func span(of func(*Plan) *protocol.Duration) func(*Plan, string) error {
	return func(p *Plan, value string) (err error) {
		*of(p), err = settings.ParseDuration(value)
		return err
	}
}
