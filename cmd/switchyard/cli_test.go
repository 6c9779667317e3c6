package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/display"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func always(reply view.Reply, err error) func(event.Event) (view.Reply, error) {
	return func(event.Event) (view.Reply, error) { return reply, err }
}

func TestSubmitPrintsTheLineThatToolsParse(t *testing.T) {
	t.Parallel()
	n := &fakeNode{replyF: always(view.Submitted{Jobs: []protocol.JobID{someID}, Notices: []string{"be\x1b[1mware"}}, nil)}
	socket := serve(t, n)
	got := command(t, socket, goodScript, "submit", "--wckey=5", "-", "data.txt", "-x")
	want := result{
		0, "Submitted batch job 1000000000042\n",
		"switchyard: command line: --wckey has no effect: keys are not mapped; each site uses its default\nswitchyard: be\\u001b[1mware\n",
	}
	if got != want {
		t.Errorf("got %+v", got)
	}
	if got = command(t, socket, goodScript, "submit", "--parsable"); got.stdout != "1000000000042\n" {
		t.Errorf("--parsable printed %q", got.stdout)
	}
	jobs := n.submits()
	if len(jobs) != 2 || jobs[0].Key == "" || jobs[0].Key == jobs[1].Key {
		t.Fatalf("submissions need keys of their own: %+v", jobs)
	}
	job := jobs[0].Jobs[0]
	if job.Spec.Name != "sum" || job.Spec.CPUs != 2 || job.Spec.WallTime != 10*protocol.Minute ||
		!slices.Equal(job.Payload.Args, []string{"data.txt", "-x"}) || string(job.Payload.Script) != goodScript {
		t.Errorf("submitted %+v", job)
	}
}

