package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// What people do with a grid, each against real peers: aurora with 2 CPUs and
// borealis with 4.
func TestPeopleUseTheGrid(t *testing.T) {
	g := startPatientGrid(t, testbed.Machine{Name: "aurora", CPUs: 2, More: "[staging]\nmax_bytes = \"50MB\"\n", Shared: sharedDir}, testbed.Machine{
		Name: "borealis", CPUs: 4, Shared: sharedDir, LocalSched: "cpus = 4\nkill_grace = \"1s\"\non_stop = \"end\"\nmax_output = \"1MB\"\ncgroup = \"none\"\n",
	})
	aurora := g.Sites[0]
	for name, test := range map[string]func(*testing.T, *grid, *testbed.Site){
		"output comes back":            outputComesBack,
		"secrets stay at home":         secretsStay,
		"wait exits as the job did":    waitExits,
		"output without a directory":   outputWithoutDirectory,
		"quotes":                       quotes,
		"only a partner can run it":    onlyAPartner,
		"nobody can run it":            onlyTheOwner,
		"cancel":                       cancels,
		"cancel with sparse output":    cancelsSparse,
		"endless output":               endlessOutput,
		"status says what is lacking":  saysLacking,
		"follow a job elsewhere":       followsElsewhere,
		"explain":                      explains,
		"sites":                        listsSites,
		"unknown job":                  unknownJob,
		"a job without a known folder": noDir,
		"files do not travel":          filesStay,
		"files travel that are named":  filesTravel,
		"directives name files":        directivesNameFiles,
		"files that cannot travel":     filesCannotTravel,
		"files that are shared":        filesShared,
		"one number everywhere":        oneNumber,
	} {
		t.Run(name, func(t *testing.T) { test(t, g, aurora) })
	}
}

func outputComesBack(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	id := g.submit(t, site, "#!/bin/sh\necho out $1 $X\necho err >&2\n", "--export=ALL,X=5", "-J", "50% a", "-o", "%x-%j.txt", "-", "arg")
	job := g.until(t, site, id, ended)
	if want := filepath.Join(g.work, "50% a-"+id.String()+".txt"); job.Stdout != want || job.State != protocol.Completed {
		t.Errorf("got %+v", job)
	}
	if got := g.output(t, job); got != "out arg 5\nerr\n" {
		t.Errorf("the output is %q", got)
	}
	if got := g.at(t, site, "", "logs", id.String()); got != (result{0, "out arg 5\nerr\n", ""}) {
		t.Errorf("logs: %+v", got)
	}
}

// secretsStay: nothing of the submitter's environment but what the user names and the short
// list reaches another site; at home a job has all of it.
func secretsStay(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	for name, value := range map[string]string{"GRID_TOKEN": "s3cret", "PROJECT": "pr1vate", "WANTED": "yes", "TZ": "UTC"} {
		t.Setenv(name, value)
	}
	environment := func(args ...string) string {
		id := g.submit(t, site, "#!/bin/sh\nenv\n", args...)
		return "\n" + g.output(t, g.until(t, site, id, ended))
	}
	home := environment("--sites=aurora")
	for _, want := range []string{"\nGRID_TOKEN=s3cret\n", "\nPROJECT=pr1vate\n"} {
		if !strings.Contains(home, want) {
			t.Errorf("at home %q is missing in:%s", want, home)
		}
	}
	remote := environment("--sites=borealis", "--export-remote=WANTED")
	for part, want := range map[string]bool{"s3cret": false, "pr1vate": false, "\nWANTED=yes\n": true, "\nTZ=UTC\n": true, "\nPATH=": true} {
		if strings.Contains(remote, part) != want {
			t.Errorf("away from home %q is there: %t, in:%s", part, !want, remote)
		}
	}
	got := g.at(t, site, "#!/bin/sh\n", "submit", "--test-only", "--export=ALL")
	leave, stay, _ := strings.Cut(got.stderr, "variables not sent to other sites:")
	if !strings.Contains(leave, " PROJECT") || !strings.Contains(stay, " GRID_TOKEN") || strings.Contains(leave, " GRID_TOKEN") {
		t.Errorf("--test-only: %+v", got)
	}
}

