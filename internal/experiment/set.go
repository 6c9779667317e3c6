package experiment

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/config"
)

// Setting is a key of a plan with a value for it, as people write them.
type Setting struct {
	Key   string
	Value string
}

// SettableKeys returns the keys that [Plan.With] knows without their tables, sorted.
func SettableKeys() []string {
	keys := slices.Collect(maps.Keys(shortKeys()))
	return slices.Sorted(slices.Values(slices.AppendSeq(keys, maps.Keys(setters()))))
}

// With returns a plan that differs in these settings: of [SettableKeys], or of any key by
// its tables, where those of sites, applications and curves go by their names and that of a workload by its site, as
// "site.farm.cost.cpu.price" or "default_weights.wait_weight". The error names the key and what it may
// be.
func (p *Plan) With(changes ...Setting) (*Plan, error) {
	changed := p.clone()
	for _, one := range changes {
		set, special := setters()[one.Key]
		path, short := shortKeys()[one.Key]
		var err error
		switch {
		case special:
			err = set(changed, one.Value)
		case short:
			err = changed.setPath(path, one.Value)
		case strings.Contains(one.Key, "."):
			err = changed.setPath(one.Key, one.Value)
		default:
			return nil, unsettable(one.Key)
		}
		if err != nil {
			return nil, &KeyError{Key: one.Key, Value: one.Value, Err: err}
		}
	}
	c := changed.newChecker()
	changed.checkTables(c)
	changed.check(c)
	if err := c.fault(); err != nil {
		return nil, err
	}
	return changed, nil
}

// Has says whether the plan has this value already: [Plan.With] would return the same plan. It is false if the value
// cannot be set.
func (p *Plan) Has(one Setting) bool {
	changed, err := p.With(one)
	if err != nil {
		return false
	}
	// What is not exported follows from the keys, or says where they stand.
	before, after := reflect.ValueOf(p).Elem(), reflect.ValueOf(changed).Elem()
	for i := range before.NumField() {
		if before.Type().Field(i).IsExported() && !reflect.DeepEqual(before.Field(i).Interface(), after.Field(i).Interface()) {
			return false
		}
	}
	return true
}

func unsettable(key string) error {
	for _, one := range settings.Renames() {
		old := strings.ReplaceAll(one.Old, ".", "_") // as protect_share and peer_policy
		if _, name, _ := strings.Cut(one.Old, "."); (old == key || name == key) && !strings.HasPrefix(one.New, "[") {
			now := one.New
			if _, last, _ := strings.Cut(now, "."); setters()[last] != nil { // that of all workloads
				now = last
			}
			return fmt.Errorf("%q is now %q", key, now)
		}
	}
	return fmt.Errorf("%q cannot be set; use %s, or any key with its tables, as policy.name or site.NAME.cost.cpu.price", key, strings.Join(SettableKeys(), ", "))
}

// shortKeys are the keys of the plan's tables that go by their names alone, or by a short one.
func shortKeys() map[string]string {
	keys := map[string]string{
		"forecast": "electricity.forecast", "power_low": "power.low", "power_high": "power.high", "data_size": "data.size",
	}
	for table, names := range map[string][]string{
		"": {"load", "estimates", "history", "grid_share", "partners", "perturb"},
		"rounds": {
			"local_wait_threshold", "check_interval", "volunteer_below", "recheck_jobs", "jobs_per_volunteer", "stay_local", "round_jobs",
			"partners_per_round", "cycle_interval", "max_jobs_per_cycle",
		},
		"guest_limits": {"max_cpu_share", "max_owner_delay"},
		"localsched":   {"wait_prediction"},
		"policy.tc":    {"turnaround_tolerance"},
		"policy.mcmf":  {"normalise", "delay_price", "weight", "cost_steps", "marginal_jobs"},
		"network":      {"latency", "jitter", "loss", "duplicate"},
	} {
		for _, name := range names {
			keys[name] = settings.Join(table, name)
		}
	}
	return keys
}

// setters change what stands in several tables, or is more than the value of one key.
func setters() map[string]func(p *Plan, value string) error {
	return map[string]func(p *Plan, value string) error{
		"scheme": func(p *Plan, v string) (err error) {
			p.Scheme, err = ParseScheme(v)
			p.Compare = nil
			return err
		},
		"budget_kw": perBudget(func(b *config.Power, v string) error { return decimalTo(&b.Budget, v) }),
		"budget_mode": perBudget(func(b *config.Power, v string) error {
			b.Mode = v
			return nil
		}),
		"policy": func(p *Plan, v string) error {
			for i := range p.Sites {
				p.Sites[i].scheduledBy(p, v)
			}
			return nil
		},
		"bias":    perModel(func(w *Workload) *float64 { return &w.Bias }),
		"service": perModel(func(w *Workload) *float64 { return &w.Service }),
		"size_unit": func(p *Plan, v string) error {
			return p.ofModels(func(w *Workload) { w.SizeUnit = v })
		},
	}
}

func parseNumber(value string) (float64, error) {
	x, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return 0, errors.New("write a number, as 0.7")
	}
	return x, nil
}

// perModel sets a key of all workloads that come from models.
func perModel(of func(*Workload) *float64) func(*Plan, string) error {
	return func(p *Plan, value string) error {
		x, err := parseNumber(value)
		if err != nil {
			return err
		}
		return p.ofModels(func(w *Workload) { *of(w) = x })
	}
}

// ofModels changes all workloads that come from models.
func (p *Plan) ofModels(change func(*Workload)) error {
	models := 0
	for i := range p.Workloads {
		if w := &p.Workloads[i]; w.Trace == "" && !w.ofGrid() {
			change(w)
			models++
		}
	}
	if models == 0 {
		return errors.New("no workload comes from a model")
	}
	return nil
}
