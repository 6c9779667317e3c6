package localschedtest_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/engine"
	"github.com/switchyard-hpc/switchyard/localsched/localschedtest"
	"github.com/switchyard-hpc/switchyard/plugins/conformance"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// newEngine is a built-in engine.
func newEngine(policy engine.Policy, capacity protocol.Capacity) localsched.Engine {
	if capacity.WholeNode {
		return engine.New(engine.WholeNode(capacity), policy).Fallible()
	}
	return engine.New(engine.PerCPU(capacity), policy).Fallible()
}

func TestBuiltInEngines(t *testing.T) {
	t.Parallel()
	for _, name := range engine.Names() {
		policy, err := engine.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			localschedtest.TestEngine(t, localschedtest.EngineTarget{
				Open: func(capacity protocol.Capacity) (localsched.Engine, error) { return newEngine(policy, capacity), nil },
			})
		})
	}
}

type (
	actions = localsched.Actions
	planned = []localsched.Planned
)

// wrongEngine is a right engine but for one thing.
type wrongEngine struct {
	localsched.Engine
	submit   func(now protocol.Instant, job localsched.Queued, right actions, err error) (actions, error)
	withdraw func(tag protocol.Tag, right actions, err error) (actions, error)
	finished func(tag protocol.Tag, right actions, err error) (actions, error)
	tick     func(now protocol.Instant, right actions) actions
	plan     func(now protocol.Instant, ahead, jobs []protocol.Request, right planned) planned
}

func (w *wrongEngine) Submit(now protocol.Instant, job localsched.Queued) (actions, error) {
	right, err := w.Engine.Submit(now, job)
	if w.submit == nil {
		return right, err
	}
	return w.submit(now, job, right, err)
}

func (w *wrongEngine) Withdraw(now protocol.Instant, tag protocol.Tag) (actions, error) {
	right, err := w.Engine.Withdraw(now, tag)
	if w.withdraw == nil {
		return right, err
	}
	return w.withdraw(tag, right, err)
}

func (w *wrongEngine) Finished(now protocol.Instant, tag protocol.Tag) (actions, error) {
	right, err := w.Engine.Finished(now, tag)
	if w.finished == nil {
		return right, err
	}
	return w.finished(tag, right, err)
}

func (w *wrongEngine) Tick(now protocol.Instant) (actions, error) {
	right, err := w.Engine.Tick(now)
	if w.tick == nil {
		return right, err
	}
	return w.tick(now, right), err
}

func (w *wrongEngine) Plan(now protocol.Instant, ahead, jobs []protocol.Request) (planned, error) {
	right, err := w.Engine.Plan(now, ahead, jobs)
	if w.plan == nil {
		return right, err
	}
	return w.plan(now, ahead, jobs, right), err
}