// TestWhatSbatchUnderstandsArrives: a command instead of a script, how its CPUs are divided, an
// option that is done without, and silence.
func TestWhatSbatchUnderstandsArrives(t *testing.T) {
	t.Parallel()
	n := &fakeNode{replyF: always(view.Submitted{Jobs: []protocol.JobID{someID}, Notices: []string{"beware"}}, nil)}
	socket := serve(t, n)
	got := command(t, socket, "", "submit", "-N2", "--tasks-per-node=2", "-c2", "--contiguous", "--ignore", "contiguous", "--gres=gpu:2", "--exclusive", "--wrap", "hostname; date")
	want := "switchyard: command line: --contiguous ignored because of --ignore\nswitchyard: beware\n"
	if got != (result{0, "Submitted batch job 1000000000042\n", want}) {
		t.Errorf("got %+v", got)
	}
	if got = command(t, socket, goodScript, "submit", "-Q", "-p", "debug"); got != (result{}) {
		t.Errorf("--quiet: %+v", got)
	}
	job := n.submits()[0].Jobs[0]
	request := protocol.Request{CPUs: 8, Nodes: 2, WallTime: protocol.Hour, Layout: protocol.Layout{TasksPerNode: 2, CPUsPerTask: 2, MaxNodes: 2}}
	request.Exclusive, request.Resources = true, []protocol.Resource{{Name: "gpu", Count: 2, Per: protocol.PerNode}}
	if job.Spec.Name != "wrap" || !job.Spec.Equal(request) || !strings.HasSuffix(string(job.Payload.Script), "\nhostname; date\n") {
		t.Errorf("%+v: %s", job.Spec, job.Payload.Script)
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	refusing := func(code view.RefusalCode, sites ...view.SiteRefusal) *fakeNode {
		return &fakeNode{replyF: always(nil, no{view.Refusal{Code: code, Reason: "no", Sites: sites}})}
	}
	cases := map[string]struct {
		node   *fakeNode
		script string
		args   []string
		code   int
		stderr string
	}{
		"store of nothing":   {nil, "", []string{"store"}, 2, "missing subcommand: use store inspect, verify, backup or compact"},
		"backup to nothing":  {nil, "", []string{"store", "backup"}, 2, "switchyard store backup takes one file, got 0"},
		"store over TCP":     {nil, "", []string{"store", "verify", "--server=https://localhost:1"}, 2, "which works on this machine"},
		"half a certificate": {nil, "", []string{"queue", "--server=https://localhost:1", "--client-cert=c.pem"}, 2, "--client-cert and --client-key go together"},
		"events of nothing":  {nil, "", []string{"events", "--job="}, 2, "--job: empty value"},
		"kind of events":     {&fakeNode{}, "", []string{"events", "--kind=meal"}, 2, "kind: invalid kind; use job, log or site"},
		"top in a script":    {&fakeNode{}, "", []string{"top"}, 2, "top needs a terminal; for scripts there are switchyard queue, sites and events"},
		"unknown command":    {nil, "", []string{"sumbit"}, 2, `unknown command "sumbit"; did you mean submit?`},
		"unknown flag":       {nil, "", []string{"queue", "--bogus"}, 2, "unknown flag: --bogus; see switchyard queue --help"},
		"missing value":      {nil, goodScript, []string{"submit", "-n"}, 2, "needs an argument"},
		"stray argument":     {nil, "", []string{"queue", "x"}, 2, `switchyard queue takes no arguments, got "x"`},
		"no id":              {nil, "", []string{"cancel"}, 2, "missing job ID"},
		"requeue refused":    {refusing(view.Unavailable), "", []string{"requeue", "1000000000001"}, 1, "no"},
		"held by force":      {nil, "", []string{"requeue", "--force", "--hold", "1000000000001"}, 2, "mutually exclusive"},
		"requeue denied":     {refusing(view.Denied), "", []string{"requeue", "--force", "1000000000001"}, 4, "no"},
		"drain refused":      {refusing(view.NotFound), "", []string{"drain", "x", "--reason=disks"}, 3, "no"},
		"isolate denied":     {refusing(view.Denied), "", []string{"isolate", "x", "--reason=disks"}, 4, "no"},
		"resume denied":      {refusing(view.Denied), "", []string{"resume"}, 4, "no"},
		"drain needs why":    {refusing(view.Denied), "", []string{"drain"}, 2, "missing --reason"},
		"isolate nobody":     {nil, "", []string{"isolate", "--reason=disks"}, 2, "takes one site, got 0"},
		"isolate itself":     {refusing(view.Denied), "", []string{"isolate", "aurora", "--reason=disks"}, 2, "aurora is this site"},
		"drain by halves":    {refusing(view.Denied), "", []string{"drain", "x", "--reason=disks", "--only=half"}, 2, "invalid --only=half; use send or receive"},
		"drain of others":    {refusing(view.Denied), "", []string{"drain", "x", "--reason=disks", "--local"}, 2, "--local applies to this site, and x is another"},
		"fence":              {nil, "", []string{"fence", "x"}, 2, "did you mean fetch or isolate?"},
		"bad id":             {nil, "", []string{"cancel", "12"}, 3, "no job 12: job id 12 names no site; ids begin with the number of one, as 1000000000042 with 1; \"switchyard queue\" lists the jobs"},
		"no id at all":       {nil, "", []string{"cancel", "mine"}, 2, "mine"},
		"misspelt option":    {nil, goodScript, []string{"submit", "--ntask=3"}, 2, "unknown flag: --ntask; did you mean --ntasks? See switchyard submit --help"},
		"misspelt filter":    {nil, "", []string{"queue", "--users=ann"}, 2, "unknown flag: --users; did you mean --user? See switchyard queue --help"},
		"ended already": {
			&fakeNode{
				replyF: always(nil, no{view.Refusal{Code: view.NotFound, Reason: "is not known here, or has ended"}}),
				jobs:   map[protocol.JobID]view.Job{someID: {ID: someID, State: protocol.Completed}},
			},
			"",
			[]string{"cancel", someID.String()},
			1, "job 1000000000042 has already ended (COMPLETED)",
		},
		"bad directive":    {nil, "#!/bin/sh\n#SBATCH --tim=3 -n x\n", []string{"submit"}, 2, "stdin:2: unknown option --tim; did you mean --time?\nswitchyard: stdin:2: --ntasks:"},
		"empty script":     {nil, "", []string{"submit"}, 2, "stdin: the batch script is empty"},
		"missing script":   {nil, "", []string{"submit", "/nowhere/job.sh"}, 3, "the batch script /nowhere/job.sh cannot be read: no such file or directory"},
		"script is folder": {nil, "", []string{"submit", "/"}, 2, "the batch script / cannot be read: is a directory"},
		"array":            {nil, goodScript, []string{"submit", "--array=3-1"}, 2, "ends before it begins"},
		"a topology": {
			nil, "#!/bin/sh\n#SBATCH --switches=4\ntrue\n",
			[]string{"submit", "-w", "node7"},
			2,
			"switchyard: stdin:2: --switches: constraints on the network topology are not supported; " +
				"if the job does not need it, remove it or add --ignore=switches\nswitchyard: command line: --nodelist: ",
		},
		"wrap and a file":  {nil, "", []string{"submit", "--wrap=true", "job.sh"}, 2, "--wrap replaces the script; omit the file and its arguments"},
		"wrap of nothing":  {nil, "", []string{"submit", "--wrap="}, 2, "command line: --wrap: the command is empty"},
		"dependency":       {nil, goodScript, []string{"submit", "-d", "afterok:1"}, 2, "--dependency: job id 1 names no site"},
		"value for a flag": {nil, goodScript, []string{"submit", "--wait=5"}, 2, "the option takes no value"},
		"unreachable":      {nil, goodScript, []string{"submit"}, 6, "cannot reach the peer at"},
		"bad request":      {refusing(view.BadRequest), goodScript, []string{"submit"}, 2, "no"},
		"not found":        {&fakeNode{}, "", []string{"status", "1000000000001"}, 3, "there is no job 1000000000001"},
		"denied":           {refusing(view.Denied), "", []string{"cancel", "1000000000001"}, 4, "no"},
		"not now":          {refusing(view.Unavailable), "", []string{"queue"}, 1, "no"},
		"no site": {
			refusing(view.NoSite, view.SiteRefusal{Site: "aurora", Reason: "needs 99 CPUs"}), goodScript,
			[]string{"submit"},
			5, "switchyard: no\nswitchyard:   aurora: needs 99 CPUs\n",
		},
		"config":            {nil, "", []string{"config"}, 2, "missing subcommand: use config check"},
		"bad config":        {nil, "", []string{"config", "check", "--config", "/nowhere.toml"}, 1, "/nowhere.toml: no such file or directory"},
		"keygen":            {nil, "", []string{"keygen"}, 2, "missing --out FILE"},
		"invite":            {nil, "", []string{"invite", "south"}, 2, "missing --out FILE"},
		"invite for ever":   {nil, "", []string{"invite", "south", "--out=x", "--days=366"}, 2, "--days: invalid value 366; use 1 to 365"},
		"accept":            {nil, "", []string{"accept", "x"}, 2, "missing --invitation FILE"},
		"keyring":           {nil, "", []string{"keyring"}, 2, "missing subcommand: use keyring seal"},
		"keyring seal":      {nil, "", []string{"keyring", "seal", "south"}, 2, "missing --out FILE"},
		"roster":            {nil, "", []string{"roster"}, 2, "missing subcommand: use roster sign"},
		"roster sign":       {nil, "", []string{"roster", "sign", "x"}, 2, "missing --key FILE"},
		"roster for ever":   {nil, "", []string{"roster", "sign", "x", "--key=x", "--out=x", "--days=0"}, 2, "--days: invalid value 0; use 1 to 3650"},
		"join":              {nil, "", []string{"join", "x"}, 2, "missing --dir DIR"},
		"join as none":      {nil, "", []string{"join", "x", "--dir=x", "--number=9001"}, 2, "--number: invalid value 9001; use 1 to 9000"},
		"completion":        {nil, "", []string{"completion", "tcsh"}, 2, "use bash, zsh or fish"},
		"man":               {nil, "", []string{"man"}, 2, "missing directory"},
		"demo jobs":         {nil, "", []string{"demo", "--jobs=0"}, 2, "--jobs: invalid value 0; use 1 to 500"},
		"fetch of nothing":  {nil, "", []string{"fetch", "1000000000001"}, 2, "a job ID and patterns"},
		"fetch at the site": {nil, "", []string{"fetch", "1000000000001", "out"}, 2, "over TCP, with --server"},
		"fetch elsewhere":   {nil, "", []string{"fetch", "1000000000001", "../x"}, 2, "leaves the working directory"},
		"two ids of logs":   {nil, "", []string{"logs", "1000000000001", "1000000000002"}, 2, "takes one job ID"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket := filepath.Join(t.TempDir(), "none")
			if c.node != nil {
				socket = serve(t, c.node)
			}
			got := command(t, socket, c.script, c.args...)
			if got.code != c.code || got.stdout != "" || !strings.Contains(got.stderr, c.stderr) {
				t.Errorf("got %+v", got)
			}
			if !strings.HasPrefix(got.stderr, "switchyard: ") {
				t.Errorf("stderr does not name the program: %q", got.stderr)
			}
		})
	}
}