// filesStay: a job that another site may run is told, once, that it finds no files there, and
// where it begins; not when it stays, or needs none.
func filesStay(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	dir := filepath.Join(g.work, "sub")
	want := "switchyard: no files are named that go with the job: at another site (borealis) it starts in an empty directory instead of " + dir +
		", and only its output is returned; name them with --stage-in and --stage-out, keep it at this site with --sites=aurora, or state with --stage-in-size=0 that it needs no files\n"
	const script = "#!/bin/sh\nls -A\n"
	for options, reported := range map[string]bool{
		"": true, "--sites=borealis": true, "--stage-in-size=3": true, "--test-only": true,
		"--sites=aurora": false, "--stage-in-size=0": false, "--quiet": false,
	} {
		got := g.at(t, site, script, append([]string{"submit", "--chdir=sub", "-o", "/dev/null", "--export=NONE"}, strings.Fields(options)...)...)
		if got.code != 0 || strings.Contains(got.stderr, want) != reported || !reported && got.stderr != "" {
			t.Errorf("%q: %+v, want %t: %s", options, got, reported, want)
		}
	}
	t.Setenv("PROJECT", "pr1vate")
	t.Setenv("TZ", "UTC")
	const differs = "#!/bin/sh\necho $PROJECT $TZ\nsbatch next.sh\n"
	for options, reported := range map[string]bool{"": true, "--test-only": true, "--sites=aurora": false, "--export-remote=PROJECT --quiet": false} {
		got := g.at(t, site, differs, append([]string{"submit", "-o", "none/out"}, strings.Fields(options)...)...)
		for _, want := range []string{"stdin:2: PROJECT is not sent to other sites; ", "stdin:3: sbatch fails at another site"} {
			if got.code != 0 || strings.Contains(got.stderr, "switchyard: "+want) != reported || strings.Contains(got.stderr, "TZ is not") {
				t.Errorf("%q: %+v, want %t: %s", options, got, reported, want)
			}
		}
		if missing := "switchyard: the directory " + g.work + "/none of the output does not exist"; strings.Contains(got.stderr, missing) == strings.Contains(options, "quiet") {
			t.Errorf("%q: %+v, %s", options, got, missing)
		}
	}
	job := g.until(t, site, g.submit(t, site, script, "--chdir=sub", "--sites=borealis", "-o", filepath.Join(g.work, "%x")), ended)
	if job.State != protocol.Completed || g.output(t, job) != "" {
		t.Errorf("%+v finds %q", job, g.output(t, job))
	}
}

// oneNumber: what submit prints is %j, and what a job finds as its number.
func oneNumber(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	for _, where := range []string{"aurora", "borealis"} {
		id := g.submit(t, site, "#!/bin/sh\necho $SLURM_JOB_ID $SWITCHYARD_JOB_ID\n", "--sites="+where, "-o", "number-%j")
		job := g.until(t, site, id, ended)
		if got := g.output(t, job); got != id.String()+" "+id.String()+"\n" || filepath.Base(job.Stdout) != "number-"+id.String() {
			t.Errorf("at %s job %s finds %q, and writes %s", where, id, got, job.Stdout)
		}
	}
}

func waitExits(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	for command, code := range map[string]int{"exit 7": 7, "kill -9 $$": 137, "true": 0} {
		for _, where := range []string{"aurora", "borealis"} {
			got := g.at(t, site, "#!/bin/sh\n"+command+"\n", "submit", "--wait", "--parsable", "--sites="+where)
			if got.code != code || !regexp.MustCompile(`^[0-9]+\n$`).MatchString(got.stdout) {
				t.Errorf("%q at %s: %+v", command, where, got)
			}
		}
	}
	got := g.at(t, site, "#!/bin/sh\nsleep 60\n", "submit", "--wait", "-t", "0:0:1")
	if got.code == 0 || !strings.Contains(got.stderr, "TIMEOUT") {
		t.Errorf("a job beyond its limit: %+v", got)
	}
}

