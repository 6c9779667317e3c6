package view_test

import (
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/view"
)

func TestOnlyComponents(t *testing.T) {
	t.Parallel()
	f := view.QueueFilter{Components: true}
	if alone, component := (view.Job{ID: 7}), (view.Job{ID: 8, Application: 8}); f.Matches(&alone) || !f.Matches(&component) {
		t.Errorf("of a job alone and a component it wants %v and %v", f.Matches(&alone), f.Matches(&component))
	}
}
