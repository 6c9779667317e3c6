package experiment_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/problems/problemstest"
	"github.com/switchyard-hpc/switchyard/peer/config"
)

// siteText is the configuration of one of two sites, with what is the same at both.
func siteText(name, other string, number, cpus int, more string) string {
	return fmt.Sprintf(`[site]
name = %q
number = %d
currency = "EUR"
[localsched]
cpus = %d
nodes = %d
%s
[[partner]]
name = %q
public_key_file = "elsewhere.pub"
max_jobs = 1000000
users = { "*" = "guest" }
`, name, number, cpus, cpus, more, other)
}

// sites are two sites that have a small trace between them.
func sites(t *testing.T, first, second string) (*experiment.Plan, error) {
	t.Helper()
	var configs []*config.Config
	for i, text := range []string{first, second} {
		one, err := config.LoadElsewhere(write(t, fmt.Sprintf("site%d.toml", i), text))
		if err != nil {
			t.Fatal(err)
		}
		configs = append(configs, one)
	}
	return experiment.OfSites(configs, []experiment.SiteTrace{{Site: "busy", Path: smallTrace(t)}})
}

// smallTrace has a hundred jobs of one minute to an hour, more than four CPUs take.
func smallTrace(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("; UnixStartTime: 1764000000\n; TimeZone: 0\n")
	for i := 1; i <= 100; i++ {
		cpus, run := 1+i%3, 60+(i*i*37)%3000
		fmt.Fprintf(&b, "%d %d -1 %d %d -1 -1 %d %d -1 1 1 1 1 1 1 1 -1 -1\n", i, i*120, run, cpus, cpus, 2*run)
	}
	return write(t, "small.swf", b.String())
}

// TestSitesAreAnExperimentOfTheSameRules: jobs go where they go in an experiment that has the
// tables of the sites' configurations.
func TestSitesAreAnExperimentOfTheSameRules(t *testing.T) {
	t.Parallel()
	const rules = "[rounds]\ninitiation = \"symmetric\"\nlocal_wait_threshold = \"30s\"\ncheck_interval = \"2m\"\nvolunteer_below = 0.9\njobs_per_volunteer = 2\n[policy.tc]\nturnaround_tolerance = \"5s\"\n"
	plan, err := sites(t, siteText("busy", "idle", 1, 4, rules), siteText("idle", "busy", 2, 6, rules))
	if err != nil {
		t.Fatal(err)
	}
	if err = plan.Open(); err != nil {
		t.Fatal(err)
	}
	same := opened(t, rules+"[[site]]\nname = \"busy\"\n[site.localsched]\ncpus = 4\nnodes = 4\n[[site]]\nname = \"idle\"\n\n[site.localsched]\ncpus = 6\nnodes = 6\n"+
		"[[workload]]\nsite = \"busy\"\ntrace = "+fmt.Sprintf("%q", string(plan.Workloads[0].Trace))+"\n")
	got, want := run(t, plan, experiment.Configured, 1), run(t, same, experiment.Symmetric, 1)
	if !reflect.DeepEqual(got.Result.Placements, want.Result.Placements) {
		t.Errorf("placed as\n%v\nand in the experiment as\n%v", got.Result.Placements, want.Result.Placements)
	}
	moved := 0
	for _, p := range got.Result.Placements {
		moved += p.Site
	}
	if moved == 0 {
		t.Error("no job has moved: there is nothing to compare")
	}
}

// TestEachSiteGoesByItsOwnRules: who does not volunteer gets no job, whatever the others say.
func TestEachSiteGoesByItsOwnRules(t *testing.T) {
	t.Parallel()
	const asks, waits = "[rounds]\nlocal_wait_threshold = \"1s\"\n", "[rounds]\nlocal_wait_threshold = \"1s\"\ninitiation = \"receiver\"\n"
	for rules, moves := range map[string]bool{asks: true, waits: false} {
		plan, err := sites(t, siteText("busy", "idle", 1, 4, rules), siteText("idle", "busy", 2, 6, asks))
		if err != nil {
			t.Fatal(err)
		}
		if err = plan.Open(); err != nil {
			t.Fatal(err)
		}
		moved := 0
		for _, p := range run(t, plan, experiment.Configured, 1).Result.Placements {
			moved += p.Site
		}
		if (moved > 0) != moves {
			t.Errorf("%d jobs moved under\n%s", moved, rules)
		}
	}
}

