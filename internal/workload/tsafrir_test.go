package workload_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// dayLong is the model for a machine whose users may ask for a day.
func dayLong() workload.Tsafrir { return workload.Tsafrir{Max: protocol.Day} }

func countsOf(t rapid.TB, m workload.Tsafrir, jobs int, seed uint64) []workload.EstimateCount {
	t.Helper()
	counts, err := m.Counts(jobs, seed)
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

func TestEstimatesHeadShares(t *testing.T) {
	t.Parallel()
	const jobs = 10_000
	for seed := range uint64(10) {
		counts := countsOf(t, dayLong(), jobs, seed)
		if counts[0].Time != protocol.Day || !near(float64(counts[0].Jobs), 0.2173*jobs, 0.01) {
			t.Errorf("the largest is %+v, want a day for 21.7 %%", counts[0])
		}
		slices.SortFunc(counts, func(a, b workload.EstimateCount) int { return b.Jobs - a.Jobs })
		head := 0
		for i, c := range counts[:20] {
			head += c.Jobs
			rank := float64(i + 1)
			want := jobs * (14.0491*math.Exp(-0.177531*rank) + 0.462513) / 100
			if i > 0 && math.Abs(float64(c.Jobs)-want) > 2 {
				t.Errorf("rank %.0f has %d jobs, want %.0f", rank, c.Jobs, want)
			}
		}
		if !near(float64(head), 0.89*jobs, 0.003) {
			t.Errorf("the twenty most popular have %d of %d jobs, want 89 %%", head, jobs)
		}
		if !near(float64(counts[20].Jobs)/float64(counts[40].Jobs), math.Pow(41.0/21, 2.267), 0.15) {
			t.Errorf("the tail falls from %d to %d", counts[20].Jobs, counts[40].Jobs)
		}
	}
}

func TestEstimatesHeadTimes(t *testing.T) {
	t.Parallel()
	const hour = 60
	tests := map[string]struct {
		model workload.Tsafrir
		want  []int // min, of the most popular
	}{
		"a day": {dayLong(), []int{
			5, 10, 15, 20, 30, hour, 2 * hour, 3 * hour, 4 * hour, 5 * hour, 6 * hour, 8 * hour, 10 * hour, 12 * hour,
			15 * hour, 16 * hour, 18 * hour, 20 * hour, 22 * hour, 24 * hour,
		}},
		"from half an hour": {workload.Tsafrir{Max: protocol.Day, Least: 30 * protocol.Minute}, []int{
			30, hour, 2 * hour, 3 * hour, 4 * hour, 5 * hour, 6 * hour, 8 * hour, 10 * hour, 12 * hour, 14 * hour, 15 * hour,
			16 * hour, 18 * hour, 19 * hour, 20 * hour, 21 * hour, 22 * hour, 23 * hour, 24 * hour,
		}},
		"weeks": {workload.Tsafrir{Max: 500 * protocol.Hour}, []int{
			5, 10, 15, 20, 30, hour, 2 * hour, 3 * hour, 4 * hour, 5 * hour, 6 * hour, 8 * hour, 10 * hour, 12 * hour,
			18 * hour, 100 * hour, 200 * hour, 300 * hour, 400 * hour, 500 * hour,
		}},
		"an hour": {workload.Tsafrir{Max: protocol.Hour}, []int{
			5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60,
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counts := countsOf(t, test.model, 200, 1) // the model has no other values for so few
			var got []int
			for _, c := range counts {
				got = append(got, int(c.Time/protocol.Minute))
			}
			slices.Sort(got)
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// How popular a value is comes from four logs, so five and ten minutes often are,
// and 23 hours never is among the first.
func TestEstimatesPopularity(t *testing.T) {
	t.Parallel()
	share := map[protocol.Duration]float64{}
	const seeds = 400
	for seed := range uint64(seeds) {
		for _, c := range countsOf(t, dayLong(), 200, seed) {
			share[c.Time] += float64(c.Jobs) / 200 / seeds
		}
	}
	short, middle, long := share[5*protocol.Minute], share[4*protocol.Hour], share[22*protocol.Hour]
	if !(short > 1.5*middle && middle > 1.3*long) || short > 0.15 {
		t.Errorf("5 min has %.3f, 4 h %.3f, 22 h %.3f of the jobs", short, middle, long)
	}
}

func TestEstimatesDistinct(t *testing.T) {
	t.Parallel()
	for jobs, want := range map[int]int{200: 20, 600: 28, 1000: 35, 10_000: 90, 70_000: 340, 250_000: 565, 400_000: 565} {
		counts := countsOf(t, dayLong(), jobs, 1)
		if len(counts) != want {
			t.Errorf("%d jobs have %d different estimates, want %d", jobs, len(counts), want)
		}
	}
	if counts := countsOf(t, workload.Tsafrir{Max: protocol.Hour}, 400_000, 1); len(counts) < 300 || len(counts) > 361 {
		t.Errorf("an hour has %d different estimates; it has 360 of ten seconds", len(counts))
	}
}

func TestEstimatesCountsAreProper(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := workload.Tsafrir{Max: protocol.Duration(rapid.Int64Range(3600, 4_000_000).Draw(t, "max")) * protocol.Second}
		m.Least = protocol.Duration(rapid.Int64Range(0, int64(m.Max/2)).Draw(t, "least"))
		jobs, seed := rapid.IntRange(200, 3000).Draw(t, "jobs"), rapid.Uint64().Draw(t, "seed")
		counts := countsOf(t, m, jobs, seed)
		sum, above := 0, protocol.Duration(math.MaxInt64)
		for _, c := range counts {
			if c.Time >= above || c.Time > m.Max || c.Time < m.Least || c.Time <= 0 || c.Time%protocol.Second != 0 || c.Jobs < 1 {
				t.Fatalf("%+v below %d of %+v", c, above, m)
			}
			above = c.Time
			sum += c.Jobs
		}
		if sum != jobs || counts[0].Time != m.Max {
			t.Fatalf("%d of %d jobs, the largest estimate is %d of %d", sum, jobs, counts[0].Time, m.Max)
		}
		if again := countsOf(t, m, jobs, seed); !reflect.DeepEqual(again, counts) {
			t.Fatal("one seed gives two distributions")
		}
	})
}

// runs are jobs with run times of a mean, exponential and below a limit.
func runs(t *rapid.T, jobs int, limit protocol.Duration) []workload.Job {
	seed := rapid.Uint64().Draw(t, "runs")
	mean := rapid.Float64Range(0.001, 0.12).Draw(t, "mean")
	model := ofOneKind(workload.Gamma{Shape: 25, Scale: 0.04 * math.Log(mean*float64(limit)/1000)})
	model.Limit = limit
	return lublinJobs(t, model, jobs, seed)
}

func TestEstimatesCoverRunTimes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		jobs := runs(t, rapid.IntRange(200, 220).Draw(t, "jobs"), protocol.Day)
		before := slices.Clone(jobs)
		m, seed := dayLong(), rapid.Uint64().Draw(t, "seed")
		m.Draws = 3
		assigned, err := m.Assign(jobs, seed)
		if err != nil {
			t.Skip(err)
		}
		if !slices.Equal(jobs, before) {
			t.Fatal("the jobs that were given are changed")
		}
		for i, j := range assigned {
			if j.Estimate < j.Run || j.Estimate > m.Max {
				t.Fatalf("job %+v", j)
			}
			if j.Estimate = before[i].Estimate; j != before[i] {
				t.Fatalf("job %+v was %+v", j, before[i])
			}
		}
		if again, err := m.Assign(jobs, seed); err != nil || !slices.Equal(again, assigned) {
			t.Fatalf("one seed gives two assignments: %v", err)
		}
	})
}