// outputWithoutDirectory: output that cannot be written to its file is printed from what the peer keeps of it, while the file of the
// other stream is as ever. Who waits for the job does not take it for one whose output is there; a code of the job's own stays.
func outputWithoutDirectory(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	for _, code := range []int{0, 7} {
		script := fmt.Sprintf("#!/bin/sh\necho kept\necho written >&2\nexit %d\n", code)
		got := g.at(t, site, script, "submit", "--wait", "--parsable", "--sites=borealis", "-o", "none/%j.out", "-e", "%j.err")
		id := strings.TrimSpace(got.stdout)
		if got.code != max(code, 1) || !strings.Contains(got.stderr, "output not written: cannot put ") || !strings.Contains(got.stderr, "`switchyard logs "+id+"` prints what is kept of its stdout\n") {
			t.Errorf("exit %d: %+v", code, got)
		}
		if got = g.at(t, site, "", "wait", id); got.code != max(code, 1) {
			t.Errorf("exit %d: wait: %+v", code, got)
		}
		for _, follow := range []string{"", "--follow"} {
			args := append([]string{"logs", id}, strings.Fields(follow)...)
			got = g.at(t, site, "", args...)
			if got.code != 0 || got.stdout != "kept\n" || !strings.Contains(got.stderr, "none/"+id+".out, but kept by the peer until ") || !strings.Contains(got.stderr, "`switchyard logs "+id+" >FILE` copies it") {
				t.Errorf("exit %d: logs %s: %+v", code, follow, got)
			}
			if got = g.at(t, site, "", append(args, "--stderr")...); got != (result{0, "written\n", ""}) {
				t.Errorf("exit %d: logs --stderr %s: %+v", code, follow, got)
			}
		}
	}
}

func quotes(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	got := g.at(t, site, "#!/bin/sh\n", "submit", "--test-only", "-n", "4")
	if got.code != 0 || !strings.Contains(got.stdout, "borealis  0:00:00") || !strings.Contains(got.stdout, "needs 4 CPUs, the site has 2") {
		t.Errorf("got %+v", got)
	}
}

func onlyAPartner(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	id := g.submit(t, site, "#!/bin/sh\necho $SWITCHYARD_EXEC_SITE\n", "-n", "4")
	job := g.until(t, site, id, ended)
	if job.Site != "borealis" || job.State != protocol.Completed || g.output(t, job) != "borealis\n" {
		t.Errorf("got %+v", job)
	}
}

func onlyTheOwner(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	got := g.at(t, site, "#!/bin/sh\n", "submit", "-n", "99")
	if got.code != 5 || got.stdout != "" ||
		!strings.Contains(got.stderr, "  aurora: needs 99 CPUs, the site has 2\n") ||
		!strings.Contains(got.stderr, "  borealis: needs 99 CPUs, the site has 4\n") {
		t.Errorf("got %+v", got)
	}
	if got = g.at(t, site, "#!/bin/sh\n", "submit", "-n", "4", "--sites=aurora"); got.code != 5 {
		t.Errorf("a job that may only run where it cannot: %+v", got)
	}
}

func cancels(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	const long = "#!/bin/sh\nsleep 300\n"
	here := g.submit(t, site, long, "-n", "2", "--sites=aurora")
	there := g.submit(t, site, long, "-n", "4", "--sites=borealis")
	queuedHere := g.submit(t, site, long, "-n", "2", "--sites=aurora")
	queuedThere := g.submit(t, site, long, "-n", "4", "--sites=borealis")
	g.until(t, site, here, running)
	g.until(t, site, there, running)
	got := g.at(t, site, "", "cancel", queuedHere.String(), queuedThere.String(), here.String(), there.String())
	if got != (result{}) {
		t.Errorf("cancel: %+v", got)
	}
	for _, id := range []protocol.JobID{here, there, queuedHere, queuedThere} {
		if job := g.until(t, site, id, ended); job.State != protocol.Cancelled {
			t.Errorf("got %+v", job)
		}
	}
}

// cancelsSparse cancels jobs that have their output seem to be 4 TiB: they end as others do.
func cancelsSparse(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	for _, where := range []string{"aurora", "borealis"} {
		id := g.submit(t, site, "#!/bin/sh\ntruncate -s 4T /proc/self/fd/1\n: >"+filepath.Join(g.work, where)+"\nsleep 300\n", "--sites="+where)
		g.until(t, site, id, running)
		for !present(filepath.Join(g.work, where)) {
			time.Sleep(10 * time.Millisecond)
		}
		asked := time.Now()
		if got := g.at(t, site, "", "cancel", id.String()); got != (result{}) {
			t.Errorf("cancel: %+v", got)
		}
		job := g.until(t, site, id, ended)
		if job.State != protocol.Cancelled {
			t.Errorf("got %+v", job)
		}
		if took := time.Since(asked); took > 45*time.Second {
			t.Errorf("at %s it took %v", where, took)
		}
	}
}

