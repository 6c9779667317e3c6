package metrics

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

var update = flag.Bool("update", false, "write docs/metrics.md")

const (
	rulesFile   = "../../examples/monitoring/alerts.yml"
	ruleTests   = "../../examples/monitoring/alerts_test.yml"
	boards      = "../../examples/monitoring/grafana"
	runbooks    = "../../docs/alerts.md"
	metricsPage = "../../docs/metrics.md"
	runbookURL  = "https://github.com/switchyard-hpc/switchyard/blob/main/docs/alerts.md#"
)

// described are a metric's help and labels, as the registry has them.
type described struct {
	help   string
	labels []string
}

// served are the metrics of a peer that has all of them, by name.
func served(t *testing.T) map[string]described {
	t.Helper()
	m := New(Identity{Site: "here", Version: "v1"})
	m.WatchSites(true, nil)
	m.WatchPrices(nil)
	m.WatchBudget(nil)
	m.WatchStore(nil)
	m.WatchTransfers(nil)
	m.WatchDisk(nil)
	m.WatchCertificate(nil)
	m.WatchIssuer("", nil)
	m.WatchRoster(nil)
	form := regexp.MustCompile(`^Desc\{fqName: "(\w+)", help: "(.*)", unit: ".*", constLabels: \{(.*)\}, variableLabels: \{(.*)\}\}$`)
	constant := regexp.MustCompile(`(\w+)="`)
	descs := make(chan *prometheus.Desc, 1000)
	m.registry.Describe(descs)
	close(descs)
	all := make(map[string]described)
	for desc := range descs {
		parts := form.FindStringSubmatch(desc.String())
		if parts == nil {
			t.Fatalf("%s has another form", desc)
		}
		if strings.Contains(parts[2], `", `) {
			t.Fatalf("the help of %s takes in other fields: %q", parts[1], parts[2])
		}
		d := described{help: strings.ReplaceAll(parts[2], `\"`, `"`)}
		for _, label := range constant.FindAllStringSubmatch(parts[3], -1) {
			d.labels = append(d.labels, label[1])
		}
		if parts[4] != "" {
			d.labels = append(d.labels, strings.Split(parts[4], ",")...)
		}
		all[parts[1]] = d
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// alert is a rule in [rulesFile].
type alert struct{ name, expr, url string }

func alerts(t *testing.T) (all []alert) {
	t.Helper()
	text := read(t, rulesFile)
	form := regexp.MustCompile(`- alert: (\w+)\n +expr: '(.*)'\n(?: +for: \w+\n)? +labels:\n +severity: (?:critical|warning)\n +annotations:\n +summary: '.*'\n +runbook_url: (\S+)\n`)
	for _, found := range form.FindAllStringSubmatch(text, -1) {
		all = append(all, alert{found[1], strings.ReplaceAll(found[2], "''", "'"), found[3]})
	}
	if len(all) == 0 || len(all) != strings.Count(text, "alert:") {
		t.Fatalf("%d of %d alerts have the usual form", len(all), strings.Count(text, "alert:"))
	}
	return all
}

// board is what is read of a dashboard.
type board struct {
	UID        string
	Title      string
	Templating struct {
		List []struct {
			Name, Type string
			Query      any
			Definition string
		}
	}
	Panels []panel
}

type panel struct {
	ID         int
	Type       string
	Title      string
	Datasource *source
	GridPos    struct{ X, Y, W, H int }
	Targets    []struct {
		Expr       string
		Datasource *source
	}
}

type source struct{ UID string }

// dashboards are those of [boards], by their files.
func dashboards(t *testing.T) map[string]board {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(boards, "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("dashboards: %v %v", paths, err)
	}
	all := make(map[string]board)
	for _, path := range paths {
		var b board
		if err := json.Unmarshal([]byte(read(t, path)), &b); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all[filepath.Base(path)] = b
	}
	return all
}

// exprs are all expressions of rules and dashboards, by where they are.
func exprs(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, a := range alerts(t) {
		all[a.name] = a.expr
	}
	for file, b := range dashboards(t) {
		for _, p := range b.Panels {
			for i, target := range p.Targets {
				all[fmt.Sprintf("%s, panel %d (%s), %d", file, p.ID, p.Title, i)] = target.Expr
			}
		}
		for _, v := range b.Templating.List {
			if v.Definition != "" {
				all[file+", variable "+v.Name] = v.Definition
			}
		}
	}
	return all
}

// A metric or label that is renamed must be so in rules and dashboards.
func TestRulesAndDashboardsNameWhatIsServed(t *testing.T) {
	t.Parallel()
	metrics := served(t)
	selector := regexp.MustCompile(`\b(switchyard_\w+)(?:\{([^}]*)\})?`)
	matcher := regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)`)
	for where, expr := range exprs(t) {
		for _, found := range selector.FindAllStringSubmatch(expr, -1) {
			metric, ok := metrics[found[1]]
			for _, part := range []string{"_bucket", "_sum", "_count"} {
				if whole, cut := strings.CutSuffix(found[1], part); cut && !ok {
					metric, ok = metrics[whole]
				}
			}
			if !ok {
				t.Errorf("%s: no peer serves %s", where, found[1])
				continue
			}
			for _, label := range matcher.FindAllStringSubmatch(found[2], -1) {
				if !slices.Contains(append([]string{"job", "instance", "le"}, metric.labels...), label[1]) {
					t.Errorf("%s: %s has no label %s", where, found[1], label[1])
				}
			}
		}
	}
}

// Jobs and users would make series without bound.
func TestNoLabelIsOfAJobOrUser(t *testing.T) {
	t.Parallel()
	for name, metric := range served(t) {
		if !strings.HasPrefix(name, "switchyard_") {
			continue
		}
		for _, label := range metric.labels {
			if slices.Contains([]string{"job", "id", "user", "account", "name", "instance"}, label) {
				t.Errorf("%s has the label %s", name, label)
			}
		}
	}
}

func TestAlertsHaveRunbooksAndTests(t *testing.T) {
	t.Parallel()
	page, tests := read(t, runbooks), read(t, ruleTests)
	known := make(map[string]bool)
	for _, a := range alerts(t) {
		if known[a.name] {
			t.Errorf("two alerts have the name %s", a.name)
		}
		known[a.name] = true
		if a.url != runbookURL+strings.ToLower(a.name) {
			t.Errorf("%s has the runbook %s", a.name, a.url)
		}
		_, section, ok := strings.Cut(page, "\n### "+a.name+"\n")
		section, _, _ = strings.Cut(section, "\n#")
		if !ok || !strings.Contains(section, "\n- **Check**: ") || !strings.Contains(section, "\n- **Do**: ") {
			t.Errorf("%s: %s does not say what to check and do", a.name, runbooks)
		}
		for _, outcome := range []string{`\[\]`, `\n`} {
			if !regexp.MustCompile(`alertname: ` + a.name + `\n +exp_alerts:\s*` + outcome).MatchString(tests) {
				t.Errorf("%s: %s must show when it fires, and when not", a.name, ruleTests)
			}
		}
	}
	for _, text := range []string{page, tests} {
		for _, name := range regexp.MustCompile(`(?:### |alertname: )(\w+)`).FindAllStringSubmatch(text, -1) {
			if !known[name[1]] {
				t.Errorf("there is no alert %s", name[1])
			}
		}
	}
}

