package slurm_test

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// requests are how many requests of clients the controller has served, by their names.
func (c cluster) requests(t testing.TB) map[string]int {
	t.Helper()
	count := map[string]int{}
	line := regexp.MustCompile(`(?m)^\s+(REQUEST_\w+)\s+\(\s*\d+\) count:(\d+)`)
	for _, found := range line.FindAllStringSubmatch(c.must(t, "sdiag"), -1) {
		n, err := strconv.Atoi(found[2])
		if err != nil {
			t.Fatal(err)
		}
		count[found[1]] += n
	}
	delete(count, "REQUEST_STATS_INFO") // sdiag's own
	return count
}

// total is the number of all requests.
func total(count map[string]int) (sum int) {
	for _, n := range count {
		sum += n
	}
	return sum
}

// submitAll submits jobs, some at once.
func (s *site) submitAll(t testing.TB, count int, job func() localsched.Submission) (tags []protocol.Tag) {
	t.Helper()
	var mu sync.Mutex
	inParallel(count, func(int) {
		one := job()
		if _, err := s.Submit(t.Context(), one); err != nil {
			t.Error(err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		tags = append(tags, one.Tag)
	})
	if t.Failed() {
		t.FailNow()
	}
	return tags
}

// inParallel calls f for each number, eight at once.
func inParallel(count int, f func(i int)) {
	var all sync.WaitGroup
	next := make(chan int)
	for range 8 {
		all.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range count {
		next <- i
	}
	close(next)
	all.Wait()
}

// queued counts the site's jobs that have not ended in Slurm.
func (s *site) queued(t testing.TB) int {
	t.Helper()
	return strings.Count(s.cluster.must(t, "squeue", "-h", "-o", "%j"), ".sy."+string(s.config.Site)+".")
}

// TestCancelCost withdraws 200 jobs: each costs Slurm one request, and all together one list of
// the queue.
func TestCancelCost(t *testing.T) {
	t.Parallel()
	siteC.Lock()
	defer siteC.Unlock()
	s := openSite(t, "siteC", func(c *slurm.Config) {
		c.Poll, c.Extra = time.Hour, []string{"--hold"}
		slurm.SetGathering(c, time.Hour)
	})
	const jobs = 200
	tags := s.submitAll(t, jobs, func() localsched.Submission { return guest("true") })
	others := s.submit(t, guest("true"))
	before := s.cluster.requests(t)
	inParallel(jobs, func(i int) {
		if got, err := s.Withdraw(t.Context(), tags[i]); err != nil || got != localsched.Withdrawn {
			t.Errorf("%v %v", got, err)
		}
	})
	s.CarryOutCancels(t.Context())
	after := s.cluster.requests(t)
	all := total(after) - total(before)
	if all > jobs+10 {
		t.Errorf("%d jobs were withdrawn with %d requests: %v, before them %v", jobs, all, after, before)
	}
	t.Logf("%d requests", all)
	eventually(t, "the queue has one job", func() bool { return s.queued(t) == 1 })
	if got := s.cluster.must(t, "squeue", "-h", "-o", "%j", "-n", s.jobName(others)); got != s.jobName(others) {
		t.Errorf("the queue has %q", got)
	}
}

// TestCancelWhatCameAgain: a cancellation is for a job that was withdrawn, not for what was
// submitted under its tag since, nor for a job of another account.
func TestCancelWhatCameAgain(t *testing.T) {
	t.Parallel()
	s := openSite(t, "siteA", func(c *slurm.Config) {
		c.Poll, c.Extra = time.Hour, []string{"--hold"}
		slurm.SetGathering(c, time.Hour)
	})
	job := guest("true")
	s.submit(t, job)
	if got, err := s.Withdraw(t.Context(), job.Tag); err != nil || got != localsched.Withdrawn {
		t.Fatal(got, err)
	}
	if err := s.Forget(t.Context(), job.Tag); err != nil {
		t.Fatal(err)
	}
	s.submit(t, job)
	gone := s.submit(t, guest("true"))
	if got, err := s.Withdraw(t.Context(), gone); err != nil || got != localsched.Withdrawn {
		t.Fatal(got, err)
	}
	another := s.cluster.must(t, "sbatch", "--parsable", "--uid=daemon", "--hold", "-o", "/dev/null", "-J", s.jobName(gone), "--wrap", "true")
	s.CarryOutCancels(t.Context())
	eventually(t, "the withdrawn job is gone", func() bool {
		return s.cluster.must(t, "squeue", "-h", "-n", s.jobName(gone), "-o", "%A") == another
	})
	if got := s.cluster.must(t, "squeue", "-h", "-n", s.jobName(job.Tag), "-o", "%T"); !strings.Contains(got, "PENDING") {
		t.Errorf("what came again is %q", got)
	}
}

// BenchmarkCancel withdraws 200 jobs and kills 16, until Slurm has none of them.
func BenchmarkCancel(b *testing.B) {
	for _, running := range []bool{false, true} {
		b.Run("running="+strconv.FormatBool(running), func(b *testing.B) {
			jobs, extra := 200, []string{"--hold"}
			if running {
				jobs, extra = allCPUs, nil
			}
			s := openSite(b, "siteD", func(c *slurm.Config) { c.Poll, c.Extra = slurm.DefaultPoll, extra })
			before := total(s.cluster.requests(b))
			s.queued(b)
			each := total(s.cluster.requests(b)) - before // of the question whether they are gone
			requests := 0
			for b.Loop() {
				b.StopTimer()
				tags := s.submitAll(b, jobs, func() localsched.Submission { return guest("exec sleep 1000") })
				if running {
					for _, tag := range tags {
						s.awaitRunning(b, tag)
					}
				}
				before := total(s.cluster.requests(b))
				b.StartTimer()
				inParallel(jobs, func(i int) {
					var err error
					if running {
						err = s.Kill(b.Context(), tags[i])
					} else {
						_, err = s.Withdraw(b.Context(), tags[i])
					}
					if err != nil {
						b.Error(err)
					}
				})
				own := each
				for ; s.queued(b) > 0; time.Sleep(20 * time.Millisecond) {
					own += each
				}
				b.StopTimer()
				requests += total(s.cluster.requests(b)) - before - own
				b.StartTimer()
			}
			b.ReportMetric(float64(requests)/float64(b.N), "requests/op")
		})
	}
}