func TestWaitExitsAsTheJobDid(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		job  view.Job
		code int
		says string
	}{
		"completed": {view.Job{State: protocol.Completed}, 0, ""},
		"failed":    {view.Job{State: protocol.Failed, ExitCode: 7}, 7, "FAILED: exit code 7"},
		"signal":    {view.Job{State: protocol.Failed, Signal: 11}, 139, "FAILED: signal 11"},
		"memory":    {view.Job{State: protocol.Failed, Signal: protocol.SignalOutOfMemory}, 125, "FAILED: out of memory"},
		"timeout":   {view.Job{State: protocol.Timeout, Signal: 15}, 143, "TIMEOUT: signal 15"},
		"cancelled": {view.Job{State: protocol.Cancelled}, 1, "CANCELLED"},
		"node fail": {view.Job{State: protocol.NodeFail, Reason: "the node rebooted"}, 1, "NODE_FAIL: the node rebooted"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := &fakeNode{
				replyF: always(view.Submitted{Jobs: []protocol.JobID{someID}}, nil),
				jobs:   map[protocol.JobID]view.Job{someID: c.job},
			}
			got := command(t, serve(t, n), goodScript, "submit", "--wait")
			if got.code != c.code || got.stdout != "Submitted batch job 1000000000042\n" {
				t.Errorf("got %+v", got)
			}
			if want := "switchyard: job 1000000000042 " + c.says + "\n"; c.says != "" && !strings.HasSuffix(got.stderr, want) {
				t.Errorf("says %q, want %q", got.stderr, want)
			}
		})
	}
}

