package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
)

// walk is a document whose commands are run in order as written, in one shell.
type walk struct {
	path    string
	example string            // of which the shell's directory is a copy
	grid    []testbed.Machine // that runs; the first site is asked
	before  string            // commands that make what the document takes for granted; REPOSITORY, API and CA are variables
	replace []string          // in commands: what the document has, and what is run instead
	short   []string          // the same under -short; what other commands than the document's print is not compared
	unlike  string            // a command that prints another thing each day
}

// walks are in the order of the paths. What is replaced are places, hosts, what compiles Switchyard again and what takes minutes.
var walks = []walk{
	{
		path: "README.md", before: shortGrids,
		replace: []string{"go run ./cmd/switchyard", "switchyard", "make check", ": make check", "/tmp/", ""},
		short:   []string{"switchyard demo  ", "switchyard demo --jobs 3  ", "run heavy", "run heavy.toml", "sweep light", "sweep light.toml", "scale=true", "scale=true,jobs=40"},
	},
	{path: "docs/applications.md", grid: brokers(), before: coupledFiles},
	{path: "docs/cli.md", grid: served(), before: atHome, replace: []string{
		"switchyard events", "brief switchyard events", "https://north.example.org:9760", "https://$API", "/home/ada/", "$PWD/", "switchyard submit --stage-in='data/*.csv,/scratch/big/model", "unset SWITCHYARD_SERVER; switchyard submit --stage-in='data/*.csv,model", "/scratch/model", "model",
		"curl ", "{ printf 'Authorization: Bearer '; cat token; } >header; curl -fsS ", "'1000000000051_[1-5]'", `"$array"_[1-5]`, "requeue 1000000000042", "requeue $job",
		"switchyard fetch", "switchyard wait ID && switchyard fetch",
	}},
	{path: "docs/dashboard.md", grid: served(), before: shortGrids, replace: []string{"/srv/switchyard/studies/", ""}, short: []string{"sweep light", "sweep light.toml"}},
	{path: "docs/from-slurm.md", grid: served(), before: atHome + "echo sleep 1000 >>job.sh"},
	{path: "docs/operations.md", grid: served(), before: atHome, replace: []string{
		"config check &&", "config check --config $CONFIG &&", "user=portal", "user=$(id -un)", "4f1c09a7b2d3", "$(switchyard token list --no-header | awk '{print $1; exit}')",
	}},
	{
		path: "docs/policies.md", before: twoTraces + shortGrids,
		short: []string{"sweep heavy", "sweep heavy.toml", "run heavy", "run heavy.toml"},
	},
	{path: "docs/prices.md", before: priceFiles, replace: []string{"/etc/switchyard/", ""}},
	{
		path: "docs/simulator.md", before: twoTraces + shortGrids + logs,
		replace: []string{
			"/etc/switchyard/switchyard.toml", "north.toml", "power-budget.toml", "examples/experiments/power-budget.toml",
			"sweep gpus.toml", "sweep examples/experiments/gpus.toml", "ours=128x1@375,trace=SDSC-SP2.swf.gz", "ours=256x1@375,trace=SDSC-SP2.swf.gz,span=2d",
		},
		short: []string{
			"show light", "show light | shorter", "run light", "run light.toml", "sweep light", "sweep light.toml", "sweep heavy", "sweep heavy.toml",
			"--seeds 20", "--seeds 2", "budget_kw=10,20,30,70", "budget_kw=20", "price=0.02,0.2,0.4", "price=0.2", "delay_price=0.1,1,5", "delay_price=1",
			"max_cpu_share=0,0.2,0.4", "max_cpu_share=0.2", "0.7..1.3", "1", "0.5..0.9", "0.5", "60s,300s,900s", "300s",
		},
	},
	{path: "docs/two-sites.md", example: "examples/two-sites", before: "mkdir -p examples/two-sites; mv *.* examples/two-sites", replace: []string{
		"make build", ": make build", "cd /tmp/two-sites", "cd copy && chmod 1777 .", "/tmp/two-sites", "copy", "$(id -un)", "$ACCOUNT",
	}},
	{path: "examples/electricity/README.md", example: "examples/electricity"},
	{path: "examples/iss/README.md", before: "cd $REPOSITORY", short: []string{"price=0.02,0.2,0.4", "price=0.2", "rate=6,60,600", "rate=60"}},
	{path: "examples/iss/live/README.md", example: "examples/iss/live", unlike: "switchyard submit --pareto"},
	{path: "examples/power-budget/README.md", example: "examples/power-budget"},
	{path: "examples/two-sites/README.md", example: "examples/two-sites"},
}