// Dashboards can be imported into any Grafana: the source of the data is chosen there.
func TestDashboards(t *testing.T) {
	t.Parallel()
	host := regexp.MustCompile(`https?://|localhost|\d+\.\d+\.\d+\.\d+`)
	for file, b := range dashboards(t) {
		if found := host.FindString(read(t, filepath.Join(boards, file))); found != "" {
			t.Errorf("%s names the host %s", file, found)
		}
		if b.UID+".json" != file || !strings.HasPrefix(b.Title, "Switchyard: ") {
			t.Errorf("%s has the uid %q and the title %q", file, b.UID, b.Title)
		}
		if len(b.Templating.List) == 0 || b.Templating.List[0].Name != "datasource" || b.Templating.List[0].Type != "datasource" {
			t.Errorf("%s has no variable for the data source", file)
		}
		checkPanels(t, file, b.Panels)
	}
}

func checkPanels(t *testing.T, file string, panels []panel) {
	t.Helper()
	taken, ids := make(map[[2]int]string), make(map[int]bool)
	for _, p := range panels {
		if ids[p.ID] || p.Title == "" {
			t.Errorf("%s: panel %d is there twice, or has no title", file, p.ID)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x > 23 {
					t.Errorf("%s: %q has no room; %q is there", file, p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if p.Datasource == nil || p.Datasource.UID != "${datasource}" || len(p.Targets) == 0 {
			t.Errorf("%s: %q does not ask the chosen data source", file, p.Title)
		}
		for _, target := range p.Targets {
			if target.Datasource == nil || target.Datasource.UID != "${datasource}" || target.Expr == "" {
				t.Errorf("%s: %q does not ask the chosen data source", file, p.Title)
			}
		}
	}
}

// Promtool (Debian: prometheus) parses all expressions and runs the unit tests of the rules.
func TestPromtool(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed (Debian: prometheus)")
	}
	var rules strings.Builder
	rules.WriteString("groups:\n  - name: dashboards\n    rules:\n")
	known := exprs(t)
	for i, where := range slices.Sorted(maps.Keys(known)) {
		if strings.Contains(where, "variable ") {
			continue
		}
		expr := strings.NewReplacer("$__rate_interval", "5m", "$instance", "a", "$site", "b").Replace(known[where])
		fmt.Fprintf(&rules, "      # %s\n      - record: dashboards:expr:%d\n        expr: %q\n", where, i, expr)
	}
	path := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(path, []byte(rules.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check", "rules", rulesFile}, {"test", "rules", ruleTests}, {"check", "rules", path}, {"check", "config", "../../examples/monitoring/prometheus.yml"}} {
		if out, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// Each severity of the rules has its route, and Alertmanager reads the file.
func TestAmtool(t *testing.T) {
	t.Parallel()
	amtool, err := exec.LookPath("amtool")
	if err != nil {
		t.Skip("amtool is not installed (Debian: prometheus-alertmanager)")
	}
	for severity, receiver := range map[string]string{"critical": "on-call", "warning": "working-hours"} {
		out, err := exec.CommandContext(t.Context(), amtool, "config", "routes", "test",
			"--config.file=../../examples/monitoring/alertmanager.yml", "--verify.receivers="+receiver, "severity="+severity).CombinedOutput()
		if err != nil {
			t.Errorf("%s does not go to %s: %v\n%s", severity, receiver, err, out)
		}
	}
}

// The division binds tighter than "and": without parentheses the panel shows CPUs.
func TestBusyCPUsAreAShare(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed (Debian: prometheus)")
	}
	for _, p := range dashboards(t)["switchyard-grid.json"].Panels {
		if !strings.HasPrefix(p.Title, "Busy CPUs") {
			continue
		}
		labels := ""
		if strings.HasSuffix(p.Title, "by site") {
			labels = `instance="i", site="a"`
		}
		test := fmt.Sprintf(`
tests:
  - interval: 1m
    input_series:
      - {series: 'switchyard_build_info{instance="i",site="a"}', values: 1}
      - {series: 'switchyard_site_busy_cpus{instance="i",site="a"}', values: 16}
      - {series: 'switchyard_site_busy_cpus{instance="i",site="b"}', values: 8}
      - {series: 'switchyard_site_cpus{instance="i",site="a"}', values: 64}
      - {series: 'switchyard_site_cpus{instance="i",site="b"}', values: 8}
    promql_expr_test:
      - expr: '%s'
        eval_time: 0s
        exp_samples: [{labels: '{%s}', value: 0.25}]
`, p.Targets[0].Expr, labels)
		path := filepath.Join(t.TempDir(), "test.yml")
		if err := os.WriteFile(path, []byte(test), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), promtool, "test", "rules", path).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", p.Title, err, out)
		}
	}
}

// TestPage compares docs/metrics.md with the registry; with -update it writes the page.
func TestPage(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	page.WriteString("# Metrics\n\n" +
		"All metrics that a peer serves at `[metrics] listen`, besides those of Go and of its process (`go_…`, `process_…`). [operations.md](operations.md#watching-it) says what the\n" +
		"most useful ones are for, and [alerts.md](alerts.md) has alerts. `go test ./internal/metrics -update` writes this page.\n\n" +
		"| metric | labels | |\n|---|---|---|\n")
	metrics := served(t)
	for _, name := range slices.Sorted(maps.Keys(metrics)) {
		if !strings.HasPrefix(name, "switchyard_") {
			continue
		}
		labels := ""
		if all := metrics[name].labels; len(all) > 0 {
			labels = "`" + strings.Join(slices.Sorted(slices.Values(all)), "`, `") + "`"
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s |\n", name, labels, metrics[name].help)
	}
	if *update {
		if err := os.WriteFile(metricsPage, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if read(t, metricsPage) != page.String() {
		t.Errorf("%s is out of date: go test ./internal/metrics -update", metricsPage)
	}
}