// What the jobs ask for is what was drawn, and is spread over the jobs at random.
func TestEstimatesAreDealt(t *testing.T) {
	t.Parallel()
	const jobs = 2000
	short := make([]workload.Job, jobs)
	for i := range short {
		short[i] = workload.Job{ID: int64(i), Run: protocol.Duration(1 + i), CPUs: 1}
	}
	assigned, err := dayLong().Assign(short, 4)
	if err != nil {
		t.Fatal(err)
	}
	got, early := map[protocol.Duration]int{}, 0
	for i, j := range assigned {
		got[j.Estimate]++
		if j.Estimate == protocol.Day && i < jobs/2 {
			early++
		}
	}
	counts := countsOf(t, dayLong(), jobs, 4)
	for _, c := range counts {
		if got[c.Time] != c.Jobs {
			t.Errorf("%d jobs ask for %s, %d were drawn", got[c.Time], c.Time, c.Jobs)
		}
	}
	if share := float64(early) / float64(counts[0].Jobs); math.Abs(share-0.5) > 0.1 {
		t.Errorf("%.2f of those who ask for the most are among the shorter half", share)
	}
}

func TestEstimatesBins(t *testing.T) {
	t.Parallel()
	m := dayLong()
	m.Bins = []workload.EstimateBin{{protocol.Hour, 0.5}, {7 * protocol.Hour, 0.25}}
	const jobs = 1000
	counts := countsOf(t, m, jobs, 1)
	got := map[protocol.Duration]int{}
	for _, c := range counts {
		got[c.Time] = c.Jobs
	}
	if len(counts) != 35 || !near(float64(got[protocol.Hour]), 500, 0.01) ||
		!near(float64(got[7*protocol.Hour]), 250, 0.01) || got[protocol.Day] != 0 {
		t.Errorf("%d values, %v", len(counts), got)
	}
	m.Bins[1].Share = 0.5
	if counts := countsOf(t, m, jobs, 1); len(counts) != 2 {
		t.Errorf("bins for all jobs leave a tail: %v", counts)
	}
}