func TestTestOnlyPrintsTheQuotes(t *testing.T) {
	t.Parallel()
	n := &fakeNode{replyF: always(view.TestSubmitResult{Jobs: [][]view.Quote{{
		{
			Site: "borealis", AWT: 1500, AWTLow: 0, Median: protocol.Hour, AWTHigh: protocol.Day, ERT: protocol.Hour, RUS: 500_000,
			Bound: 2*protocol.Hour + 9*protocol.Minute + 1, Age: new(protocol.Minute), Cost: 1_230_000, Currency: "EUR",
			Note: "waits for off-peak\x1b",
		},
		{Site: "cygnus", AWT: 2000, ERT: protocol.Hour, Cost: -5, Currency: "E\x1bR"},
		{Site: "aurora", AWT: protocol.Never, Declined: "needs 8 CPUs, the site has 4", RUS: 1_000_000},
	}}}, nil)}
	socket := serve(t, n)
	want := "" +
		"SITE         WAIT      P10      P50         P90      RUN    TOTAL                COST    RUS  NOTE\n" +
		"borealis  0:00:02  0:00:00  1:00:00  1-00:00:00  1:00:00  1:00:02            1.23 EUR   50 %  " +
		"waits for off-peak\\u001b; starts within 2:09:01, nominally 95 %; RUS is 0:01:00 old\n" +
		"cygnus    0:00:02  0:00:00  0:00:00     0:00:00  1:00:00  1:00:02  -0.000005 E\\u001bR    0 %\n" +
		"aurora          -        -        -           -        -        -                   -  100 %  needs 8 CPUs, the site has 4\n"
	for _, args := range [][]string{{"submit", "--test-only", "--export=NONE"}, {"quote"}} {
		if got := command(t, socket, goodScript, args...); got != (result{0, want, ""}) {
			t.Errorf("%q printed %+v", args, got)
		}
	}
	got := command(t, socket, goodScript, "submit", "--test-only", "--export=A=1,B=2")
	if got != (result{0, want, "switchyard: variables sent to other sites: A B\n"}) {
		t.Errorf("printed %+v", got)
	}
	if len(n.submits()) != 0 {
		t.Error("something was submitted")
	}
}

// queueOf answers as a peer with these jobs does.
func queueOf(jobs ...view.Job) func(event.Event) (view.Reply, error) {
	return func(ev event.Event) (view.Reply, error) {
		asked, ok := ev.(event.AskQueue)
		if !ok {
			return nil, no{view.Refusal{Code: view.Unavailable, Reason: "is not about the queue"}}
		}
		queue := view.Queue{Jobs: []view.Job{}}
		for _, job := range jobs {
			switch {
			case job.ID <= asked.Filter.After || !asked.Filter.Matches(&job):
			case asked.Filter.Limit > 0 && asked.Filter.Limit == len(queue.Jobs):
				queue.Next = queue.Jobs[len(queue.Jobs)-1].ID
				return queue, nil
			default:
				queue.Jobs = append(queue.Jobs, job)
			}
		}
		return queue, nil
	}
}

func someQueue() *fakeNode {
	return &fakeNode{replyF: queueOf(
		view.Job{
			ID: someID, Name: "x\ty", User: "bob", State: protocol.Completed, CPUs: 12, Origin: "aurora", Site: "cygnus",
			WallTime: protocol.Hour, Started: 1000, Ended: 62_001,
		},
		view.Job{
			ID: someID + 1, Name: "größe", User: "ada", State: protocol.Pending, CPUs: 1, Origin: "aurora", Reason: "NoEligibleSite",
			WallTime: protocol.Hour,
		},
		view.Job{ID: someID + 2, Guest: true, State: protocol.Pending},
	)}
}

func TestQueue(t *testing.T) {
	t.Parallel()
	socket := serve(t, someQueue())
	want := "" +
		"        JOBID  NAME      USER  STATE         TIME  CPUS  ORIGIN  SITE    REASON\n" +
		"1000000000042  x\\u0009y  bob   COMPLETED  0:01:02    12  aurora  cygnus\n" +
		"1000000000043  größe     ada   PENDING    0:00:00     1  aurora  -       NoEligibleSite\n"
	if got := command(t, socket, "", "queue"); got != (result{0, want, ""}) {
		t.Errorf("got\n%s%s", got.stdout, got.stderr)
	}
	_, body, _ := strings.Cut(want, "\n")
	for _, option := range []string{"--no-header", "-h", "--noheader"} {
		got := command(t, socket, "", "queue", option)
		if fields(got.stdout) != fields(body) {
			t.Errorf("%s printed\n%s%s", option, got.stdout, got.stderr)
		}
	}
	var queue view.Queue
	if err := json.Unmarshal([]byte(command(t, socket, "", "queue", "--json").stdout), &queue); err != nil || len(queue.Jobs) != 2 {
		t.Errorf("--json: %v, %+v", err, queue)
	}
}

