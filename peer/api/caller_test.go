package api

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// oneJob is a node with one job.
type oneJob struct {
	Node
	job view.Job
	got event.Event
}

func (n *oneJob) Job(context.Context, protocol.JobID) (view.Job, error) { return n.job, nil }

func (n *oneJob) Ask(_ context.Context, question func(event.AskID) event.Event) (view.Reply, error) {
	n.got = question(1)
	return view.Done{}, nil
}

// as makes a request in the name of somebody.
func (n *oneJob) as(t *testing.T, who caller, method, path string) int {
	t.Helper()
	return n.answer(t, who, method, path).Code
}

func (n *oneJob) answer(t *testing.T, who caller, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	ctx := context.WithValue(t.Context(), callerKey{}, func() caller { return who })
	request := httptest.NewRequestWithContext(ctx, method, path, nil)
	answer := httptest.NewRecorder()
	read := func(_ context.Context, user, path string, offset int64, _ int) ([]byte, error) {
		if offset > 0 {
			return nil, nil
		}
		return []byte(user + " reads " + path), nil
	}
	(&server{Config: Config{Node: n, Log: discard(), ReadFile: read}, files: make(chan struct{}, 1)}).routes().ServeHTTP(answer, request)
	return answer
}

func TestWhoMayReadOutput(t *testing.T) {
	t.Parallel()
	const path = "/v1/jobs/1000000000001/output"
	tests := map[string]struct {
		who   caller
		guest bool
		want  int
	}{
		"its user":                {who: caller{user: "ann"}, want: http.StatusOK},
		"another":                 {who: caller{user: "bob"}, want: http.StatusForbidden},
		"root":                    {who: caller{user: "root", admin: true}, want: http.StatusOK},
		"nobody known":            {who: caller{user: "ann", err: errors.New("no name")}, want: http.StatusForbidden},
		"a namesake of the guest": {who: caller{user: "ann"}, guest: true, want: http.StatusForbidden},
	}
	for name, test := range tests {
		n := &oneJob{job: view.Job{
			User: "ann", Origin: "here", Site: "here", State: protocol.Completed, Stdout: "/o", Guest: test.guest,
		}}
		if got := n.as(t, test.who, http.MethodGet, path); got != test.want {
			t.Errorf("%s: status %d, want %d", name, got, test.want)
		}
	}
}

// TestOutputIsReadByItsUser: root, who may read the output of all jobs, does not open what a user has put into its place.
func TestOutputIsReadByItsUser(t *testing.T) {
	t.Parallel()
	for who, want := range map[caller]string{
		{user: "ann"}:               `{"path":"/o"}`,
		{user: "root", admin: true}: "ann reads /o",
	} {
		n := &oneJob{job: view.Job{User: "ann", Origin: "here", Site: "here", State: protocol.Completed, Stdout: "/o"}}
		answer := n.answer(t, who, http.MethodGet, "/v1/jobs/1000000000001/output")
		if got := strings.TrimSpace(answer.Body.String()); answer.Code != http.StatusOK || got != want {
			t.Errorf("%s: status %d, %s; want %s", who.user, answer.Code, got, want)
		}
	}
}

func TestCancelCarriesTheCallersRights(t *testing.T) {
	t.Parallel()
	for _, who := range []caller{{user: "bob"}, {user: "root", admin: true}} {
		n := &oneJob{}
		if got := n.as(t, who, http.MethodDelete, "/v1/jobs/1000000000001"); got != http.StatusAccepted {
			t.Errorf("status %d", got)
		}
		want := event.Cancel{Asked: 1, Job: 1_000_000_000_001, User: who.user, Admin: who.admin}
		if !reflect.DeepEqual(n.got, want) {
			t.Errorf("asked %+v, want %+v", n.got, want)
		}
	}
}

