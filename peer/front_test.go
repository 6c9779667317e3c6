package peer_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestFront: a question for the choices of an application goes to the policy, if that lays them out, else
// to the built-in one that does, and the answer has the sites by their names.
func TestFront(t *testing.T) {
	t.Parallel()
	laid := policy.ParetoFront{Currency: "CHF", More: true, Gap: 3, Points: []policy.FrontPoint{{
		Time: protocol.Hour, Cost: 5, Chosen: true, Choices: []policy.FrontChoice{{Site: 1, CPUs: 2, Wait: 3, Run: 4, Cost: 5}},
	}}}
	seen := &view.ParetoFront{Currency: "CHF", Truncated: true, Gap: 3, Points: []view.ParetoPoint{{
		Time: protocol.Hour, Cost: 5, Chosen: true, Choices: []view.ParetoChoice{{Site: "b", CPUs: 2, Wait: 3, Run: 4, Cost: 5}},
	}}}
	why := func(text string) *view.ParetoFront {
		return &view.ParetoFront{Points: []view.ParetoPoint{}, Reason: "the choices could not be found: " + text}
	}
	for name, tt := range map[string]struct {
		policy, builtIn bool // who lays choices out
		alone           bool // the jobs are no application
		fails           error
		asked           []bool // whether the built-in one is
		want            *view.ParetoFront
	}{
		"the policy":       {true, true, false, nil, []bool{false}, seen},
		"the built-in one": {false, true, false, nil, []bool{true}, seen},
		"nobody":           {false, false, false, nil, nil, why("the policy greedy of this site lays out none")},
		"several of them":  {true, true, true, nil, nil, why("the jobs are of several applications; ask about one")},
		"one that fails":   {true, true, false, errors.New("no flow"), []bool{false}, why("no flow")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, _ := seeing(t, nil, func(c *rules.Config) {
				c.Fronts = tt.builtIn
				if tt.policy {
					c.Policy.Can = append(c.Policy.Can, policy.ParetoFronts)
				}
			})
			answer := l.calls
			var asked []bool
			l.calls = func(op event.Op) (event.Result, error) {
				if front, ok := op.(event.ParetoOp); ok {
					asked = append(asked, front.BuiltIn)
					return event.ParetoResult{Front: laid}, tt.fails
				}
				return answer(op)
			}
			ev := moldable()
			question := event.TestSubmit{Asked: 1, User: ev.User, Jobs: ev.Jobs, Application: ev.Application, Front: true}
			if tt.alone {
				question.Application = nil
			}
			l.step(question)
			if len(l.answers) == 0 {
				l.answerQuotes()
			}
			quoted, ok := l.answers[0].(view.TestSubmitResult)
			if !ok || len(quoted.Jobs) != 2 || !reflect.DeepEqual(quoted.Front, tt.want) || !reflect.DeepEqual(asked, tt.asked) {
				t.Errorf("asked %v, got %+v, want %+v", asked, l.answers[0], tt.want)
			}
		})
	}
}