// TestQueueTakesWhatSqueueTakes: letters, lists, states and formats, as tools for Slurm give them.
func TestQueueTakesWhatSqueueTakes(t *testing.T) {
	t.Parallel()
	socket := serve(t, someQueue())
	first, second := someID.String(), (someID + 1).String()
	for args, want := range map[string]string{
		"-h -o %i":                       first + "\n" + second + "\n",
		"-h -u ada,eve -o %i":            second + "\n",
		"-h -j " + first + " -o %i":      first + "\n",
		"-h -t pd,CG -o %i":              second + "\n",
		"-h -t CG,OOM -o %i":             "",
		"-h --states=Pending -o %i":      second + "\n",
		"-h -t all -o %i":                first + "\n" + second + "\n",
		"-h -n größe -o %A":              second + "\n",
		"-h -w cygnus -o %i":             first + "\n",
		"-h --nodelist=- -o %i":          second + "\n",
		"-h --after=" + first + " -o %i": second + "\n",
		"-h --limit=1 -o %i":             first + "\n",
		"-o %.5t|%5M|%.3j|%R":            "   ST|TIME |NAM|SITE(REASON)\n   CD|0:01:02|x\\u|cygnus\n   PD|0:00:00|grö|(NoEligibleSite)\n",
		"-h -o %%%l,%L,%C,%N,%r,%u":      "%1:00:00,0:58:59,12,cygnus,None,bob\n%1:00:00,1:00:00,1,,NoEligibleSite,ada\n",
		"-h -t all --json-lines -n none": "",
		"-h --guests -o %i":              (someID + 2).String() + "\n",
	} {
		got := command(t, socket, "", append([]string{"queue"}, strings.Fields(args)...)...)
		if got != (result{0, want, ""}) {
			t.Errorf("%s: got %+v, want %q", args, got, want)
		}
	}
	for args, want := range map[string]string{
		"-t done":              "--states: unknown state \"done\"; use all or PENDING (PD), RUNNING (R)",
		"-u ,":                 "--user: empty value",
		"-j mine":              "mine",
		"-o %Z":                "--format: unknown column %Z; switchyard queue --help lists the columns",
		"-o %i%":               "--format ends within a column",
		"-o %i%{paid}%j":       "--format: unknown column %{paid}; switchyard queue --help lists the columns",
		"-o %i%{":              "--format: unknown column %{; switchyard queue --help lists the columns",
		"--recent=-1":          "invalid --recent=-1; use a number from 1 to 10000",
		"--limit=-1":           "invalid --limit=-1",
		"--limit=3 --recent=1": "--limit applies to active jobs only",
	} {
		got := command(t, socket, "", append([]string{"queue"}, strings.Fields(args)...)...)
		if got.code != exitUsage || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: got %+v, want %q", args, got, want)
		}
	}
	if got := command(t, socket, "", "queue", "-u", ""); got.code != exitUsage {
		t.Errorf("no user: %+v", got)
	}
}

// TestQueueShowsQuotedBesideBilled: with --recent the table has columns of both, and --format has
// them by name. What has come together so far of a job that runs is no bill.
func TestQueueShowsQuotedBesideBilled(t *testing.T) {
	t.Parallel()
	jobs := []view.Job{
		{
			ID: someID, Name: "sum", User: "bob", State: protocol.Completed, CPUs: 12, Origin: "aurora", Site: "cygnus", Started: 1000, Ended: 62_001,
			Quoted: &view.QuotedPrice{Cost: 330_000, Currency: "EUR"}, Bill: &view.Bill{Cost: 12_009_000, Currency: "CHF"},
		},
		{ID: someID + 1, Name: "sum", User: "ada", State: protocol.Failed, CPUs: 1, Origin: "aurora", Site: "aurora", Reason: "no such file"},
		{
			ID: someID + 2, Name: "sum", User: "ada", State: protocol.Pending, CPUs: 1, Origin: "aurora", Site: "cygnus", Reason: "Priority",
			Quoted: &view.QuotedPrice{Currency: "EUR"}, Bill: &view.Bill{Cost: 7, Currency: "EUR", Open: true},
		},
	}
	socket := serve(t, &fakeNode{replyF: queueOf(jobs...)})
	for args, want := range map[string]string{
		"--recent=9": "" +
			"        JOBID  NAME  USER  STATE         TIME  CPUS  ORIGIN  SITE      QUOTED      BILLED  REASON\n" +
			"1000000000042  sum   bob   COMPLETED  0:01:02    12  aurora  cygnus  0.33 EUR  12.009 CHF\n" +
			"1000000000043  sum   ada   FAILED     0:00:00     1  aurora  aurora         -           -  no such file\n" +
			"1000000000044  sum   ada   PENDING    0:00:00     1  aurora  cygnus  0.00 EUR           -  Priority\n",
		"-o %i|%.12{quoted}|%2{billed}|": "" +
			"JOBID|      QUOTED|BILLED|\n1000000000042|    0.33 EUR|12.009 CHF|\n1000000000043|           -|- |\n1000000000044|    0.00 EUR|- |\n",
	} {
		if got := command(t, socket, "", append([]string{"queue"}, strings.Fields(args)...)...); got != (result{0, want, ""}) {
			t.Errorf("%s: got\n%s%s", args, got.stdout, got.stderr)
		}
	}
	if got := command(t, socket, "", "queue"); strings.Contains(got.stdout, "QUOTED") {
		t.Errorf("without --recent:\n%s", got.stdout)
	}
	if got := command(t, socket, "", "queue", "--help"); !strings.Contains(strings.Join(strings.Fields(got.stdout), " "), "%{quoted} quoted price, %{billed} bill") {
		t.Errorf("--help:\n%s", got.stdout)
	}
}