// TestSitesPayAndKeepTheirBudgets: prices of a contract, a power budget and charges are those
// of the configurations.
func TestSitesPayAndKeepTheirBudgets(t *testing.T) {
	t.Parallel()
	contract := write(t, "contract.toml", "area = \"home\"\ncurrency = \"EUR\"\nzone = \"UTC\"\nprice = 50.0\n")
	powered := fmt.Sprintf("[power]\nwatts_per_cpu = 1000\nbudget_kw = 2\n[prices]\narea = \"home\"\nfeed = \"tariff\"\nconfig = %q\ntime_zone = \"UTC\"\n[cost.cpu]\nprice = 1.0\n", contract)
	plan, err := sites(t, siteText("busy", "idle", 1, 4, powered), siteText("idle", "busy", 2, 6, powered))
	if err != nil {
		t.Fatal(err)
	}
	if err = plan.Open(); err != nil {
		t.Fatal(err)
	}
	o := run(t, plan, experiment.Configured, 1)
	if o.Energy == nil || o.Currency != "EUR" || o.Cost <= 0 {
		t.Errorf("the electricity is %+v", o.Energy)
	}
	if paid, _ := o.Paid(); paid <= 0 {
		t.Errorf("users pay %v", paid)
	}
	atOnce := 0
	for i, p := range o.Result.Placements {
		if p.Site != 0 {
			continue
		}
		used := 0
		for k, other := range o.Result.Placements {
			if other.Site == 0 && other.Start <= p.Start && p.Start < other.End {
				used += o.Jobs[k].CPUs
			}
		}
		if atOnce = max(atOnce, used); used > 2 {
			t.Fatalf("when job %d starts %d CPUs work, and the budget is for two", i, used)
		}
	}
	if atOnce != 2 {
		t.Errorf("at most %d CPUs worked", atOnce)
	}
}

// filed is an experiment's file of two sites as they are configured, with a trace at the first one.
func filed(t *testing.T, first, second, top, more string) string {
	t.Helper()
	return fmt.Sprintf("%s\n[[site]]\nconfig = %q\n%s\n[[site]]\nconfig = %q\n[[workload]]\nsite = \"busy\"\ntrace = %q\n",
		top, write(t, "first.toml", first), more, write(t, "second.toml", second), smallTrace(t))
}

// TestConfiguredSitesAsAFile: an experiment that names configurations is that of the sites as they are configured.
func TestConfiguredSitesAsAFile(t *testing.T) {
	t.Parallel()
	const rules = "[rounds]\ninitiation = \"symmetric\"\nlocal_wait_threshold = \"30s\"\ncheck_interval = \"2m\"\n"
	first, second := siteText("busy", "idle", 1, 4, rules), siteText("idle", "busy", 2, 6, rules)
	plan, err := sites(t, first, second)
	if err != nil {
		t.Fatal(err)
	}
	if err = plan.Open(); err != nil {
		t.Fatal(err)
	}
	want := run(t, plan, experiment.Configured, 1)
	same := opened(t, filed(t, first, second, "", ""))
	if same.Scheme != experiment.Configured {
		t.Errorf("the scheme is %q", same.Scheme)
	}
	if got := run(t, same, same.Scheme, 1); got.Hash != want.Hash {
		t.Errorf("placed as\n%v\nand from the command line as\n%v", got.Result.Placements, want.Result.Placements)
	}
	for _, other := range []string{
		filed(t, first, second, "[rounds]\ninitiation = \"sender\"\n", ""),
		filed(t, first, second, "[policy]\nname = \"mcmf\"\n", ""), // which needs another initiation
		filed(t, first, second, "", "first_check = \"7s\"\n"),
		filed(t, first, second, "", "[site.latency]\nstart = \"3s\"\n"),
	} {
		plan := opened(t, other)
		if got := run(t, plan, plan.Scheme, 1); got.Hash == want.Hash {
			t.Errorf("nothing changes with\n%s", other)
		}
	}
}

// TestConfiguredSitesRefuse: what has no effect on them, or contradicts them, is an error.
func TestConfiguredSitesRefuse(t *testing.T) {
	t.Parallel()
	first, second := siteText("busy", "idle", 1, 4, ""), siteText("idle", "busy", 2, 6, "")
	for _, c := range []struct{ key, word, text string }{
		{"site[busy].localsched.cpus", "no effect", filed(t, first, second, "", "[site.localsched]\ncpus = 3\n")},
		{"rounds.check_interval", "no effect", filed(t, first, second, "[rounds]\ncheck_interval = \"9s\"\n", "")},
		{"site[third].config", "missing", filed(t, first, second, "", "") + "[[site]]\nname = \"third\"\n"},
		{"scheme", "central", filed(t, first, second, "scheme = \"central\"\n", "")},
		{"policy.name", `"cycle"`, filed(t, first, second, "[rounds]\ninitiation = \"cycle\"\n", "")},
		{"site[busy].config", "twice", filed(t, first, first, "", "")},
		{"policy.name", "nonsense", filed(t, first, second, "[policy]\nname = \"nonsense\"\n", "")},
	} {
		_, err := experiment.Read(write(t, "plan.toml", c.text))
		problemstest.Check(t, err, problemstest.At("plan.toml", 0, c.key, c.word))
	}
}
