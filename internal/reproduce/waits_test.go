package reproduce_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/reproduce"
)

// TestBaselineScoresAgain calculates the scores of the baselines a second time, from
// the bytes of the logs alone, without a line of the program.
func TestBaselineScoresAgain(t *testing.T) {
	t.Parallel()
	o := small(t)
	o.Jobs = 400
	checkBaselines(t, o)
	if testing.Short() {
		return
	}
	o.Data, o.Jobs = filepath.Join("..", "..", "..", "shared", "data"), 3000
	if _, err := os.Stat(o.Data); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("the shared data is not here: %v", err)
	}
	checkBaselines(t, o)
}

func checkBaselines(t *testing.T, o reproduce.Options) {
	t.Helper()
	tables := run(t, o, "table3")[0].Tables
	for name, file := range map[string]string{
		"CEA Curie": "CEA-Curie-2011-2.1-cln", "SDSC Paragon": "SDSC-Par-1996-3.1-cln", "SDSC Blue Horizon": "SDSC-BLUE-2000-4.2-cln",
		"KTH SP2": "KTH-SP2-1996-2.1-cln", "SDSC SP2": "SDSC-SP2-1998-4.2-cln", "ANL Intrepid": "ANL-Intrepid-2009-1.first10000",
	} {
		at := slices.IndexFunc(tables, func(table reproduce.Table) bool { return table.Title == name+", recorded" })
		if at < 0 {
			t.Fatalf("no table of %s", name)
		}
		jobs := rawJobs(t, filepath.Join(o.Data, "traces", file+".swf.gz"), o.Jobs)
		if name == "ANL Intrepid" { // it does not say which jobs completed
			for i := range jobs {
				if !jobs[i].withdrawn() {
					jobs[i].status = 1
				}
			}
		}
		for baseline, answer := range map[string]func(started []float64) float64{
			"zero":      func([]float64) float64 { return 0 },
			"last":      func(s []float64) float64 { return s[len(s)-1] },
			"median100": func(s []float64) float64 { return middle(s[max(0, len(s)-100):]) },
			"mean":      func(s []float64) float64 { return sum(s) / float64(len(s)) },
		} {
			aae, hour, ppe := scoreAgain(jobs, len(jobs)/2, answer)
			for key, want := range map[string]float64{"aae_min": aae / 60, "under_1_h_pct": 100 * hour, "ppe_pct": ppe} {
				if got := values(t, tables[at], key)[baseline]; math.Abs(got-want) > 1e-4*(1+want) {
					t.Errorf("%s, %s: %s is %v, calculated again %v", name, baseline, key, got, want)
				}
			}
		}
	}
}

// rawJob is a line of a log, times in seconds.
type rawJob struct{ submit, wait, run, status float64 }

func (j rawJob) start() float64  { return j.submit + j.wait }
func (j rawJob) withdrawn() bool { return j.status == 5 && j.run <= 0 }

// scoreAgain is the mean absolute error in seconds, the share of errors below an hour, and the
// mean error in percent of the response, of an answer from the waits of the jobs that started
// before, oldest start first; 0 before the first.
func scoreAgain(jobs []rawJob, first int, answer func(started []float64) float64) (aae, hour, ppe float64) {
	var scored float64
	for i, job := range jobs {
		if i < first || job.status != 1 { // the completed jobs of the second half
			continue
		}
		var before []rawJob
		for _, other := range jobs {
			if s := other.start(); !other.withdrawn() && (s < job.submit || s == job.submit && other.wait > 0) {
				before = append(before, other)
			}
		}
		slices.SortStableFunc(before, func(a, b rawJob) int {
			if a.start() != b.start() {
				return int(a.start() - b.start())
			}
			return int(min(b.wait, 1) - min(a.wait, 1)) // who waited starts before who comes then
		})
		var waits []float64
		for _, other := range before {
			waits = append(waits, other.wait)
		}
		expected := 0.0
		if len(waits) > 0 {
			expected = answer(waits)
		}
		off := math.Abs(expected - job.wait)
		scored++
		aae += off
		ppe += 100 * off / max(job.wait+max(job.run, 0), 10)
		if off < 3600 {
			hour++
		}
	}
	return aae / scored, hour / scored, ppe / scored
}

func sum(values []float64) (all float64) {
	for _, v := range values {
		all += v
	}
	return all
}

// middle is the lower median.
func middle(values []float64) float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return sorted[(len(sorted)-1)/2]
}

// rawJobs reads the first records of a log that state a submission, a wait and CPUs.
func rawJobs(t *testing.T, path string, records int) (jobs []rawJob) {
	t.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(unpacked)
	for read := 0; read < records && lines.Scan(); {
		var f [11]float64
		if n, _ := fmt.Sscan(lines.Text(), &f[0], &f[1], &f[2], &f[3], &f[4], &f[5], &f[6], &f[7], &f[8], &f[9], &f[10]); n < len(f) {
			continue // a comment
		}
		read++
		if f[1] >= 0 && f[2] >= 0 && max(f[4], f[7]) >= 1 {
			jobs = append(jobs, rawJob{f[1], f[2], f[3], f[10]})
		}
	}
	return jobs
}
