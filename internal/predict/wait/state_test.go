package wait_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/predict/wait"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const second = protocol.Instant(protocol.Second)

// TestFeaturesByHand has one user's jobs and another's in a queue, and a third
// queue that none of them sees.
func TestFeaturesByHand(t *testing.T) {
	t.Parallel()
	s := wait.NewState(100)
	const ann, ben = 1, 2
	for _, job := range []wait.Job{
		{ID: 1, User: ann, CPUs: 10, Estimate: 100 * protocol.Second},
		{ID: 2, User: ben, CPUs: 20, Estimate: 200 * protocol.Second},
		{ID: 3, User: ann, CPUs: 30, Estimate: 300 * protocol.Second},
		{ID: 4, User: ben, CPUs: 40, Estimate: 400 * protocol.Second},
		{ID: 5, User: ann, Queue: 7, CPUs: 25, Estimate: 500 * protocol.Second},
	} {
		if _, ok := s.Submit(s.Arrival(protocol.Instant(job.ID)*10*second, job)); !ok {
			t.Fatalf("job %d is not taken", job.ID)
		}
	}
	for _, id := range []int64{1, 2, 5} {
		if event, ok := s.Start(60*second, id); !ok || event.Wait != protocol.Duration(60-10*id)*protocol.Second {
			t.Fatalf("job %d starts: %v, waited %v", id, ok, event.Wait)
		}
	}
	got := s.Arrival(70*second, wait.Job{User: ann, CPUs: 8, Estimate: 50 * protocol.Second})
	want := wait.Features{
		wait.FeatureCPUs: 8, wait.FeatureEstimate: 50, wait.FeatureArrival: 70, wait.FeatureFree: 45,
		// Job 3 waits and job 1 runs.
		wait.FeatureUserWaiting: 1, wait.FeatureUserWaitingWork: 9000, wait.FeatureUserWaitingCPUs: 30, wait.FeatureUserWaitingEstimate: 300,
		wait.FeatureUserRunning: 1, wait.FeatureUserRunningWork: 1000, wait.FeatureUserRunningCPUs: 10, wait.FeatureUserRunningEstimate: 100,
		// Jobs 3 and 4 wait since 30 s and 40 s, 1 and 2 run since 60 s.
		wait.FeatureWaitingEstimate: 700, wait.FeatureWaitingCPUs: 70, wait.FeatureWaitingElapsed: 70,
		wait.FeatureRunningEstimate: 300, wait.FeatureRunningCPUs: 30, wait.FeatureRunningElapsed: 20,
	}
	if got.Meets != want || got.Empty {
		t.Errorf("got  %v\nwant %v", got.Meets, want)
	}
	if got := s.Arrival(70*second, wait.Job{Queue: 9, User: ann, CPUs: 1}); got.Meets[wait.FeatureRunningCPUs] != 0 || got.Empty {
		t.Errorf("in a queue of its own a job meets %v, empty: %v", got.Meets, got.Empty)
	}
}

func TestNoUserIsNone(t *testing.T) {
	t.Parallel()
	s := wait.NewState(4)
	s.Submit(s.Arrival(0, wait.Job{ID: 1, User: wait.UnknownUser, CPUs: 2}))
	met := s.Arrival(second, wait.Job{User: wait.UnknownUser, CPUs: 1}).Meets
	if met[wait.FeatureUserWaiting] != 0 || met[wait.FeatureWaitingCPUs] != 2 {
		t.Errorf("a job of an unknown user meets %v", met)
	}
}

func TestStateRefusesNonsense(t *testing.T) {
	t.Parallel()
	s := wait.NewState(4)
	if _, ok := s.Start(0, 1); ok {
		t.Error("an unknown job starts")
	}
	if _, ok := s.Leave(0, 1); ok {
		t.Error("an unknown job leaves")
	}
	s.Submit(s.Arrival(0, wait.Job{ID: 1, CPUs: 1}))
	if _, ok := s.Submit(s.Arrival(0, wait.Job{ID: 1, CPUs: 3})); ok {
		t.Error("a job is submitted twice")
	}
	s.Start(0, 1)
	if _, ok := s.Start(0, 1); ok {
		t.Error("a job starts twice")
	}
	if event, _ := s.Leave(0, 1); event.Kind != wait.Ended {
		t.Errorf("a job that ran leaves as %s", event.Kind)
	}
	if !s.Arrival(0, wait.Job{CPUs: 1}).Empty {
		t.Error("a system that all have left is not empty")
	}
	s.Submit(s.Arrival(0, wait.Job{ID: 2, CPUs: 1 << 62, Estimate: protocol.Never, User: 1}))
	if met := s.Arrival(0, wait.Job{User: 1}).Meets; met[wait.FeatureUserWaitingWork] <= 0 {
		t.Errorf("a huge job is met as %v", met)
	}
}

// life is a random history of jobs, that states observe.
type life struct {
	now  protocol.Instant
	jobs []lived
}