// shortGrids has the built-in experiments with 40 jobs of each site.
const shortGrids = `
shorter() { sed '/^jobs = /d; s/^span = .*/&\njobs = 40/'; }
switchyard sim show light | shorter >light.toml
switchyard sim show heavy | shorter >heavy.toml
`

// twoTraces has the configurations of two sites, and what their users have submitted.
const twoTraces = `cp $REPOSITORY/cmd/switchyard/testdata/sites/* . && cp north.swf jobs.swf
`

// logs has logs under the names of those that the document takes, which are not in the repository, and the directory examples.
const logs = `
ln -s $REPOSITORY/examples $REPOSITORY/internal .
gzip -c internal/workload/testdata/lublin_256_est.swf >SDSC-SP2.swf.gz
cp SDSC-SP2.swf.gz ANL-Intrepid-2009-1.first10000.swf.gz
head -1 internal/workload/testdata/hand-written.sacct >ours.txt
for job in $(seq 300); do
	at=$((1772323200 + job * job * 16)) ran=$((job * 7919 % 5000 + 60))
	echo "$job|$(date -d @$at +%FT%T)|$(date -d @$((at + 60)) +%FT%T)|$(date -d @$((at + 60 + ran)) +%FT%T)|$ran|$((1 << job % 8))|$((1 << job % 8))|120|COMPLETED|normal|ada"
done >>ours.txt
`

// priceFiles has a file of prices, a feed that reads it, and a tariff.
const priceFiles = `
printf '%s\n' 'datetime;Hours;FI' '30.03.2014;01 - 02;25,91' '30.03.2014;02 - 03;' '30.03.2014;03 - 04;24,44' | gzip >elspot-2014.csv.gz
cp -r $REPOSITORY/examples/electricity/prices* . && ./prices.sh && cp prices/north.csv prices/north.toml . && mv north.toml prices.toml
cp prices/south.toml tariff.toml
`

// coupledFiles has the application that the document shows, with its scripts.
const coupledFiles = `
awk '/^# coupled.toml/ { shown = 1 } /^\x60\x60\x60/ { shown = 0 } shown' $REPOSITORY/docs/applications.md >coupled.toml
printf '%s\n' '#!/bin/sh' true >job.sh && cp job.sh mesh.sh && cp job.sh solve.sh
`

// atHome has brief, which ends a command that has no end, a job that runs and an array that does, a script, and the files that jobs ask for.
const atHome = `
brief() { timeout 1 "$@" || [ $? = 124 ]; }
mkdir -p data run run7 && chmod 1777 . run run7 && touch data/x.csv model model.dat && cp $CA ca.pem
printf '%s\n' '#!/bin/sh' '#SBATCH --ntasks=1 --time=1' 'mkdir -p results && touch results/x run.log' >job.sh
array=$(switchyard submit --parsable --sites=aurora --array=1-5 --wrap 'sleep 1000')
job=$(switchyard submit --parsable --sites=aurora --wrap 'sleep 1000')
until [ $(switchyard queue --no-header --states=RUNNING | wc -l) = 6 ]; do sleep 0.1; done
`

// brokers are two sites that weigh costs, with what the application asks for.
func brokers() []testbed.Machine {
	all := []testbed.Machine{broker("aurora", 64, "CHF", 0.1, 800), broker("cygnus", 64, "EUR", 0.05, 400)}
	for i := range all {
		all[i].More = strings.NewReplacer("solver = 8\n", "solver = 8\nmatlab = 8\nansys = 8\n", "64GB/s", "640GB/s").Replace(all[i].More) +
			"\n[cost]\nqos_factors = { urgent = 1.5 }\n"
	}
	return all
}