func present(path string) bool { _, err := os.Stat(path); return err == nil }

// saysLacking asks a site that may not make control groups how it is.
func saysLacking(t *testing.T, g *grid, _ *testbed.Site) {
	t.Helper()
	got := g.at(t, g.Sites[1], "", "status")
	if !strings.Contains(got.stdout, "\nNote       processes that leave their session may outlive a job") {
		t.Errorf("got %+v", got)
	}
}

// endlessOutput has a job write more to its output than a site lets a guest write.
func endlessOutput(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	id := g.submit(t, site, "#!/bin/sh\nyes\n", "--sites=borealis")
	job := g.until(t, site, id, ended)
	if job.State != protocol.Failed || !strings.Contains(job.Reason, "stdout ended at 1 MiB, [localsched] max_output") {
		t.Errorf("got %+v", job)
	}
	if got := g.output(t, job); len(got) != 1<<20 || !strings.HasPrefix(got, "y\ny\n") {
		t.Errorf("the output has %d bytes", len(got))
	}
}

func followsElsewhere(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	door := filepath.Join(g.work, "door")
	id := g.submit(t, site, "#!/bin/sh\necho one\nwhile [ ! -e "+door+" ]; do sleep 0.05; done\necho two\n", "--sites=borealis")
	g.until(t, site, id, running)
	logs := g.process(patience(t), t, site, "logs", "-f", id.String())
	out, err := logs.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := logs.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "one" {
		t.Errorf("the first line is %q", lines.Text())
	}
	if err := os.WriteFile(door, nil, 0o600); err != nil {
		t.Error(err)
	}
	if !lines.Scan() || lines.Text() != "two" || lines.Scan() {
		t.Errorf("the last line is %q", lines.Text())
	}
	if err := logs.Wait(); err != nil {
		t.Error(err)
	}
}

func explains(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	id := g.submit(t, site, "#!/bin/sh\n", "-n", "4")
	g.until(t, site, id, ended)
	got := g.at(t, site, "", "explain", id.String())
	for _, want := range []string{"submitted", "is chosen", "→  borealis", "needs 4 CPUs, the site has 2", "ended COMPLETED"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("%q is missing in\n%s%s", want, got.stdout, got.stderr)
		}
	}
}

func listsSites(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	got := g.at(t, site, "", "sites", "--no-header")
	lines := strings.Split(got.stdout, "\n")
	if got.code != 0 || len(lines) != 3 || !strings.HasPrefix(fields(lines[0]), "aurora 1 self 2 ") ||
		!strings.HasPrefix(fields(lines[1]), "borealis 2 up 4 ") {
		t.Errorf("got %+v", got)
	}
}

func unknownJob(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	for _, command := range []string{"status", "cancel", "logs", "explain"} {
		if got := g.at(t, site, "", command, "1000000000001"); got.code != 3 || got.stdout != "" {
			t.Errorf("%s: %+v", command, got)
		}
	}
}

// A result that cannot be put where the submitter wants it is kept, and said.
func noDir(t *testing.T, g *grid, site *testbed.Site) {
	t.Helper()
	id := g.submit(t, site, "#!/bin/sh\necho precious\n", "--sites=borealis", "-o", "/nowhere/out")
	job := g.until(t, site, id, ended)
	if job.State != protocol.Completed || !strings.Contains(job.Reason, "/nowhere/out") {
		t.Errorf("got %+v", job)
	}
}

