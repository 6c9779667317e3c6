package node

import (
	"errors"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/iss"
)

// front finds the choices that an application leaves between cost and time. Whatever policy
// decides, they are found by the cost model of [IS 4.2]; if that decides, as it does.
func front(in policy.Snapshot, decider policy.Info) (peer.Result, error) {
	broker, err := iss.New(iss.Default())
	if decider.Name == iss.Name {
		broker, err = iss.Restore(decider.Params)
	}
	if err != nil {
		return nil, err
	}
	if len(in.Applications) != 1 {
		return nil, errors.New("the jobs are of several applications; ask about one")
	}
	found, err := broker.Front(in, 0)
	if err != nil {
		return nil, err
	}
	out := view.ParetoFront{Currency: found.Currency, More: found.More, Gap: found.Gap, Why: found.Why, Points: []view.ParetoPoint{}}
	for _, point := range found.Points {
		told := view.ParetoPoint{Time: point.Time, Cost: point.Cost, Chosen: point.Chosen}
		for _, c := range point.Choices {
			told.Choices = append(told.Choices, view.ParetoChoice{
				Site: in.Sites[c.Site].Name, CPUs: c.CPUs, Wait: c.Wait, Run: c.Run, Cost: c.Cost,
			})
		}
		out.Points = append(out.Points, told)
	}
	return peer.FrontResult{Front: out}, nil
}
