package slurm_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched/slurm"
)

// target is how many jobs in a second one adapter must submit, with so many waiting.
const (
	target = 100
	behind = 1000
)

// BenchmarkSubmit is durable submissions into a queue of 1,000 waiting jobs, one after
// another and 16 at once, and the ratio to bare sbatch commands one after another.
//
//	go test -run '^$' -bench Submit -benchtime 500x ./localsched/slurm
func BenchmarkSubmit(b *testing.B) {
	s := openSite(b, "siteA", func(c *slurm.Config) {
		c.Extra, c.Poll, c.Log = []string{"--hold"}, 2*time.Second, nil
	})
	fill(b, s)
	bare := bareSbatch(b, s)
	for _, callers := range []int{1, 16} {
		b.Run(strconv.Itoa(callers), func(b *testing.B) {
			b.SetParallelism(max(1, callers/2))
			if callers == 1 {
				for b.Loop() {
					s.submit(b, guest("true"))
				}
			} else {
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						s.submit(b, guest("true"))
					}
				})
			}
			each := b.Elapsed() / time.Duration(b.N)
			b.ReportMetric(float64(time.Second)/float64(each), "jobs/s")
			b.ReportMetric(float64(time.Second)/float64(each)/target, "of-target")
			b.ReportMetric(float64(each)/float64(bare), "x-bare-sbatch")
		})
	}
}

// fill has others' jobs wait.
func fill(b *testing.B, s *site) {
	b.Helper()
	script := fmt.Sprintf("for i in $(seq %d); do sbatch -Q --hold -J filler -t 5 --uid=%s -o /dev/null --wrap true; done", behind, jobAccount)
	cmd := exec.CommandContext(b.Context(), "sh", "-c", script)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+s.cluster.conf())
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	b.Cleanup(func() { s.cluster.run("scancel", "-n", "filler") })
}

func bareSbatch(b *testing.B, s *site) time.Duration {
	b.Helper()
	const rounds = 50
	begin := time.Now()
	for range rounds {
		s.cluster.must(b, "sbatch", "--parsable", "--hold", "-J", "filler", "--uid="+jobAccount, "-o", "/dev/null", "--wrap", "true")
	}
	return time.Since(begin) / rounds
}

// BenchmarkQuote is 64 jobs of 8 shapes in one call, with 1,000 jobs waiting.
func BenchmarkQuote(b *testing.B) {
	s := openSite(b, "siteA", func(c *slurm.Config) { c.Poll, c.Log = 2*time.Second, nil })
	fill(b, s)
	query := queryOf(64, 8)
	for b.Loop() {
		s.quote(b, query)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/64, "µs/quote")
}
