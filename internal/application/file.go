package application

import (
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/settings"
)

// file is an application as it is written down. The keys of components are those of
// options of batch scripts; see [component.options].
type file struct {
	Application applicationTable `toml:"application"`
	Components  []component      `toml:"component"`
}

// applicationTable is the table [application].
type applicationTable struct {
	Name          string `toml:"name"`
	Objective     values `toml:"objective"`
	ComputeWeight values `toml:"compute_weight"`
	WaitWeight    values `toml:"wait_weight"`
	EnergyWeight  values `toml:"energy_weight"`
	DataWeight    values `toml:"data_weight"`
	MaxCost       values `toml:"max_cost"`
	MaxTime       values `toml:"max_time"`
	WaitingCost   values `toml:"waiting_cost"`
	Tolerance     values `toml:"start_tolerance"`
	Missed        values `toml:"start_missed"`
	Rates         []rate `toml:"rate"`
}

// rate is a table [[application.rate]]: what waiting costs from a time after the submission
// on.
type rate struct {
	After   values `toml:"after"`
	PerHour values `toml:"per_hour"`
}

// component is a table [[component]].
type component struct {
	Name          string   `toml:"name"`
	Script        string   `toml:"script"`
	Args          []string `toml:"args"`
	CPUs          values   `toml:"cpus"`
	Nodes         values   `toml:"nodes"`
	Memory        values   `toml:"memory"`
	Time          values   `toml:"time"`
	TimeMin       values   `toml:"time_min"`
	Estimate      values   `toml:"estimate"`
	Licenses      values   `toml:"licenses"`
	Resources     values   `toml:"resources"`
	Features      values   `toml:"features"`
	StageIn       values   `toml:"stage_in"`
	StageOut      values   `toml:"stage_out"`
	DataIn        values   `toml:"data_in"`
	DataOut       values   `toml:"data_out"`
	Sites         values   `toml:"sites"`
	Account       values   `toml:"account"`
	Partition     values   `toml:"partition"`
	QOS           values   `toml:"qos"`
	Requeue       *bool    `toml:"requeue"`
	ComputeWeight values   `toml:"compute_weight"`
	EnergyWeight  values   `toml:"energy_weight"`
	DataWeight    values   `toml:"data_weight"`
	Together      string   `toml:"together"`
	Behavior      behavior `toml:"behavior"`
}

// behavior is the table [component.behavior], for the Γ model.
type behavior struct {
	Operations values `toml:"operations"`
	Accesses   values `toml:"accesses"`
	Sent       values `toml:"sent"`
	Messages   values `toml:"messages"`
	CPUs       values `toml:"cpus"`
	Scaling    values `toml:"scaling"`
}

// values is a text or a number, or a list of such, as options take them: with commas
// between. Empty: not set.
type values string

// UnmarshalTOML implements [settings.Unmarshaler].
func (v *values) UnmarshalTOML(raw any) error {
	list, isList := raw.([]any)
	if !isList {
		list = []any{raw}
	}
	texts := make([]string, len(list))
	for i, one := range list {
		text, ok := valueText(one)
		if !ok {
			return settings.Mismatch(one, `a text or a number, as "2h" or 8`)
		}
		texts[i] = text
	}
	if len(texts) == 0 || texts[0] == "" {
		return settings.Mismatch(raw, "at least one value, or leave the key out")
	}
	*v = values(strings.Join(texts, ","))
	return nil
}

func valueText(raw any) (text string, ok bool) {
	switch one := raw.(type) {
	case string:
		return one, true
	case int64:
		return strconv.FormatInt(one, 10), true
	case float64:
		return strconv.FormatFloat(one, 'f', -1, 64), true
	}
	return "", false
}