// served are three sites, of which the first has the API over TCP.
func served() []testbed.Machine {
	return []testbed.Machine{
		{Name: "aurora", CPUs: 32, More: "[api]\nlisten = \"127.0.0.1:0\"\n"}, {Name: "borealis", CPUs: 32}, {Name: "cygnus", CPUs: 32},
	}
}

// elsewhere is a block that no walk runs, by how it begins.
type elsewhere struct{ path, first, reason, by string }

// elsewheres say why no walk runs a block, and which test, target or file of the repository does.
var elsewheres = []elsewhere{
	{"docs/first-day.md", "make build", "installs a service", "make packages-check"},
	{"docs/first-day.md", "north$ sudo switchyard keygen", "needs a site with Slurm", "TestBeds"},
	{"docs/first-day.md", "north$ sudo systemctl", "installs a service", "make packages-check"},
	{"docs/first-day.md", "north$ switchyard submit --ntasks", "needs a site with Slurm", "TestBeds"},
	{"docs/first-day.md", "north$ sudo switchyard invite", "needs two machines", "TestASiteJoinsByInvitation"},
	{"docs/first-day.md", "switchyard sites", "needs two machines", "TestASiteJoinsByInvitation"},
	{"docs/first-day.md", "north$ switchyard submit --sites", "needs two sites with Slurm", "TestBeds"},
	{"docs/first-day.md", "south$ sudo switchyard drain", "needs two sites", "TestDrain"},
	{"docs/first-day.md", "sudo install", "writes below the root directory", "TestStoreOfARunningPeer"},
	{"docs/install.md", "sha256sum", "needs a release", "make packages-check"},
	{"docs/install.md", "sudo apt install", "installs packages", "make packages-check"},
	{"docs/install.md", "sudo editor", "installs a service", "make packages-check"},
	{"docs/install.md", "tar -xzf", "installs a service", "make packages-check"},
	{"docs/install.md", "docker load", "needs a Docker engine", "make packages-check"},
	{"docs/operations.md", "sudo switchyard config check", "installs a service", "make packages-check"},
	{"docs/operations.md", "switchyard sim sweep examples/experiments/moves.toml", "needs logs that are not in the repository", "make reproduce"},
	{"docs/operations.md", "signer$ switchyard keygen", "needs several sites", "TestARosterMakesPartners"},
	{"docs/operations.md", "north$ sudo switchyard statement", "needs a month that has ended at two sites", "TestSettlement"},
	{"docs/plugins.md", "switchyard plugin new policy nearest --dir", "compiles a module", "TestNewPlugins"},
	{"docs/plugins.md", "go test ./...", "compiles a module", "TestNewPlugins"},
	{"docs/plugins.md", "switchyard sim run heavy", "needs a plugin that is compiled", "TestNewPlugins"},
	{"docs/plugins.md", "sudo install", "installs a plugin", "TestPolicyPluginMayFail"},
	{"docs/plugins.md", "switchyard plugin new policy nearest --language", "needs Python's gRPC", "TestNewPluginsInPython"},
	{"docs/plugins.md", "switchyard plugin info", "needs a plugin that is compiled", "TestNewPlugins"},
	{"docs/plugins.md", "$ switchyard plugin list", "needs a plugin that is killed", "TestPolicyPluginMayFail"},
	{"docs/prices.md", "curl", "asks a service on the Internet", "TestStandaloneFeeds"},
	{"docs/prices.md", "switchyard plugin check bin/plugins", "needs make plugins", "TestStandaloneFeeds"},
	{"docs/scripts.md", "go test", "a test", "TestScripts"},
	{"docs/simulator.md", "switchyard sim from-record", "needs recordings of a grid", "TestSimulatedDay"},
	{"docs/simulator.md", "go test", "a test", "TestSimulatedDay"},
	{"docs/simulator.md", "sacct", "asks a real Slurm for a month", "TestSimFit"},
	{"docs/simulator.md", "switchyard runs", "needs the run history of a park", "TestSimTuneHistory"},
	{"docs/simulator.md", "switchyard peer --config site.toml --record", "needs a recorded peer", "TestSimReplay"},
	{"docs/simulator.md", "switchyard sim tune examples/iss/buy.toml", "takes minutes", "TestSimTune"},
	{"docs/slurm.md", "sacctmgr", "needs a real Slurm with accounting", "TestAssociationsOfSlurm"},
	{"docs/slurm-commands.md", "switchyard slurm-commands", "makes links that all users find", "TestSlurmCommands"},
	{"docs/slurm-commands.md", "go test", "a test", "TestSlurmCommands"},
	{"docs/third-party.md", "go version", "needs a binary that make build has made", "make packages"},
	{"docs/third-party.md", "internal/packaging/licenses", "needs a binary that make build has made", "make packages"},
	{"docs/two-sites.md", "north$ sudo switchyard invite", "needs two machines", "TestASiteJoinsByInvitation"},
	{"docs/two-sites.md", "north$ sudo switchyard keyring", "needs two machines", "TestASiteJoinsByInvitation"},
	{"docs/two-sites.md", "sudo install", "installs a service", "make packages-check"},
	{"docs/two-sites.md", "sudo useradd", "makes an account", "make packages-check"},
	{"examples/compose/README.md", "./up.sh", "needs a Docker engine", "TestBeds"},
	{"examples/compose/README.md", "docker exec", "needs a grid of containers", "TestBeds"},
	{"examples/compose/peers/README.md", "../up.sh", "needs a Docker engine", "TestBeds"},
	{"examples/iss/README.md", "switchyard sim tune", "takes minutes", "TestSimTune"},
	{"examples/monitoring/README.md", "prometheus ", "needs Prometheus", "make alerts-check"},
	{"examples/monitoring/README.md", "prometheus-alertmanager", "needs Alertmanager", "make alerts-check"},
	{"examples/plugins/cheapest/README.md", "cd examples/plugins", "compiles a plugin", "TestPolicyConformance"},
	{"examples/plugins/cheapest/README.md", "switchyard sim run", "needs a plugin that is compiled", "TestByHand"},
	{"examples/plugins/cheapest/README.md", "sudo install", "installs a plugin", "TestPeers"},
	{"examples/plugins/cheapest/README.md", "$ switchyard explain", "needs a peer with the plugin", "TestPeers"},
	{"examples/plugins/cheapest-python/README.md", "sudo apt", "installs packages", ".ci/run"},
	{"examples/plugins/cheapest-python/README.md", "switchyard plugin check", "needs Python's gRPC", "TestPythonInTheSimulator"},
	{"examples/plugins/cheapest-python/README.md", "sudo cp", "installs a plugin", "TestPeers"},
	{"examples/plugins/corrected/README.md", "go build", "compiles a plugin", "TestLateSiteIsCorrected"},
	{"examples/plugins/widest/README.md", "cd examples/plugins", "compiles a plugin", "TestSchedulerInTheSimulator"},
	{"examples/workflows/README.md", "switchyard slurm-commands", "needs workflow tools", "TestWorkflowTools"},
}