// Stopping a peer leaves its jobs alone, and starting it finds them again.
func TestStoppedPeersLeaveJobsRunning(t *testing.T) {
	g := startGrid(t, testbed.Machine{Name: "aurora", CPUs: 2}, testbed.Machine{Name: "borealis", CPUs: 4})
	aurora := g.Sites[0]
	var ids []protocol.JobID
	door := filepath.Join(g.work, "door")
	for _, where := range []string{"aurora", "borealis"} {
		ids = append(ids, g.submit(t, aurora, fmt.Sprintf(
			"#!/bin/sh\necho begun >>%s/%s\nwhile [ ! -e %s ]; do sleep 0.05; done\nexit 3\n", g.work, where, door), "--sites="+where))
	}
	for _, id := range ids {
		g.until(t, aurora, id, running)
	}
	for _, site := range g.Sites {
		if err := site.Stop(stopPatience); err != nil {
			t.Error(err)
		}
	}
	if err := os.WriteFile(door, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := g.Start(patience(t)); err != nil {
		t.Fatal(err)
	}
	for i, where := range []string{"aurora", "borealis"} {
		job := g.until(t, aurora, ids[i], ended)
		begun, err := os.ReadFile(filepath.Join(g.work, where))
		if job.State != protocol.Failed || job.ExitCode != 3 || err != nil || string(begun) != "begun\n" {
			t.Errorf("%s: %+v, begun %q, %v", where, job, begun, err)
		}
	}
}

// What keeps a peer from starting is said with the key to change.
func TestStartUpErrors(t *testing.T) {
	edit := func(from, to string) func(*testing.T, *testbed.Site) {
		return func(t *testing.T, site *testbed.Site) {
			t.Helper()
			text, err := os.ReadFile(site.Config)
			if err != nil || !strings.Contains(string(text), from) {
				t.Fatalf("no %q in the configuration: %v", from, err)
			}
			if err := os.WriteFile(site.Config, []byte(strings.Replace(string(text), from, to, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	cases := map[string]struct {
		spoil func(*testing.T, *testbed.Site)
		want  []string
	}{
		"not TOML":        {edit("[site]", "[site"), []string{"site.toml:2: not TOML"}},
		"unknown key":     {edit("quote_timeout", "quote_timeuot"), []string{"quote_timeuot", `did you mean "quote_timeout"`}},
		"several":         {edit("number    = 1", "number    = 0\nfoo = 1"), []string{"site.number", "foo"}},
		"same name":       {edit(`name       = "borealis"`, `name       = "aurora"`), []string{"aurora"}},
		"missing key":     {edit("site.key", "nosite.key"), []string{"[site] key", "switchyard keygen --out"}},
		"taken port":      {takePort("[nats]\nlisten = "), []string{"[nats]", "address already in use", "choose another port in [nats] listen"}},
		"taken gossip":    {takePort("[gossip]\nbind    = "), []string{"[gossip] bind 127.0.0.1:", "stop that or choose another port"}},
		"metrics port":    {edit("[metrics]\nlisten = \"\"", "[metrics]\nlisten = \"192.0.2.1:1\""), []string{"[metrics]"}},
		"missing keyring": {edit("gossip.keys", "nogossip.keys"), []string{"nogossip.keys"}},
		"bad folder":      {edit(`state_dir = "`, `state_dir = "/dev/null`), []string{"[site] state_dir"}},
		"socket folder":   {edit(`socket    = "`, `socket    = "/nowhere`), []string{"[site] socket", "its directory must exist"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := makeGrid(t, testbed.Machine{Name: "aurora", CPUs: 1}, testbed.Machine{Name: "borealis", CPUs: 1})
			c.spoil(t, g.Sites[0])
			got := g.at(t, g.Sites[0], "", "peer", "--config", g.Sites[0].Config)
			if got.code != 1 || got.stdout != "" || strings.Contains(got.stderr, "panic") {
				t.Errorf("got %+v", got)
			}
			for _, want := range c.want {
				if !strings.Contains(got.stderr, want) {
					t.Errorf("%q is missing in %s", want, got.stderr)
				}
			}
		})
	}
}

// takePort listens where the configuration says that the peer does.
func takePort(key string) func(*testing.T, *testbed.Site) {
	return func(t *testing.T, site *testbed.Site) {
		t.Helper()
		text, err := os.ReadFile(site.Config)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), key+`"`)
		address, _, _ := strings.Cut(rest, `"`)
		taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = taken.Close() })
	}
}

func TestTwoPeersCannotShareAStore(t *testing.T) {
	g := startGrid(t, testbed.Machine{Name: "aurora", CPUs: 1})
	got := g.at(t, g.Sites[0], "", "peer", "--config", g.Sites[0].Config)
	if got.code != 1 || !strings.Contains(got.stderr, "another peer of this site runs on this machine already: pid ") {
		t.Errorf("got %+v", got)
	}
}

// A grid of one site is a batch system of its own.
func TestOneSiteAlone(t *testing.T) {
	g := startGrid(t, testbed.Machine{Name: "aurora", CPUs: 1})
	id := g.submit(t, g.Sites[0], "#!/bin/sh\necho alone\n")
	if job := g.until(t, g.Sites[0], id, ended); g.output(t, job) != "alone\n" {
		t.Errorf("got %+v", job)
	}
}