type lived struct {
	job     wait.Job
	since   protocol.Instant
	runs    bool
	present bool
}

// step draws what happens next and tells it.
func (l *life) step(t *rapid.T, tell func(kind wait.Kind, now protocol.Instant, job wait.Job)) {
	l.now += protocol.Instant(rapid.Int64Range(0, 5000).Draw(t, "ms"))
	which := rapid.IntRange(0, len(l.jobs)).Draw(t, "which")
	if which == len(l.jobs) {
		job := wait.Job{
			ID: int64(which), User: rapid.IntRange(-1, 2).Draw(t, "user"), Queue: rapid.IntRange(0, 1).Draw(t, "queue"),
			CPUs: rapid.IntRange(1, 64).Draw(t, "cpus"), Estimate: protocol.Duration(rapid.Int64Range(0, 100_000).Draw(t, "estimate")),
		}
		l.jobs = append(l.jobs, lived{job: job, since: l.now, present: true})
		tell(wait.Submitted, l.now, job)
		return
	}
	one := &l.jobs[which]
	switch {
	case !one.present:
	case one.runs || rapid.Bool().Draw(t, "leaves"):
		one.present = false
		tell(wait.Ended, l.now, one.job)
	default:
		one.runs, one.since = true, l.now
		tell(wait.Started, l.now, one.job)
	}
}

func tellState(s *wait.State, kind wait.Kind, now protocol.Instant, job wait.Job) {
	switch kind {
	case wait.Submitted:
		s.Submit(s.Arrival(now, job))
	case wait.Started:
		s.Start(now, job.ID)
	case wait.Ended, wait.Withdrawn:
		s.Leave(now, job.ID)
	}
}

// TestSumsAreThoseOfTheJobs calculates all features again from the jobs.
func TestSumsAreThoseOfTheJobs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, l := wait.NewState(256), &life{}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			l.step(t, func(kind wait.Kind, now protocol.Instant, job wait.Job) { tellState(s, kind, now, job) })
		}
		asked := wait.Job{ID: -1, User: rapid.IntRange(-1, 2).Draw(t, "user"), CPUs: 1}
		got := s.Arrival(l.now, asked)
		if want := l.features(asked, 256); got.Meets != want {
			t.Fatalf("got  %v\nwant %v", got.Meets, want)
		}
	})
}

// features sums in milliseconds and divides once, as the state does.
func (l *life) features(asked wait.Job, cpus int64) wait.Features {
	var sums [wait.FeatureCount]int64
	for _, one := range l.jobs {
		if !one.present {
			continue
		}
		if one.runs {
			cpus -= int64(one.job.CPUs)
		}
		if one.job.Queue != asked.Queue {
			continue
		}
		own, all := wait.FeatureUserWaiting, wait.FeatureWaitingEstimate
		if one.runs {
			own, all = wait.FeatureUserRunning, wait.FeatureRunningEstimate
		}
		if one.job.User == asked.User && asked.User != wait.UnknownUser {
			sums[own] += 1000
			sums[own+1] += int64(one.job.CPUs) * int64(one.job.Estimate)
			sums[own+2] += 1000 * int64(one.job.CPUs)
			sums[own+3] += int64(one.job.Estimate)
		}
		sums[all] += int64(one.job.Estimate)
		sums[all+1] += 1000 * int64(one.job.CPUs)
		sums[all+2] += int64(l.now - one.since)
	}
	sums[wait.FeatureCPUs] = 1000 * int64(asked.CPUs)
	sums[wait.FeatureArrival] = int64(l.now)
	sums[wait.FeatureFree] = 1000 * max(cpus, 0)
	var f wait.Features
	for i, sum := range sums {
		f[i] = float64(sum) / 1000
	}
	return f
}

// TestNamesAndTimesDoNotMatter: with users renamed and the clock shifted, a job
// meets the same but for its arrival time.
func TestNamesAndTimesDoNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		shift := protocol.Instant(rapid.Int64Range(0, 1<<41).Draw(t, "shift"))
		names := rapid.Permutation([]int{10, 11, 12}).Draw(t, "names")
		renamed := func(job wait.Job) wait.Job {
			if job.User != wait.UnknownUser {
				job.User = names[job.User]
			}
			return job
		}
		here, there, l := wait.NewState(256), wait.NewState(256), &life{}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			l.step(t, func(kind wait.Kind, now protocol.Instant, job wait.Job) {
				tellState(here, kind, now, job)
				tellState(there, kind, now+shift, renamed(job))
			})
		}
		asked := wait.Job{User: 1, CPUs: 3}
		got, want := there.Arrival(l.now+shift, renamed(asked)).Meets, here.Arrival(l.now, asked).Meets
		got[wait.FeatureArrival], want[wait.FeatureArrival] = 0, 0
		if got != want {
			t.Fatalf("got  %v\nwant %v", got, want)
		}
	})
}