// TestQueueInPages: a long queue is asked for in pages, and each job is printed once, as a line
// of JSON or in one document.
func TestQueueInPages(t *testing.T) {
	t.Parallel()
	const all = 2*api.QueuePage + 7
	jobs := make([]view.Job, all)
	for i := range jobs {
		jobs[i] = view.Job{ID: someID + protocol.JobID(i), State: protocol.Pending, Name: "<a>"}
	}
	n := &fakeNode{replyF: queueOf(jobs...)}
	socket := serve(t, n)
	for limit, want := range map[int]int{0: all, api.QueuePage + 3: api.QueuePage + 3, all + 1: all} {
		got := command(t, socket, "", "queue", "--json-lines", "--limit", strconv.Itoa(limit))
		lines := strings.Split(strings.TrimSuffix(got.stdout, "\n"), "\n")
		if got.code != 0 || len(lines) != want {
			t.Fatalf("--limit=%d: %d lines, %s", limit, len(lines), got.stderr)
		}
		for i, line := range lines {
			var job view.Job
			if err := json.Unmarshal([]byte(line), &job); err != nil || job.ID != jobs[i].ID || !strings.Contains(line, `"<a>"`) {
				t.Fatalf("line %d: %s, %v", i+1, line, err)
			}
		}
	}
	var queue view.Queue
	got := command(t, socket, "", "queue", "--json", "--limit=10")
	if err := json.Unmarshal([]byte(got.stdout), &queue); err != nil || len(queue.Jobs) != 10 || queue.Next != jobs[9].ID {
		t.Errorf("--json: %d jobs, and %v follows: %v", len(queue.Jobs), queue.Next, err)
	}
	for _, ev := range n.asked {
		if asked, ok := ev.(event.AskQueue); !ok || asked.Filter.Limit < 1 || asked.Filter.Limit > api.QueuePage {
			t.Errorf("the peer was asked for %+v", ev)
		}
	}
}

func fields(s string) string { return strings.Join(strings.Fields(s), " ") }

func TestSites(t *testing.T) {
	t.Parallel()
	n := &fakeNode{replyF: always(view.Sites{Sites: []view.Site{
		{Site: "aurora", Number: 1, Self: true, Link: "self", CPUs: 4, Busy: 3, RUS: 750_000, Queued: 2, Age: new(protocol.Duration(0)), Benefit: 1_254_000, Prices: "NO1 in NOK,\nknown until then"},
		{Site: "borealis", Link: "down", Reason: "no route"},
	}}, nil)}
	want := "" +
		"SITE      NO  LINK  CPUS  BUSY   RUS  QUEUED      AGE  HERE  THERE  BENEFIT  NOTE\n" +
		"aurora     1  self     4     3  75 %       2  0:00:00     0      0    1.25x  initiation sender, policy tc, local queue easy; no gossip; " +
		"electricity: NO1 in NOK,; known until then\n" +
		"borealis   -  down     -     -     -       -        -     0      0        -  no route\n"
	socket := serve(t, n)
	if got := command(t, socket, "", "sites"); got != (result{0, want, ""}) {
		t.Errorf("got\n%s%s", got.stdout, got.stderr)
	}
	var answer display.Grid
	got := command(t, socket, "", "sites", "--json")
	if err := json.Unmarshal([]byte(got.stdout), &answer); err != nil || len(answer.Sites.Sites) != 2 || answer.Rules != someRules() || answer.Gossip {
		t.Errorf("--json: %v\n%s", err, got.stdout)
	}
}

// A site whose jobs' power is known has all sites show it.
func TestSitesUnderAPowerBudget(t *testing.T) {
	t.Parallel()
	age := new(protocol.Duration(0))
	n := &fakeNode{gossip: true, replyF: always(view.Sites{Sites: []view.Site{
		{Site: "aurora", Number: 1, Self: true, Link: "self", CPUs: 8, Busy: 3, RUS: protocol.PPM, Age: age, PowerIdledCPUs: 5, Draw: 12_399, Budget: new(int64(50_000))},
		{Site: "borealis", Link: "up", CPUs: 4, Age: age, PowerIdledCPUs: 1, Draw: 180, Budget: new(int64(300)), LastSeen: 1},
		{Site: "cygnus", Link: "up", Age: age, Draw: 1_260_000},
		{Site: "draco", Link: "up", Age: age, Budget: new(int64(20_000))},
		{Site: "dorado", Link: "up", Age: age, Budget: new(int64(0))},
		{Site: "eridanus", Link: "down"},
	}}, nil)}
	want := "" +
		"SITE      NO  LINK  CPUS  BUSY    RUS  QUEUED      AGE  HERE  THERE  BENEFIT       POWER  NOTE\n" +
		"aurora     1  self     8     3  100 %       0  0:00:00     0      0        -  12.3/50 kW  5 idle CPUs withheld by the power budget; " +
		"initiation sender, policy tc, local queue easy\n" +
		"borealis   -  up       4     0    0 %       0  0:00:00     0      0        -   180/300 W  1 idle CPU withheld by the power budget\n" +
		"cygnus     -  up       -     0    0 %       0  0:00:00     0      0        -     1260 kW\n" +
		"draco      -  up       -     0    0 %       0  0:00:00     0      0        -     0/20 kW\n" +
		"dorado     -  up       -     0    0 %       0  0:00:00     0      0        -       0/0 W\n" +
		"eridanus   -  down     -     -      -       -        -     0      0        -           -  see switchyard doctor\n"
	if got := command(t, serve(t, n), "", "sites"); got != (result{0, want, ""}) {
		t.Errorf("got\n%s%s\nwant\n%s", got.stdout, got.stderr, want)
	}
}