// wrongEngines are engines by the case that must catch them, and what they do.
func wrongEngines() []struct {
	rule, what string
	open       func(right localsched.Engine) localsched.Engine
} {
	opened := 0
	return []struct {
		rule, what string
		open       func(right localsched.Engine) localsched.Engine
	}{
		{"never more runs than the machine holds, and every job starts", "starts all at once", func(right localsched.Engine) localsched.Engine {
			return &wrongEngine{Engine: right, submit: func(_ protocol.Instant, job localsched.Queued, right actions, err error) (actions, error) {
				if err == nil && !slices.Contains(right.Starts, job.Tag) {
					right.Starts = append(right.Starts, job.Tag)
				}
				return right, err
			}}
		}},
		{"never more runs than the machine holds, and every job starts", "forgets what an end makes room for", func(right localsched.Engine) localsched.Engine {
			return &wrongEngine{Engine: right, finished: func(_ protocol.Tag, right actions, err error) (actions, error) {
				right.Starts = nil
				return right, err
			}}
		}},
		{"never more runs than the machine holds, and every job starts", "starts nothing", func(right localsched.Engine) localsched.Engine {
			return &wrongEngine{Engine: right, submit: func(protocol.Instant, localsched.Queued, actions, error) (actions, error) {
				return actions{}, nil
			}}
		}},
		{"a job is ended at its limit, once", "does not wake", func(right localsched.Engine) localsched.Engine {
			return &wrongEngine{Engine: right, finished: func(_ protocol.Tag, right actions, err error) (actions, error) {
				right.Wake = 0
				return right, err
			}}
		}},
		{"a job is ended at its limit, once", "kills nobody", func(right localsched.Engine) localsched.Engine {
			return &wrongEngine{Engine: right, tick: func(_ protocol.Instant, right actions) actions {
				right.Kills = nil
				return right
			}}
		}},
		{"a job is ended at its limit, once", "kills twice", func(right localsched.Engine) localsched.Engine {
			return &wrongEngine{Engine: right, tick: func(_ protocol.Instant, right actions) actions {
				right.Kills = append(right.Kills, right.Kills...)
				return right
			}}
		}},
		{"a job is ended at its limit, once", "wakes without end", func(right localsched.Engine) localsched.Engine {
			return &wrongEngine{Engine: right, tick: func(now protocol.Instant, right actions) actions {
				right.Kills, right.Wake = nil, now
				return right
			}}
		}},
		{"equal input gets equal output", "each second engine is lazy", func(right localsched.Engine) localsched.Engine {
			lazy := opened%2 == 1
			opened++
			return &lifo{Engine: right, lazy: lazy}
		}},
		{"plans change nothing", "plans take room", func(right localsched.Engine) localsched.Engine {
			n := 0
			return &wrongEngine{Engine: right, plan: func(now protocol.Instant, ahead, _ []protocol.Request, planned planned) planned {
				n++
				for _, request := range ahead {
					request.CPUs = 1
					_, _ = right.Submit(now, localsched.Queued{Request: request, Tag: protocol.Tag{Job: 7, Epoch: protocol.Epoch(n)}})
				}
				return planned
			}}
		}},
		{"a plan comes true when nothing else comes", "plans without what is ahead", func(right localsched.Engine) localsched.Engine {
			return &wrongEngine{Engine: right, plan: func(now protocol.Instant, _, jobs []protocol.Request, _ planned) planned {
				alone, _ := right.Plan(now, nil, jobs)
				return alone
			}}
		}},
		{"a plan comes true when nothing else comes", "plans too late", func(right localsched.Engine) localsched.Engine {
			return &wrongEngine{Engine: right, plan: func(_ protocol.Instant, _, _ []protocol.Request, planned planned) planned {
				for i := range planned {
					planned[i].Start++
				}
				return planned
			}}
		}},
		{"a plan declines what never fits", "declines nothing", func(right localsched.Engine) localsched.Engine {
			return &wrongEngine{Engine: right, plan: func(_ protocol.Instant, _, _ []protocol.Request, planned planned) planned {
				for i := range planned {
					planned[i].Declined = ""
				}
				return planned
			}}
		}},
		{"a plan declines what never fits", "leaves out what it declines", func(right localsched.Engine) localsched.Engine {
			return &wrongEngine{Engine: right, plan: func(_ protocol.Instant, _, _ []protocol.Request, all planned) planned {
				return slices.DeleteFunc(all, func(p localsched.Planned) bool { return p.Declined != "" })
			}}
		}},
		{"a job that never fits is refused", "takes anything", func(right localsched.Engine) localsched.Engine {
			return &wrongEngine{Engine: right, submit: func(_ protocol.Instant, _ localsched.Queued, right actions, _ error) (actions, error) {
				return right, nil
			}}
		}},
		{"a job that never fits is refused", "gives no reason", func(right localsched.Engine) localsched.Engine {
			return &wrongEngine{Engine: right, submit: func(_ protocol.Instant, _ localsched.Queued, right actions, err error) (actions, error) {
				if err != nil {
					err = errors.New("no")
				}
				return right, err
			}}
		}},
		{"a tag that waits or runs is not taken again", "takes it", func(right localsched.Engine) localsched.Engine {
			return &wrongEngine{Engine: right, submit: func(_ protocol.Instant, _ localsched.Queued, right actions, _ error) (actions, error) {
				return right, nil
			}}
		}},
		{"a job that runs is not withdrawn", "says that it is", func(right localsched.Engine) localsched.Engine {
			return &wrongEngine{Engine: right, withdraw: func(_ protocol.Tag, right actions, _ error) (actions, error) {
				return right, nil
			}}
		}},
		{"a withdrawn job never starts", "withdraws in word only", func(right localsched.Engine) localsched.Engine {
			return &deaf{Engine: right}
		}},
		{"jobs that are not there are unknown", "knows them all", func(right localsched.Engine) localsched.Engine {
			return &wrongEngine{Engine: right, finished: func(_ protocol.Tag, right actions, _ error) (actions, error) {
				return right, nil
			}}
		}},
		{"time that runs back counts as the latest", "goes back", func(right localsched.Engine) localsched.Engine {
			return &wrongEngine{Engine: right, plan: func(now protocol.Instant, _, _ []protocol.Request, planned planned) planned {
				for i := range planned {
					planned[i].Start = now
				}
				return planned
			}}
		}},
	}
}

