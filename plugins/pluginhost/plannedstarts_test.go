package pluginhost_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// planner is a scheduler with a plan, and in the order of priorities.
type planner struct {
	memory

	starts     []localsched.PlannedStart
	priorities []localsched.Priority
}

func (p *planner) PlannedStarts(_ context.Context, tags []protocol.Tag) ([]localsched.PlannedStart, error) {
	if len(tags) == 0 {
		return nil, errors.New("asked for nothing")
	}
	return p.starts, nil
}

func (p *planner) SetPriorities(_ context.Context, priorities []localsched.Priority) error {
	p.priorities = priorities
	return nil
}

// TestPlannedStarts: what is around a built-in scheduler passes planned starts and priorities on. Starts of jobs that were not
// asked about, or of no instant, are refused. A scheduler without a plan has none.
func TestPlannedStarts(t *testing.T) {
	t.Parallel()
	first, second := tagOf(1), tagOf(2)
	for name, c := range map[string]struct {
		starts []localsched.PlannedStart
		wrong  string
	}{
		"one is not planned": {starts: []localsched.PlannedStart{{Tag: second, Start: 7}}},
		"not asked about":    {starts: []localsched.PlannedStart{{Tag: tagOf(3), Start: 7}}, wrong: "not asked about"},
		"twice":              {starts: []localsched.PlannedStart{{Tag: first, Start: 7}, {Tag: first, Start: 7}}, wrong: "two planned starts"},
		"no instant":         {starts: []localsched.PlannedStart{{Tag: first}}, wrong: "is 0"},
		"before all time":    {starts: []localsched.PlannedStart{{Tag: first, Start: -7}}, wrong: "is -7"},
	} {
		s := localsched.WithTariff(pluginhost.CheckedScheduler(&planner{starts: c.starts}), localsched.Tariff{})
		got, err := localsched.PlannedStarts(t.Context(), s, []protocol.Tag{first, second})
		if c.wrong == "" && (err != nil || !reflect.DeepEqual(got, c.starts)) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%s: %v, %v; want %s", name, got, err, c.wrong)
		}
	}
	ordered, want := &planner{}, []localsched.Priority{{Tag: first, Priority: 5}}
	s := localsched.WithTariff(pluginhost.CheckedScheduler(ordered), localsched.Tariff{})
	if err := localsched.SetPriorities(t.Context(), s, want); err != nil || !reflect.DeepEqual(ordered.priorities, want) {
		t.Errorf("the scheduler got the priorities %v, %v", ordered.priorities, err)
	}
	plain := pluginhost.CheckedScheduler(&memory{})
	if got, err := localsched.PlannedStarts(t.Context(), plain, []protocol.Tag{first}); err != nil || len(got) != 0 {
		t.Errorf("a scheduler without a plan: %v, %v", got, err)
	}
	if err := localsched.SetPriorities(t.Context(), plain, want); err != nil {
		t.Error(err)
	}
}