// TestDrain: what the commands ask of the peer, and what sites says then.
func TestDrain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want event.SetDrain
	}{
		{[]string{"drain", "--reason=disks"}, event.SetDrain{Site: "aurora", Scope: view.DrainGuests, Reason: "disks"}},
		{[]string{"drain", "aurora", "--local", "--reason=disks"}, event.SetDrain{Site: "aurora", Scope: view.DrainStarts, Reason: "disks"}},
		{[]string{"drain", "borealis", "--reason=disks"}, event.SetDrain{Site: "borealis", Scope: view.DrainBoth, Reason: "disks"}},
		{[]string{"drain", "borealis", "--only=send", "--reason=disks"}, event.SetDrain{Site: "borealis", Scope: view.DrainSending, Reason: "disks"}},
		{[]string{"isolate", "borealis", "--reason=disks"}, event.SetDrain{Site: "borealis", Scope: view.DrainIsolated, Reason: "disks"}},
		{[]string{"resume"}, event.SetDrain{Site: "aurora"}},
		{[]string{"resume", "borealis"}, event.SetDrain{Site: "borealis"}},
	} {
		n := &fakeNode{replyF: always(view.Done{}, nil)}
		if got := command(t, serve(t, n), "", c.args...); got != (result{}) {
			t.Errorf("%v: %+v", c.args, got)
		}
		got, _ := n.asked[len(n.asked)-1].(event.SetDrain)
		if c.want.Asked, c.want.User, c.want.Admin = got.Asked, got.User, got.Admin; got != c.want || got.User == "" {
			t.Errorf("%v: asked %+v, want %+v", c.args, got, c.want)
		}
	}
	n := &fakeNode{gossip: true, replyF: always(view.Sites{Sites: []view.Site{
		{Site: "borealis", Link: "up", Draining: "draining: power", Drain: &view.Drain{Scope: view.DrainSending, Reason: "disks"}},
	}}, nil)}
	if got := command(t, serve(t, n), "", "sites"); !strings.Contains(got.stdout, "drained here, is sent no jobs: disks; draining: power\n") {
		t.Errorf("got %+v", got)
	}
}