// lifo starts what a call starts in the other order.
type lifo struct {
	localsched.Engine
	lazy bool
}

func (l *lifo) Finished(now protocol.Instant, tag protocol.Tag) (actions, error) {
	a, err := l.Engine.Finished(now, tag)
	if l.lazy {
		slices.Reverse(a.Starts)
	}
	return a, err
}

// deaf says that it withdraws, and does not.
type deaf struct{ localsched.Engine }

func (d *deaf) Withdraw(now protocol.Instant, _ protocol.Tag) (actions, error) {
	return d.Tick(now)
}

// TestWrongEnginesAreCaught: by the case that is about what is wrong with them, on
// both machines.
func TestWrongEnginesAreCaught(t *testing.T) {
	t.Parallel()
	for _, wrong := range wrongEngines() {
		target := localschedtest.EngineTarget{Open: func(capacity protocol.Capacity) (localsched.Engine, error) {
			return wrong.open(newEngine(engine.EASY(), capacity)), nil
		}}
		for _, on := range []string{"shared", "whole nodes"} {
			name := on + ": " + wrong.rule
			cases := slices.DeleteFunc(localschedtest.EngineCases(target), func(c conformance.Case) bool { return c.Name != name })
			if results := conformance.Run(t.Context(), cases, nil); len(results) != 1 || results[0].Err == nil {
				t.Errorf("%q does not catch an engine that %s: %+v", name, wrong.what, results)
			} else {
				t.Logf("%s (%s): %.150v", name, wrong.what, results[0].Err)
			}
		}
	}
}

// TestEveryEngineRuleHasItsWrongEngine keeps the list above whole.
func TestEveryEngineRuleHasItsWrongEngine(t *testing.T) {
	t.Parallel()
	caught := map[string]bool{}
	for _, wrong := range wrongEngines() {
		caught["shared: "+wrong.rule], caught["whole nodes: "+wrong.rule] = true, true
	}
	for _, c := range localschedtest.EngineCases(localschedtest.EngineTarget{}) {
		if !caught[c.Name] {
			t.Errorf("no wrong engine is made for the case %q", c.Name)
		}
	}
}

// TestEngineMachines: an engine may have no model of a machine; then its cases do
// not apply. Another trouble is an error.
func TestEngineMachines(t *testing.T) {
	t.Parallel()
	target := localschedtest.EngineTarget{Open: func(capacity protocol.Capacity) (localsched.Engine, error) {
		if capacity.WholeNode {
			return nil, fmt.Errorf("whole nodes: %w", localschedtest.ErrNoSuchMachine)
		}
		return nil, errors.New("no license")
	}}
	for _, r := range conformance.Run(t.Context(), localschedtest.EngineCases(target), nil) {
		if (r.Skipped == "") == (r.Err == nil) {
			t.Errorf("got %+v", r)
		}
	}
}
