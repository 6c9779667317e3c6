package main

import (
	"context"
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// listApplications prints the applications of the jobs that were asked for, each as one.
func (a *app) listApplications(jobs []view.Job) error {
	all := display.Applications(jobs)
	return a.showTable(map[string]any{"applications": all}, func() *console.Table { return display.ApplicationTable(all) })
}

// components are the jobs of an application that have not ended. The name may be that of any of
// its components.
func (a *app) components(ctx context.Context, name protocol.JobName) ([]protocol.JobID, error) {
	job, err := a.client().Job(ctx, name)
	if err != nil {
		return nil, err
	}
	if job.Application == 0 {
		return nil, &exitError{exitNotFound, fmt.Errorf("job %v is not a component of an application; cancel it without --application", name)}
	}
	queue, err := a.client().Queue(ctx, api.Listing{QueueFilter: view.QueueFilter{Application: job.Application, Guests: view.WithoutGuests}})
	if err != nil {
		return nil, err
	}
	var open []protocol.JobID
	for i := range queue.Jobs {
		open = append(open, queue.Jobs[i].ID)
	}
	if len(open) == 0 {
		return nil, fmt.Errorf("all components of the application of job %v have already ended", job.Application)
	}
	return open, nil
}