func TestOnlyAdminsReload(t *testing.T) {
	t.Parallel()
	for who, want := range map[caller]int{
		{user: "bob"}:               http.StatusForbidden,
		{user: "root", admin: true}: http.StatusOK,
	} {
		by := ""
		config := Config{Log: discard(), Reload: func(_ context.Context, user string) (Reloaded, error) {
			by = user
			return Reloaded{}, nil
		}}
		ctx := context.WithValue(t.Context(), callerKey{}, func() caller { return who })
		answer := httptest.NewRecorder()
		request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/reload", nil)
		(&server{Config: config}).routes().ServeHTTP(answer, request)
		if answer.Code != want || (by == who.user) != (want == http.StatusOK) {
			t.Errorf("%s: status %d, asked by %q: %s", who.user, answer.Code, by, answer.Body)
		}
	}
}

func TestStrangersAreTurnedAway(t *testing.T) {
	t.Parallel()
	n := &oneJob{}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/info", nil)
	answer := httptest.NewRecorder()
	(&server{Config: Config{Node: n, Log: discard()}}).routes().ServeHTTP(answer, request)
	if answer.Code != http.StatusForbidden {
		t.Errorf("status %d for a connection without a caller", answer.Code)
	}
	left, right := net.Pipe()
	defer func() { _ = errors.Join(left.Close(), right.Close()) }()
	if _, err := callerOf(withCaller(t.Context(), left, new(bounds), userName)); err == nil {
		t.Error("a connection that is no unix socket has a caller")
	}
}

// TestLookUpsThatFailAreRepeated: while the machine cannot be asked who calls, requests fail for now, and
// the next one on the same connection asks again.
func TestLookUpsThatFailAreRepeated(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	left, err := new(net.Dialer).DialContext(t.Context(), "unix", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	right, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(listener.Close(), left.Close(), right.Close()) }()
	asked := 0
	ctx := withCaller(t.Context(), right, new(bounds), func(int) (string, error) {
		if asked++; asked == 1 {
			return "", errNoAnswer
		}
		return "ann", nil
	})
	_, err = callerOf(ctx)
	if failed, ok := errors.AsType[refusal](err); !ok || failed.why.Code != view.Unavailable {
		t.Errorf("the first time: %v", err)
	}
	for range 2 {
		if who, err := callerOf(ctx); err != nil || who.user != "ann" || asked != 2 {
			t.Errorf("%+v, %v, asked %d times", who, err, asked)
		}
	}
}

// unread is a body that nobody may read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

func TestTooLargeBodiesAreNotRead(t *testing.T) {
	t.Parallel()
	ctx := context.WithValue(t.Context(), callerKey{}, func() caller { return caller{user: "ann"} })
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/jobs", unread{t})
	request.ContentLength = MaxBody + 1
	answer := httptest.NewRecorder()
	(&server{Config: Config{Node: &oneJob{}, Log: discard()}}).routes().ServeHTTP(answer, request)
	if answer.Code != http.StatusBadRequest || !strings.Contains(answer.Body.String(), "more than 33554432 bytes") {
		t.Errorf("status %d: %s", answer.Code, answer.Body)
	}
}

func TestUserName(t *testing.T) {
	t.Parallel()
	if name, err := userName(0); err != nil || name != "root" {
		t.Errorf("user 0 is %q, %v", name, err)
	}
	if name, err := userName(os.Getuid()); err != nil || name == "" {
		t.Errorf("this user is %q, %v", name, err)
	}
	const nobodys = 1_999_999_999
	if name, err := userName(nobodys); err == nil {
		t.Errorf("user %s is %q", strconv.Itoa(nobodys), name)
	}
}

// TestBodiesOfOneUserAreReadInTurn has a third body wait for one of the two before it; another
// user's does not.
func TestBodiesOfOneUserAreReadInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := new(bounds)
		var done []func()
		for _, uid := range []int{1000, 1000, 1001} {
			one, err := b.read(t.Context(), uid)
			if err != nil {
				t.Fatal(err)
			}
			done = append(done, one)
		}
		read := false
		go func() {
			if third, err := b.read(t.Context(), 1000); err == nil {
				read = true
				third()
			}
		}()
		synctest.Wait()
		if read {
			t.Error("a third body is read at once")
		}
		done[0]()
		synctest.Wait()
		if !read {
			t.Error("the third body is not read when a place is free")
		}
	})
}