func TestEstimatesTooShort(t *testing.T) {
	t.Parallel()
	jobs := make([]workload.Job, 400)
	for i := range jobs {
		jobs[i] = workload.Job{ID: int64(i), Run: 23 * protocol.Hour, CPUs: 1}
	}
	m := dayLong()
	m.Draws = 3
	_, err := m.Assign(jobs, 1)
	wantError(t, err, "jobs run for 23.000 h or longer and only")
	wantError(t, err, "raise max, or give popular estimates that are long enough as bins")
	m.Bins = []workload.EstimateBin{{protocol.Day, 1}}
	if _, err = m.Assign(jobs, 1); err != nil {
		t.Error(err)
	}
	jobs[7].Run = 25 * protocol.Hour
	_, err = m.Assign(jobs, 1)
	wantError(t, err, "estimates: 1 jobs run for 25.000 h or longer and only 0 estimates")
}

func TestEstimatesRefuse(t *testing.T) {
	t.Parallel()
	type bins = []workload.EstimateBin
	many := make(bins, 300)
	for i := range many {
		many[i] = workload.EstimateBin{Time: protocol.Duration(i+1) * protocol.Second, Share: 0.001}
	}
	tests := map[string]struct {
		model workload.Tsafrir
		jobs  int
		want  string
	}{
		"no largest":  {workload.Tsafrir{}, 200, "max: 0 ms"},
		"fractions":   {workload.Tsafrir{Max: protocol.Hour + 1}, 200, "max: 3600001 ms"},
		"least":       {workload.Tsafrir{Max: protocol.Hour, Least: 31 * protocol.Minute}, 200, "least: 1860000 ms"},
		"draws":       {workload.Tsafrir{Max: protocol.Hour, Draws: -1}, 200, "draws: -1"},
		"few jobs":    {dayLong(), 199, "jobs: 199, without bins the model is one of at least 200"},
		"long bin":    {workload.Tsafrir{Max: protocol.Hour, Bins: bins{{protocol.Day, 1}}}, 200, "bins[0].time: 86400000 ms"},
		"share":       {workload.Tsafrir{Max: protocol.Day, Bins: bins{{protocol.Hour, math.NaN()}}}, 200, "bins[0].share: NaN"},
		"twice":       {workload.Tsafrir{Max: protocol.Day, Bins: bins{{1000, 0.1}, {1000, 0.1}}}, 200, "bins[1].time: 1000 ms has a bin before"},
		"shares":      {workload.Tsafrir{Max: protocol.Day, Bins: bins{{1000, 0.7}, {2000, 0.7}}}, 200, "bins: the shares sum to 1.4"},
		"more values": {workload.Tsafrir{Max: protocol.Day, Bins: many}, 250, "bins: 300 are more than the 250 jobs"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := test.model.Counts(test.jobs, 1)
			wantError(t, err, test.want)
			_, err = test.model.Assign(make([]workload.Job, test.jobs), 1)
			wantError(t, err, test.want)
		})
	}
}