func TestReload(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reply api.Reloaded
		err   error
		want  result
	}{
		"changes": {
			reply: api.Reloaded{
				Changed: []api.Change{{Key: "rounds.local_wait_threshold", From: `"1m"`, To: `"2m"`}},
				Restart: []api.Change{{Key: "gossip.bind", From: "", To: `"x"`}},
				Rules:   someRules(), Warnings: []string{"f:1: odd"},
			},
			want: result{
				0, "changed        rounds.local_wait_threshold: \"1m\" → \"2m\"\nneeds restart  gossip.bind: - → \"x\"\n" +
					"Active: initiation sender, policy tc, local queue easy.\n",
				"switchyard: warning: f:1: odd\n",
			},
		},
		"partners": {
			reply: api.Reloaded{
				Added: []protocol.SiteName{"charon"}, Removed: []protocol.SiteName{"borealis", "dione"},
				Changed: []api.Change{{Key: "partner[eos].max_jobs", From: "1", To: "2"}}, Rules: someRules(),
			},
			want: result{
				0, "added          partner charon\nremoved        partner borealis\nremoved        partner dione\n" +
					"changed        partner[eos].max_jobs: 1 → 2\nActive: initiation sender, policy tc, local queue easy.\n", "",
			},
		},
		"a partner only": {
			reply: api.Reloaded{Added: []protocol.SiteName{"charon"}, Rules: someRules()},
			want:  result{0, "added          partner charon\nActive: initiation sender, policy tc, local queue easy.\n", ""},
		},
		"nothing": {
			reply: api.Reloaded{Rules: someRules()},
			want:  result{0, "No changes.\nActive: initiation sender, policy tc, local queue easy.\n", ""},
		},
		"what needs a restart only": {
			reply: api.Reloaded{Restart: []api.Change{{Key: "gossip.bind", To: `"x"`}}, Rules: someRules()},
			want: result{
				0, "needs restart  gossip.bind: - → \"x\"\nNothing has changed: restart the peer.\nActive: initiation sender, policy tc, local queue easy.\n", "",
			},
		},
		"problems": {
			reply: api.Reloaded{Problems: []string{"f:3: x: unknown key", "f:4: y: bad"}},
			want:  result{1, "", "switchyard: f:3: x: unknown key\nswitchyard: f:4: y: bad\nswitchyard: the configuration was not changed\n"},
		},
		"not allowed": {
			err:  no{view.Refusal{Code: view.Denied, Reason: "not you"}},
			want: result{4, "", "switchyard: not you\n"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := &fakeNode{reload: func() (api.Reloaded, error) { return c.reply, c.err }}
			if got := command(t, serve(t, n), "", "reload"); got != c.want {
				t.Errorf("got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestExplainTellsTheStory(t *testing.T) {
	t.Parallel()
	const at protocol.Instant = 1_800_000_000_000
	n := &fakeNode{
		jobs: map[protocol.JobID]view.Job{someID: {
			ID: someID, Name: "sum", User: "ada", State: protocol.Completed, Origin: "aurora", Site: "cygnus", Submitted: at,
			CPUs: 2, WallTime: protocol.Hour,
		}},
		facts: []event.LogEvent{
			{At: at, Kind: event.LogJobSubmitted, Job: someID},
			{At: at + 3, Kind: event.LogPartnerVolunteered, Site: "cygnus"},
			{At: at + 4, Kind: event.LogReconfigured, Site: "aurora", Text: "policy tc, initiation receiver"},
			{
				At: at + 12, Kind: event.LogRoundDecided, Job: someID, Site: "cygnus", Round: 7, Duration: 11, Text: "least turnaround",
				Quotes: []view.Quote{
					{
						Site: "aurora", AWT: protocol.Minute, ERT: protocol.Hour, RUS: protocol.PPM, Bound: protocol.Hour,
						Cost: 3_500_000, Currency: "EUR",
						Terms: []view.PriceTerm{{Name: "cpu", Amount: 3_000_000}, {Name: "energy", Amount: 500_000}},
					},
					{Site: "borealis", Declined: "no room"},
					{Site: "cygnus", ERT: protocol.Hour, Note: "off-peak only"},
				},
				Silent: []string{"draco"},
			},
			{At: at + 40, Kind: event.LogJobGranted, Site: "cygnus", Epoch: 2},
			{At: at + 4000, Kind: event.LogJobEnded, State: protocol.Completed},
			{At: at + 4001, Kind: "from-the-future", Text: "x"},
		},
	}
	socket := serve(t, n)
	got := command(t, socket, "", "explain", someID.String())
	for _, want := range []string{
		`Job 1000000000042 "sum" of ada: 2 CPUs, 1:00:00.`,
		"+0.000 s  submitted\n",
		"+0.003 s  cygnus volunteers to take jobs\n",
		"+0.004 s  the rules of aurora changed: policy tc, initiation receiver\n",
		"+0.012 s  round 7: cygnus is chosen: least turnaround (took 11 ms)\n",
		"→  cygnus    0:00:00  1:00:00  1:00:00         -    0 %  off-peak only\n",
		"   aurora    0:01:00  1:00:00  1:01:00  3.50 EUR  100 %\n",
		"borealis        -        -        -         -    0 %  declines: no room\n",
		"draco           -        -        -         -      -  did not answer in time\n",
		"+0.040 s  cygnus is prepared; grant recorded (epoch 2)\n",
		"+4.000 s  ended COMPLETED\n",
		"+4.001 s  from-the-future: x\n",
	} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("missing %q in\n%s%s", want, got.stdout, got.stderr)
		}
	}
	long := command(t, socket, "", "explain", "--long", someID.String()).stdout
	if want := "3.50 EUR  100 %  cpu 3.00 EUR + energy 0.50 EUR; starts within 1:00:00, nominally 95 %\n"; !strings.Contains(long, want) {
		t.Errorf("missing %q in\n%s", want, long)
	}
	if i, j := strings.Index(got.stdout, "→  cygnus"), strings.Index(got.stdout, "   aurora"); i > j {
		t.Error("the best quote is not the first")
	}
}

func TestKeygen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key, ring := filepath.Join(dir, "k"), filepath.Join(dir, "ring")
	got := command(t, "", "", "keygen", "--out", key, "--gossip", ring)
	if got.code != 0 || len(got.stdout) != 57 || got.stdout[0] != 'U' {
		t.Errorf("got %+v", got)
	}
	if got := command(t, "", "", "keygen", "--out", key); got.code != 1 || got.stdout != "" {
		t.Errorf("a key was overwritten: %+v", got)
	}
	if got := command(t, "", "", "keygen", "--gossip", ring); got.code != 1 || !strings.Contains(got.stderr, "already exists") {
		t.Errorf("a keyring was overwritten: %+v", got)
	}
}

// Everything that people may type has a text and examples.
func TestEveryCommandHasHelp(t *testing.T) {
	t.Parallel()
	root := newApp().root()
	for _, cmd := range root.Commands() {
		if cmd.Short == "" {
			t.Errorf("%s has no text", cmd.CommandPath())
		}
		leaves := cmd.Commands()
		if len(leaves) == 0 {
			leaves = append(leaves, cmd)
		}
		for _, leaf := range leaves {
			if leaf.Example == "" {
				t.Errorf("%s has no example", leaf.CommandPath())
			}
			if got := command(t, "", "", append(strings.Fields(leaf.CommandPath())[1:], "--help")...); got.code != 0 || got.stdout == "" {
				t.Errorf("%s --help: %+v", leaf.CommandPath(), got)
			}
		}
	}
}
