package superscheduler_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/report"
	"github.com/switchyard-hpc/switchyard/internal/reproduce"
	"github.com/switchyard-hpc/switchyard/internal/reproduce/superscheduler"
	"github.com/switchyard-hpc/switchyard/internal/sim"
	"github.com/switchyard-hpc/switchyard/internal/workload"
	"github.com/switchyard-hpc/switchyard/protocol"
)

var update = flag.Bool("update", false, "write the golden reports anew; look at them before you commit them")

// small shortens an experiment to a day.
func small(plan *experiment.Plan) { shorten(plan, protocol.Day) }

// shorten leaves the first hours of an experiment, and the jobs of thinned models in proportion.
func shorten(plan *experiment.Plan, span protocol.Duration) {
	for i := range plan.Workloads {
		w := &plan.Workloads[i]
		if w.Trace != "" {
			w.From, w.To = "2002-08-01", "2002-08-02"
			continue
		}
		if w.Jobs > 0 {
			w.Jobs = max(1, int(int64(w.Jobs)*int64(span)/int64(w.Span)))
		}
		w.Span = span
	}
}

// size is that of small experiments, with a log of M3's model in the place of the archive's.
func size(t *testing.T) reproduce.Size {
	t.Helper()
	dir := t.TempDir()
	jobs, err := workload.M3().Generate(workload.Options{Span: 10 * protocol.Day}, 1)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	log := gzip.NewWriter(&packed)
	_, err = fmt.Fprintln(log, "; UnixStartTime: 1028160000\n; TimeZone: 0\n; MaxNodes: 144\n; MaxProcs: 1152")
	for i, j := range jobs {
		_, wrong := fmt.Fprintf(log, "%d %d -1 %d %d -1 -1 %d %d -1 1 1 1 -1 1 -1 -1 -1\n",
			i+1, j.Submit/protocol.Instant(protocol.Second), max(1, j.Run/protocol.Second), j.CPUs, j.CPUs, 2*j.Run/protocol.Second+60)
		err = errors.Join(err, wrong)
	}
	path := filepath.Join(dir, "traces", "SDSC-BLUE-2000-4.2-cln.swf.gz")
	if err = errors.Join(err, log.Close(), os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, packed.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	return reproduce.Size{Data: dir, Experiments: filepath.Join("..", "..", "..", "examples", "experiments"), Seeds: 1, Stated: true}
}

func run(t *testing.T, o reproduce.Size, names ...string) []reproduce.Report {
	t.Helper()
	reports, err := superscheduler.RunOf(t.Context(), o, names, small, nil)
	if err != nil {
		t.Fatal(err)
	}
	return reports
}

func text(t *testing.T, reports []reproduce.Report) []byte {
	t.Helper()
	var out bytes.Buffer
	for i := range reports {
		if err := reports[i].Write(&out, reproduce.Markdown); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// TestGoldenReports: all exhibits of one day and one seed, as they are printed.
func TestGoldenReports(t *testing.T) {
	t.Parallel()
	reports := run(t, size(t), "ss")
	got, path := text(t, reports), filepath.Join("testdata", "reports.md")
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the exhibits print another text than %s; run go test ./internal/reproduce/superscheduler -update and look at what changed\n%s", path, got)
	}
	checkClaims(t, reports)
	page, err := reproduce.Page("Superscheduler", reports, report.Source{})
	if err != nil {
		t.Fatal(err)
	}
	html, err := page.HTML()
	if err != nil {
		t.Fatal(err)
	}
	for _, figure := range []string{"ss-fig3", "ss-fig4", "ss-fig5", "ss-delta", "ss-phi", "ss-epsilon"} {
		if !bytes.Contains(html, []byte(`id="`+figure+`"`)) {
			t.Errorf("the page has no figure %s", figure)
		}
	}
}

// checkClaims: each claim is computed from the exhibits as they are printed.
func checkClaims(t *testing.T, reports []reproduce.Report) {
	t.Helper()
	var printed reproduce.Printed
	for i := range reports {
		printed.Add(reports[i].Name, string(text(t, reports[i:i+1])))
	}
	for _, c := range superscheduler.Claims() {
		ours, verdict, err := c.Judge(&printed)
		if err != nil || verdict == reproduce.NotMade || strings.Contains(ours, "NaN") {
			t.Errorf("%s: %s, %s, %v", c.Says, ours, verdict, err)
		}
	}
}

// TestEverySimulationRunsOnce: exhibits share the points that several need, with the seeds of the most.
func TestEverySimulationRunsOnce(t *testing.T) {
	t.Parallel()
	o := size(t)
	o.Stated = false
	of := func(names ...string) (runs int) {
		_, err := superscheduler.RunOf(t.Context(), o, names, func(plan *experiment.Plan) {
			shorten(plan, 2*protocol.Hour)
			plan.Seeds = 6
		}, func(_, of int) { runs = of })
		if err != nil {
			t.Fatal(err)
		}
		return runs
	}
	if table, figure, both := of("ss-table6"), of("ss-fig4"), of("ss-table6", "ss-fig4"); table != 2*6 || figure != 12*6 || both != figure {
		t.Errorf("%d and %d simulations, %d together", table, figure, both)
	}
	// Five of six seeds of the point without a changed parameter.
	if alone, with := of("ss-phi"), of("ss-phi", "ss-fig4"); alone != 5*5 || with != 12*6+4*5 {
		t.Errorf("%d simulations, %d with those of the figure", alone, with)
	}
}

// TestFewerSeedsAreThoseAlone: the first seeds of a shared point are what the exhibit has by itself.
func TestFewerSeedsAreThoseAlone(t *testing.T) {
	t.Parallel()
	o := size(t)
	o.Stated = false
	seven := func(names ...string) []reproduce.Report {
		reports, err := superscheduler.RunOf(t.Context(), o, names, func(plan *experiment.Plan) {
			shorten(plan, 2*protocol.Hour)
			plan.Seeds = 7
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return reports
	}
	if alone, shared := text(t, seven("ss-epsilon")), text(t, seven("ss-epsilon", "ss-fig4")[:1]); !bytes.Equal(alone, shared) {
		t.Errorf("alone\n%s\nwith another exhibit\n%s", alone, shared)
	}
}

// TestNumberOfWorkersChangesNothing of what is printed.
func TestNumberOfWorkersChangesNothing(t *testing.T) {
	t.Parallel()
	o := size(t)
	o.Seeds = 3
	with := func(workers int) []byte {
		o.Workers = workers
		reports, err := superscheduler.RunOf(t.Context(), o, []string{"ss-table6", "ss-volunteers"}, func(plan *experiment.Plan) {
			shorten(plan, 2*protocol.Hour)
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return text(t, reports)
	}
	if one, several := with(1), with(4); !bytes.Equal(one, several) {
		t.Errorf("one worker\n%s\nfour\n%s", one, several)
	}
}

// TestExperimentsHaveThePapersValues: exhibits that change a parameter share the points that have the usual value.
func TestExperimentsHaveThePapersValues(t *testing.T) {
	t.Parallel()
	o := size(t)
	month, err := experiment.Read(filepath.Join(o.Experiments, "one-month.toml"))
	if err != nil {
		t.Fatal(err)
	}
	month.Workloads[2].Trace = experiment.Path(filepath.Join(o.Data, "traces", "SDSC-BLUE-2000-4.2-cln.swf.gz"))
	for _, name := range []string{"heavy", "light", "one-month"} {
		plan := month
		if name != "one-month" {
			if plan, err = experiment.Preset(name); err != nil {
				t.Fatal(err)
			}
		}
		shorten(plan, 4*protocol.Hour)
		if err = plan.Open(); err != nil {
			t.Fatal(err)
		}
		for key, value := range map[string]string{
			"volunteer_below": "0.7", "check_interval": "300s", "local_wait_threshold": "60s", // [SS 2.1]
			"turnaround_tolerance": "30s", "recheck_jobs": "0", "jobs_per_volunteer": "0", "stay_local": "false", // ours
			"policy": "easy", "load": "1",
		} {
			if !plan.Has(experiment.Setting{Key: key, Value: value}) {
				t.Errorf("%s: %s = %s changes the experiment", name, key, value)
			}
		}
		if name == "one-month" && !plan.Has(experiment.Setting{Key: "estimates", Value: "perfect"}) {
			t.Errorf("%s has other estimates", name)
		}
	}
}

// TestOwnExperimentsAreSet: where a file of --experiments has other values than the paper, an exhibit that sets them is the
// same, also beside one that takes them from the file.
func TestOwnExperimentsAreSet(t *testing.T) {
	t.Parallel()
	o := size(t)
	own := o
	own.Experiments = t.TempDir()
	shipped, err := os.ReadFile(filepath.Join(o.Experiments, "one-month.toml"))
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(shipped, []byte(`estimates = "perfect"`), []byte(`estimates = "trace"`), 1)
	if bytes.Equal(changed, shipped) {
		t.Fatal("the shipped experiment has no perfect estimates")
	}
	if err = os.WriteFile(filepath.Join(own.Experiments, "one-month.toml"), changed, 0o600); err != nil {
		t.Fatal(err)
	}
	want, got := run(t, o, "ss-fig5", "ss-estimates"), run(t, own, "ss-fig5", "ss-estimates")
	if a, b := text(t, want[1:]), text(t, got[1:]); !bytes.Equal(a, b) {
		t.Errorf("with users' estimates in the file\n%s\nwith perfect ones\n%s", b, a)
	}
	if bytes.Equal(text(t, want[:1]), text(t, got[:1])) {
		t.Error("an exhibit that sets no estimates does not have those of the file")
	}
}

// TestTraits by hand: two machines of 4 nodes with 4 and 2 CPUs each. A job of 9 CPUs fits the first alone.
func TestTraits(t *testing.T) {
	t.Parallel()
	const s = protocol.Instant(protocol.Second)
	plan := &experiment.Plan{}
	plan.Rounds.VolunteerBelow = 700_000
	for _, cpus := range []int{16, 8} {
		var site experiment.Site
		site.SetDefaults()
		site.LocalSched.CPUs, site.LocalSched.Nodes = cpus, 4
		plan.Sites = append(plan.Sites, site)
	}
	o := &experiment.Outcome{
		Plan: plan,
		Jobs: []workload.Job{{CPUs: 9, Submit: 0}, {CPUs: 1, Submit: 0}, {CPUs: 8, Submit: 50 * s}, {CPUs: 9, Submit: 100 * s}},
		Result: &sim.Result{Placements: []sim.Placement{
			{Site: 0, Start: 0, End: 40 * s}, {Site: 1, Start: 10 * s, End: 20 * s}, {Site: 1, Start: 60 * s, End: 90 * s}, {Site: 0, Start: 140 * s, End: 150 * s},
		}},
	}
	waits, wide, below := superscheduler.Traits(o)
	// Waits of 0, 10, 10 and 40 s.
	if want := []float64{10, 40, 40}; !slices.Equal(waits, want) {
		t.Errorf("median, 90 %% and longest wait %v, want %v", waits, want)
	}
	if want := []float64{2, 20, 100 * 40.0 / 60, 50, 10}; !slices.Equal(wide, want) {
		t.Errorf("wide jobs %v, want %v", wide, want)
	}
	// Three nodes of four are busy below 0.7 of the second alone; the first is busy from 0 to 40 s, the second from 60 to 90 s.
	if want := []float64{100, 60, 70}; !slices.Equal(below, want) {
		t.Errorf("below δ %v, want %v", below, want)
	}
}

func TestPaperOutsideTheInterval(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ paper, want float64 }{
		"inside":   {10.5, 0},
		"above":    {14, 14 - 10 - 2.484},
		"below":    {0, 10 - 2.484},
		"the mean": {10, 0},
	} {
		if got := superscheduler.Placed(c.paper, 9, 10, 11); math.Abs(got-c.want) > 1e-3 {
			t.Errorf("%s: outside by %.3f, want %.3f", name, got, c.want)
		}
	}
}

func TestNamesAndMistakes(t *testing.T) {
	t.Parallel()
	o := size(t)
	for name, c := range map[string]struct {
		size reproduce.Size
		want string
	}{
		"ss-fig3":   {reproduce.Size{Experiments: t.TempDir(), Seeds: 1}, "--experiments"},
		"ss-fig5":   {reproduce.Size{Data: t.TempDir(), Experiments: o.Experiments, Seeds: 1}, filepath.Join("traces", "SDSC-BLUE-2000-4.2-cln.swf.gz")},
		"ss-fig9":   {o, `nothing is called "ss-fig9"; choose from ss-table4`},
		"ss-table4": {reproduce.Size{Data: t.TempDir(), Seeds: 1}, "--data"},
	} {
		if _, err := superscheduler.Paper().Run(t.Context(), reproduce.Options{Size: c.size}, []string{name}, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}
