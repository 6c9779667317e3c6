package main

import (
	"errors"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/view"
)

// pareto prints the choices between cost and time that no other one beats in both.
func (a *app) pareto(quoted view.TestSubmitResult, batch batchscript.Batch) error {
	front := quoted.Front
	if front == nil {
		return errors.New("the peer returned no alternatives between cost and time; its version may differ from this command")
	}
	var err error
	switch {
	case a.json:
		err = a.printJSON(quoted)
	case len(front.Points) > 0:
		err = a.showFront(front, batch)
	}
	if err != nil || front.Reason == "" && len(front.Points) > 0 {
		return err
	}
	if front.Reason != "" && !a.json {
		a.notice("%s", console.Plain(front.Reason))
	}
	return &exitError{code: exitNoSite} // no choice, or none that keeps the limits
}

func (a *app) showFront(front *view.ParetoFront, batch batchscript.Batch) error {
	if front.Gap > 0 {
		a.notice("each alternative costs at most %s more than the cheapest one that is as fast", console.FinePercent(front.Gap))
	}
	names := make([]string, len(batch.Jobs))
	for i := range batch.Jobs {
		names[i] = batch.Jobs[i].Spec.Name
	}
	if front.Truncated {
		a.notice("more alternatives exist than are shown")
	}
	return display.Front(front, names).Write(a.stdout, "", !a.noHeader)
}
