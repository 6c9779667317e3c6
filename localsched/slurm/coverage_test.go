package slurm_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// habit is how a user of the machine in BenchmarkCoverage asks for CPUs and minutes, and for
// how long the jobs then run.
type habit struct {
	account          string
	cpus, minutes    int
	shortest, spread time.Duration
}

// habits are those of the site's own users, and of users of the peer.
func habits() (own, peers []habit) {
	own = []habit{
		{"daemon", 1, 3, time.Second, 2 * time.Second},
		{"games", 4, 5, 4 * time.Second, 12 * time.Second},
		{"man", 8, 3, 5 * time.Second, 20 * time.Second},
		{"mail", 16, 2, 3 * time.Second, 6 * time.Second},
	}
	peers = []habit{
		{"alice", 1, 1, time.Second, time.Second},
		{"bob", 4, 10, 2 * time.Second, 8 * time.Second},
		{"carol", 12, 4, 2 * time.Second, 4 * time.Second},
	}
	return own, peers
}

func (h habit) runs(random *rand.Rand) string {
	return fmt.Sprintf("exec sleep %.1f", (h.shortest + time.Duration(random.Float64()*float64(h.spread))).Seconds())
}

// BenchmarkCoverage tells how many of the jobs that wait, on a real machine with users of its
// own who are about to fill it, start between P10 and P90 of what was quoted. Each turn is a job;
// the first 60, with which the adapter learns, do not count. It takes about 3 s for each job.
//
//	go test -run '^$' -bench Coverage -benchtime 80x -timeout 60m ./localsched/slurm
func BenchmarkCoverage(b *testing.B) {
	const learning = 60
	s := openSite(b, "siteG", nil)
	ctx, stop := context.WithCancel(b.Context())
	var users sync.WaitGroup
	own, peers := habits()
	for i, h := range own {
		users.Go(func() { s.cluster.use(ctx, h, rand.New(rand.NewPCG(1, uint64(i)))) })
	}
	defer s.cluster.run("scancel", "-n", "background")
	defer users.Wait()
	defer stop()
	random := rand.New(rand.NewPCG(2, 2))
	type quoted struct {
		protocol.Quote
		tag protocol.Tag
		at  protocol.Instant
	}
	var all []quoted
	one := func() quoted {
		h := peers[random.IntN(len(peers))]
		job := guest(h.runs(random))
		job.Spec.CPUs, job.Spec.WallTime = h.cpus, protocol.Duration(h.minutes)*protocol.Minute
		job.Spec.PowerClass = protocol.PowerClassOf("south", h.account, "test")
		quote := s.quote(b, localsched.Query{Jobs: []protocol.Request{job.Spec.Request}})[0]
		q := quoted{quote, job.Tag, protocol.InstantOf(time.Now())}
		s.submit(b, job)
		time.Sleep(time.Duration(random.ExpFloat64() * float64(3*time.Second)))
		return q
	}
	for range learning {
		one()
	}
	for b.Loop() {
		all = append(all, one())
	}
	var waited, within, early, late int
	for _, q := range all {
		wait := s.awaitRunning(b, q.tag).Started.Sub(q.at)
		if wait < 5*protocol.Second {
			continue
		}
		waited++
		switch {
		case wait < q.AWTLow:
			early++
		case wait > q.AWTHigh:
			late++
		default:
			within++
		}
		b.Logf("waited %v; quoted %v, %v to %v", wait, q.AWT, q.AWTLow, q.AWTHigh)
	}
	share := func(n int) float64 { return 100 * float64(n) / float64(max(1, waited)) }
	b.ReportMetric(float64(waited), "waited")
	b.ReportMetric(share(within), "%-within")
	b.ReportMetric(share(early), "%-earlier")
	b.ReportMetric(share(late), "%-later")
}

// use submits jobs of one user that keep a twelfth of the machine busy.
func (c cluster) use(ctx context.Context, h habit, random *rand.Rand) {
	each := (h.shortest + h.spread/2) * time.Duration(h.cpus) / allCPUs
	for ctx.Err() == nil {
		_, _ = c.runIn(ctx, "sbatch", "-Q", "-J", "background", "--uid="+h.account, "-o", "/dev/null", "-D", "/",
			"-n", strconv.Itoa(h.cpus), "-t", strconv.Itoa(h.minutes), "--wrap", h.runs(random))
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(random.ExpFloat64() * float64(12*each))):
		}
	}
}