// fence is a block of a document between fences.
type fence struct {
	path     string // below the repository
	number   int    // of the line of its first fence
	language string
	lines    []string // without the indentation of the fence
}

// fences are all blocks of all documents but the changelog, which also has what was.
func fences(t *testing.T) (all []fence) {
	t.Helper()
	for _, path := range documents(t) {
		name, err := filepath.Rel("../..", path)
		if err != nil {
			t.Fatal(err)
		}
		if name == "CHANGELOG.md" {
			continue
		}
		var open *fence
		indented := ""
		for _, line := range paragraphs(t, path) {
			text := strings.TrimLeft(line.text, " ")
			switch mark, is := strings.CutPrefix(text, "```"); {
			case is && open == nil:
				open, indented = &fence{path: name, number: line.number, language: mark}, strings.TrimSuffix(line.text, text)
			case is:
				all, open = append(all, *open), nil
			case open != nil:
				open.lines = append(open.lines, strings.TrimPrefix(line.text, indented))
			case line.code && len(commandsOf(line)) > 0:
				t.Errorf("%s:%d: put commands between fences, not behind spaces", name, line.number)
			}
		}
	}
	return all
}

// TestCommandsOfDocumentsRun: each block of shell in a document runs here as it is written, and prints what is shown, or is in the
// table of those that something else runs.
func TestCommandsOfDocumentsRun(t *testing.T) {
	t.Parallel()
	known := thingsThatRun(t)
	used := make([]bool, len(elsewheres))
	toRun := map[string][]statement{}
	for _, block := range fences(t) {
		switch block.language {
		case "sh", "console":
		case "text", "toml", "csv", "json", "go", "dockerfile":
			if prompt.MatchString(block.lines[0]) || strings.HasPrefix(block.lines[0], "switchyard ") && block.language != "text" {
				t.Errorf("%s:%d: a block of commands is not sh or console", block.path, block.number)
			}
			continue
		default:
			t.Errorf("%s:%d: block of language %q; use sh for commands, console for commands and what they print, or text", block.path, block.number, block.language)
			continue
		}
		row := slices.IndexFunc(elsewheres, func(e elsewhere) bool {
			return e.path == block.path && strings.HasPrefix(block.lines[0], e.first)
		})
		if row >= 0 {
			used[row] = true
			if by := elsewheres[row].by; !known[by] {
				t.Errorf("%s:%d: is said to be run by %s, which does not exist", block.path, block.number, by)
			}
			continue
		}
		toRun[block.path] = append(toRun[block.path], block.statements()...)
	}
	for i, e := range elsewheres {
		if !used[i] {
			t.Errorf("no block of %s begins with %q", e.path, e.first)
		}
	}
	for _, w := range walks {
		commands := toRun[w.path]
		if len(commands) == 0 {
			t.Errorf("no block of %s is to run", w.path)
		}
		t.Run(w.path, func(t *testing.T) {
			t.Parallel()
			w.run(t, commands)
		})
		delete(toRun, w.path)
	}
	for path, left := range toRun {
		t.Errorf("%s:%d: nothing runs this block; add the document to walks, or the block to elsewheres", path, left[0].number)
	}
}

