package process_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func small(c *process.Config) { c.Capacity.CPUs = 1 }

func TestKill(t *testing.T) {
	t.Parallel()
	s := openSite(t, nil)
	for name, script := range map[string]string{
		"obeying":       "sleep 1000",
		"ignoring TERM": "trap '' TERM; echo deaf; while :; do sleep 1; done",
		"ending well":   "trap 'exit 0' TERM; echo deaf; while :; do sleep 0.05; done",
	} {
		tag := s.submit(t, guest(t, script))
		s.awaitRunning(t, tag)
		if strings.Contains(script, "deaf") {
			eventually(t, "the trap is set", func() bool { return s.read(t, tag, protocol.Stdout) != "" })
		}
		for range 2 {
			if err := s.Kill(t.Context(), tag); err != nil {
				t.Fatal(err)
			}
		}
		if got := s.awaitEnd(t, tag); got.State != protocol.Cancelled {
			t.Errorf("%s: got %v: %s", name, got.State, got.Reason)
		}
		if err := s.Kill(t.Context(), tag); err != nil {
			t.Errorf("%s: killing it after its end: %v", name, err)
		}
	}
}

func TestQueuedJob(t *testing.T) {
	t.Parallel()
	s := openSite(t, small)
	first := s.submit(t, guest(t, "sleep 1000"))
	s.awaitRunning(t, first)
	dir := homeDir(t)
	tag := s.submit(t, home(t, dir, "touch ran"))
	if err := s.Kill(t.Context(), tag); !errors.Is(err, localsched.ErrNotStarted) {
		t.Errorf("killing it: %v", err)
	}
	if err := s.Forget(t.Context(), tag); !errors.Is(err, localsched.ErrNotEnded) {
		t.Errorf("forgetting it: %v", err)
	}
	load, err := s.Load(t.Context())
	if want := (protocol.Load{CPUs: 1, Busy: 1, QueuedJobs: 1, QueuedWork: 60_000}); err != nil || load != want {
		t.Errorf("the load is %+v, %v, want %+v", load, err, want)
	}
	for range 2 {
		if got, failed := s.Withdraw(t.Context(), tag); got != localsched.Withdrawn || failed != nil {
			t.Fatal(got, failed)
		}
	}
	if got, failed := s.Withdraw(t.Context(), first); got != localsched.Started || failed != nil {
		t.Error("withdrawing the one that runs:", got, failed)
	}
	if err = s.Kill(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	s.awaitEnd(t, first)
	last := s.submit(t, guest(t, "true"))
	s.awaitEnd(t, last)
	s.reopen(t)
	if got, err := s.Withdraw(t.Context(), tag); got != localsched.Withdrawn || err != nil {
		t.Error("withdrawing it again after a restart:", got, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("the withdrawn job has run")
	}
	s.awaitEnd(t, last)
	for _, c := range s.seen {
		if c.Tag == tag {
			t.Errorf("the withdrawn job is reported: %+v", c)
		}
	}
}

func TestWithdrawBeforeSubmit(t *testing.T) {
	t.Parallel()
	s := openSite(t, nil)
	job := guest(t, "true")
	refused := new(localsched.RefusedError)
	for range 2 {
		if got, err := s.Withdraw(t.Context(), job.Tag); got != localsched.Withdrawn || err != nil {
			t.Fatal(got, err)
		}
		if _, err := s.Submit(t.Context(), job); !errors.As(err, &refused) {
			t.Errorf("it was withdrawn, and then taken: %v", err)
		}
		if got, _, err := s.FindByTag(t.Context(), job.Tag); got != localsched.Absent || err != nil {
			t.Errorf("it is %v, %v", got, err)
		}
		s.reopen(t)
	}
	if err := s.Forget(t.Context(), job.Tag); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.dir(job.Tag, "")); !os.IsNotExist(err) {
		t.Errorf("its directory is left: %v", err)
	}
}

// TestWithdrawAgainstStart withdraws each job while its shim is on its way: it
// runs or is withdrawn, never both, never neither.
func TestWithdrawAgainstStart(t *testing.T) {
	t.Parallel()
	s := openSite(t, func(c *process.Config) { c.Capacity.CPUs = 1000 })
	dir := homeDir(t)
	outcomes := map[localsched.Withdrawal]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	const rounds = 40
	for i := range rounds {
		job := home(t, dir, "echo ran >> "+strconv.Itoa(i))
		job.Payload.Stdout, job.Payload.Stderr = "", ""
		all.Go(func() {
			if _, err := s.Submit(t.Context(), job); err != nil {
				t.Error(err)
			}
			pause := time.NewTimer(time.Duration(i) * 500 * time.Microsecond)
			<-pause.C
			got, err := s.Withdraw(t.Context(), job.Tag)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			outcomes[got]++
			want := ""
			if got == localsched.Started {
				want = "ran\n"
				if end := s.awaitEnd(t, job.Tag); end.State != protocol.Completed {
					t.Errorf("job %d: %+v", i, end)
				}
			}
			ran, _ := os.ReadFile(filepath.Join(dir, strconv.Itoa(i)))
			if string(ran) != want {
				t.Errorf("job %d was %v and has written %q", i, got, ran)
			}
		})
	}
	all.Wait()
	t.Log(outcomes)
	load, err := s.Load(t.Context())
	if err != nil || load.Busy != 0 || load.QueuedJobs != 0 {
		t.Errorf("the load is %+v, %v", load, err)
	}
}

func TestSubmitIsIdempotent(t *testing.T) {
	t.Parallel()
	s := openSite(t, nil)
	dir := homeDir(t)
	job := home(t, dir, "echo ran >> log")
	ids := make([]localsched.LocalID, 8)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			var err error
			if ids[i], err = s.Submit(t.Context(), job); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s.awaitEnd(t, job.Tag)
	s.reopen(t)
	again, err := s.Submit(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if id != again {
			t.Errorf("one submission is called %s, another %s", id, again)
		}
	}
	if got, id, err := s.FindByTag(t.Context(), job.Tag); got != localsched.Present || id != again || err != nil {
		t.Error(got, id, err)
	}
	s.awaitEnd(t, job.Tag)
	if got := readFile(t, filepath.Join(dir, "log")); got != "ran\n" {
		t.Errorf("it has written %q", got)
	}
	for range 2 {
		if err := s.Forget(t.Context(), job.Tag); err != nil {
			t.Fatal(err)
		}
	}
	if got, _, err := s.FindByTag(t.Context(), job.Tag); got != localsched.Absent || err != nil {
		t.Error(got, err)
	}
	if _, err := s.Fetch(t.Context(), job.Tag, protocol.Stdout, 0, 1); !errors.Is(err, localsched.ErrUnknownJob) {
		t.Error("fetching from a forgotten job:", err)
	}
	if err := s.Kill(t.Context(), job.Tag); !errors.Is(err, localsched.ErrUnknownJob) {
		t.Error("killing a forgotten job:", err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	s := openSite(t, nil)
	cases := map[string]struct {
		change func(*localsched.Submission)
		reason string
	}{
		"root":         {func(j *localsched.Submission) { j.Account = "root" }, `account "root" has uid 0`},
		"nobody known": {func(j *localsched.Submission) { j.Account = "no-such-account" }, `"no-such-account": this machine has no such account`},
		"no name":      {func(j *localsched.Submission) { j.Account = "" }, "no such account"},
		"option":       {func(j *localsched.Submission) { j.Account = "--help" }, "no such account"},
		"no payload":   {func(j *localsched.Submission) { j.Payload = nil }, "no script"},
		"no script":    {func(j *localsched.Submission) { j.Payload.Script = nil }, "no script"},
		"no limit":     {func(j *localsched.Submission) { j.Spec.WallTime = 0 }, "wall-time"},
		"too large":    {func(j *localsched.Submission) { j.Spec.CPUs = 5 }, "needs 5 CPUs, the site has 4"},
		"NUL":          {func(j *localsched.Submission) { j.Payload.Env = []string{"A=\x00"} }, "NUL"},
		"no text":      {func(j *localsched.Submission) { j.Payload.Args = []string{"\xff"} }, "UTF-8"},
	}
	for name, c := range cases {
		job := guest(t, "true")
		c.change(&job)
		_, err := s.Submit(t.Context(), job)
		if refused := new(localsched.RefusedError); !errors.As(err, &refused) || !strings.Contains(refused.Reason, c.reason) {
			t.Errorf("%s: %v does not say %q", name, err, c.reason)
		}
		if got, _, err := s.FindByTag(t.Context(), job.Tag); got != localsched.Absent || err != nil {
			t.Errorf("%s: it is %v, %v", name, got, err)
		}
	}
}

// TestQuotesAreRight fills the machine: a quote counts on what runs and waits until their
// limits, as exactly as is seen from here when the first began; and the job then starts when
// they have ended.
func TestQuotesAreRight(t *testing.T) {
	t.Parallel()
	s := openSite(t, small)
	dir := homeDir(t)
	submitted := protocol.InstantOf(time.Now())
	running := s.awaitRunning(t, s.submit(t, home(t, dir, "while [ ! -e go ]; do sleep 0.05; done")))
	waits := s.submit(t, guest(t, "true"))
	last := guest(t, "true")
	before := protocol.InstantOf(time.Now())
	quotes, err := s.Quote(t.Context(), localsched.Query{Jobs: []protocol.Request{last.Spec.Request, {CPUs: 9, WallTime: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	after := protocol.InstantOf(time.Now())
	limits := running.Started.Add(2 * protocol.Minute)
	if least, most := submitted.Add(2*protocol.Minute).Sub(after), limits.Sub(before); quotes[0].AWT < least || quotes[0].AWT > most {
		t.Errorf("quoted a wait of %v, want %v to %v", quotes[0].AWT, least, most)
	}
	if q := quotes[0]; q.AWTLow != 0 || q.AWTHigh != q.AWT {
		t.Errorf("what runs and waits may end before its limits, and %v to %v is quoted around %v", q.AWTLow, q.AWTHigh, q.AWT)
	}
	if quotes[0].ERT != protocol.Minute || quotes[1].Declined == "" {
		t.Errorf("the quotes are %+v", quotes)
	}
	s.submit(t, last)
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	next := s.awaitRunning(t, waits)
	ended := next.Started.Add(s.awaitEnd(t, waits).Ran)
	if started := s.awaitRunning(t, last.Tag).Started; started < ended || started >= limits {
		t.Errorf("started at %d, the one before ended at %d, and the limits are over at %d", started, ended, limits)
	}
}

func TestFullDisk(t *testing.T) {
	asRoot(t)
	dir := newDir(t)
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=256k,mode=711"); err != nil {
		t.Skip("cannot mount a small disk:", err)
	}
	s := openSite(t, func(c *process.Config) { c.Dir = filepath.Join(dir, "spool") })
	t.Cleanup(func() {
		s.Close()
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	job := guest(t, "true")
	job.Payload.Script = append(job.Payload.Script, strings.Repeat("# long\n", 100_000)...)
	_, err := s.Submit(t.Context(), job)
	if !errors.Is(err, syscall.ENOSPC) || errors.As(err, new(*localsched.RefusedError)) {
		t.Errorf("a full disk is reported as %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(s.config.Dir, "jobs")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	// A job fills the disk; its end is written once there is room again.
	over := filepath.Join(homeDir(t), "over")
	job = guest(t, "cat /dev/zero; touch "+over+"; exit 5")
	s.submit(t, job)
	eventually(t, "the job is over", func() bool {
		_, err := os.Stat(over)
		return err == nil
	})
	shim := strconv.Itoa(s.shimOf(t, job.Tag))
	eventually(t, "the shim has nothing left but to write", func() bool {
		children, err := os.ReadFile("/proc/" + shim + "/task/" + shim + "/children")
		return err != nil || len(children) == 0
	})
	if err := os.Truncate(s.dir(job.Tag, "out"), 0); err != nil {
		t.Fatal(err)
	}
	if got := s.awaitEnd(t, job.Tag); got.ExitCode != 5 {
		t.Errorf("got %+v", got)
	}
}
