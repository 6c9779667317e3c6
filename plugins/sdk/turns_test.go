package sdk_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	localschedv1 "github.com/switchyard-hpc/switchyard/protocol/localsched/v1"
)

// slow is a batch system whose submissions last until they are let through, whatever
// their context says.
type slow struct {
	localsched.Scheduler
	begun chan protocol.Tag // told of each submission
	let   chan struct{}     // lets one through; closed: all

	mu   sync.Mutex
	jobs map[protocol.Tag]int // how often each came
}

func newSlow() *slow {
	return &slow{begun: make(chan protocol.Tag, 1000), let: make(chan struct{}), jobs: map[protocol.Tag]int{}}
}

func (s *slow) Submit(_ context.Context, job localsched.Submission) (localsched.LocalID, error) {
	s.begun <- job.Tag
	<-s.let
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs[job.Tag]++
	return "slow", nil
}

func (s *slow) FindByTag(_ context.Context, tag protocol.Tag) (localsched.Presence, localsched.LocalID, error) {
	if s.came(tag) > 0 {
		return localsched.Present, "slow", nil
	}
	return localsched.Absent, "", nil
}

func (s *slow) Withdraw(_ context.Context, tag protocol.Tag) (localsched.Withdrawal, error) {
	if s.came(tag) > 0 {
		return localsched.Started, nil
	}
	return 0, localsched.ErrUnknownJob
}

func (s *slow) came(tag protocol.Tag) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.jobs[tag]
}

// client serves the batch system as a plugin.
func (s *slow) client(t *testing.T) localschedv1.SchedulerClient {
	t.Helper()
	return localschedv1.NewSchedulerClient(configured(t, sdk.Scheduler[struct{}]{
		Name: "slow", Version: "1", Make: func(struct{}, sdk.Host) (localsched.Scheduler, error) { return s, nil },
	}, ""))
}

func tagOf(n int) protocol.Tag {
	return protocol.Tag{Job: protocol.NewJobID(1, uint64(n)), Epoch: 1}
}

func submitRequest(t *testing.T, tag protocol.Tag) *localschedv1.SubmitRequest {
	t.Helper()
	m, err := localschedv1.EncodeSubmission(localsched.Submission{
		Tag: tag, Origin: "north", Account: "alice", Payload: &protocol.Payload{Script: []byte("#!/bin/sh\n")},
		Spec: protocol.Spec{Request: protocol.Request{Job: tag.Job, CPUs: 1, WallTime: protocol.Minute}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func wantCode(t *testing.T, err error, want codes.Code) {
	t.Helper()
	if status.Code(err) != want {
		t.Errorf("got the error %v, want %v", err, want)
	}
}

// A submission that the host has given up is answered for: while it lasts, nothing is
// said of its job, and of other jobs all.
func TestGivenUpSubmissionHoldsItsTag(t *testing.T) {
	t.Parallel()
	batch := newSlow()
	client := batch.client(t)
	const patience = 100 * time.Millisecond
	job, other := &localschedv1.TagRequest{Tag: commonv1.EncodeTag(tagOf(1))}, &localschedv1.TagRequest{Tag: commonv1.EncodeTag(tagOf(2))}

	giveUp, cancel := context.WithCancel(t.Context())
	go func() {
		<-batch.begun
		cancel()
	}()
	_, err := client.Submit(giveUp, submitRequest(t, tagOf(1)))
	wantCode(t, err, codes.Canceled)
	short, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err = client.FindByTag(short, job)
	wantCode(t, err, codes.DeadlineExceeded)
	_, err = client.Withdraw(short, job)
	wantCode(t, err, codes.DeadlineExceeded)
	_, err = client.Submit(short, submitRequest(t, tagOf(1)))
	wantCode(t, err, codes.DeadlineExceeded)
	found, err := client.FindByTag(t.Context(), other)
	if err != nil || found.GetPresence() != localschedv1.FindByTagResponse_PRESENCE_ABSENT {
		t.Errorf("another job is %v, %v", found, err)
	}

	close(batch.let)
	found, err = client.FindByTag(t.Context(), job)
	if err != nil || found.GetPresence() != localschedv1.FindByTagResponse_PRESENCE_PRESENT {
		t.Errorf("the job is %v, %v", found, err)
	}
	if n := batch.came(tagOf(1)); n != 1 {
		t.Errorf("the job came %d times, though its second submission was given up before its turn", n)
	}
}

// What is absent once stays so, whenever the host gives a submission up.
func TestAbsentIsForGood(t *testing.T) {
	t.Parallel()
	batch := newSlow()
	close(batch.let)
	client := batch.client(t)
	const jobs = 500
	var absent []protocol.Tag
	for n := range jobs {
		tag := tagOf(n + 1)
		giveUp, cancel := context.WithTimeout(t.Context(), time.Duration(n)*time.Microsecond)
		_, err := client.Submit(giveUp, submitRequest(t, tag))
		cancel()
		found, findErr := client.FindByTag(t.Context(), &localschedv1.TagRequest{Tag: commonv1.EncodeTag(tag)})
		if findErr != nil {
			t.Fatal(findErr)
		}
		switch found.GetPresence() {
		case localschedv1.FindByTagResponse_PRESENCE_ABSENT:
			absent = append(absent, tag)
			if err == nil {
				t.Errorf("job %v was submitted and is absent", tag)
			}
		case localschedv1.FindByTagResponse_PRESENCE_PRESENT:
		case localschedv1.FindByTagResponse_PRESENCE_UNSPECIFIED:
			t.Errorf("job %v is unclear", tag)
		}
	}
	for _, tag := range absent {
		if n := batch.came(tag); n > 0 {
			t.Errorf("job %v was absent and came afterwards", tag)
		}
	}
	t.Logf("%d of %d submissions were given up in time", len(absent), jobs)
}