// run follows the statements of a document.
func (w walk) run(t *testing.T, statements []statement) {
	t.Helper()
	account, err := testbed.JobAccount(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"REPOSITORY=" + repository(t), "ACCOUNT=" + account.Name}
	if w.grid != nil {
		g := makeGridFrom(t, testbed.Config{Binary: ownBinary(t), Sites: w.grid, QuoteTimeout: quoteTimeout, OnStop: "end"})
		if err := g.Start(patience(t)); err != nil {
			t.Fatal(err)
		}
		site := g.Sites[0]
		env = append(env, "SWITCHYARD_SOCKET="+site.Socket, "CONFIG="+site.Config, "CA="+filepath.Join(site.Dir, "state", "api", "ca.pem"))
		if strings.Contains(w.grid[0].More, "[api]") {
			env = append(env, "API="+apiAddress(t, site))
		}
	}
	r := newReader(t, env...)
	if w.example != "" {
		r.copyExample(w.example)
	}
	r.must(w.before)
	replace, shorten := strings.NewReplacer(w.replace...), strings.NewReplacer()
	if testing.Short() {
		shorten = strings.NewReplacer(w.short...)
	}
	for _, s := range statements {
		s.command = replace.Replace(s.command)
		if short := shorten.Replace(s.command); short != s.command || w.unlike != "" && strings.HasPrefix(s.command, w.unlike) {
			s.command, s.shown = short, nil
		}
		r.follow(w.path, s)
	}
}

// thingsThatRun are the tests of this repository, and the targets of its Makefile that a person or CI calls.
func thingsThatRun(t *testing.T) map[string]bool {
	t.Helper()
	known := map[string]bool{".ci/run": true}
	files, err := exec.CommandContext(t.Context(), "grep", "-rhoE", "--include=*_test.go", `^func Test[A-Za-z0-9_]+`, repository(t)).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.FieldsSeq(string(files)) {
		known[line] = true
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllStringSubmatch(string(makefile), -1) {
		known["make "+target[1]] = true
	}
	return known
}
