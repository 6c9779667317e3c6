package dashboard_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// viewersOrder is the variable that has this binary act as browsers, with [viewers] in JSON.
const viewersOrder = "SWITCHYARD_TEST_VIEWERS"

// viewers are browsers that follow a page, in a process of their own, so that their CPU time is not the peer's.
type viewers struct {
	At, Authority string   // of the peer
	Path          string   // of the page
	Cookies       []string // of each browser
}

// loaded is what browsers have loaded.
type loaded struct {
	Pages int           // after the first one of each
	Took  time.Duration // all of them together, each from its request to its last byte
}

// startViewers starts browsers. They follow their page once it returns, and end with stop, which says what they have loaded since.
func startViewers(b *testing.B, wanted viewers) (stop func() loaded) {
	b.Helper()
	order, err := json.Marshal(wanted)
	if err != nil {
		b.Fatal(err)
	}
	child := exec.CommandContext(b.Context(), os.Args[0])
	child.Env, child.Stderr = append(os.Environ(), viewersOrder+"="+string(order)), os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err = child.Start(); err != nil {
		b.Fatal(err)
	}
	said := json.NewDecoder(out)
	listen := func() (all loaded) {
		if err := said.Decode(&all); err != nil {
			b.Fatalf("the browsers have ended: %v, %v", err, child.Wait())
		}
		return all
	}
	first := listen()
	return func() loaded {
		_ = in.Close()
		all := listen()
		if err := child.Wait(); err != nil {
			b.Fatal(err)
		}
		return loaded{all.Pages - first.Pages, all.Took - first.Took}
	}
}

// beViewers is what a process does that was started to be browsers: it says once that they follow, and what they have loaded when its
// input ends.
func beViewers(order string) error {
	var wanted viewers
	if err := json.Unmarshal([]byte(order), &wanted); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	all := &counter{following: make(chan struct{}, len(wanted.Cookies))}
	for _, cookie := range wanted.Cookies {
		trust, err := trusting(wanted.Authority)
		if err != nil {
			return err
		}
		trust.ForceAttemptHTTP2 = true // as browsers do
		one := &viewer{client: &http.Client{Transport: trust}, page: wanted.At + wanted.Path, changes: wanted.At + "/changes", cookie: cookie, all: all}
		go func() { stop(one.view(ctx)) }()
	}
	for range wanted.Cookies {
		select {
		case <-all.following:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	said := json.NewEncoder(os.Stdout)
	if err := said.Encode(all.read()); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop(io.EOF)
	}()
	<-ctx.Done()
	if err := context.Cause(ctx); err != io.EOF { //nolint:errorlint // it is this one
		return err
	}
	return said.Encode(all.read())
}

// counter counts what browsers load.
type counter struct {
	following chan struct{} // gets one for each browser that follows

	mu  sync.Mutex
	all loaded
}

func (c *counter) read() loaded {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all
}

func (c *counter) add(took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all.Pages++
	c.all.Took += took
}

// viewer is a browser that shows a page, and does what the script of the page does.
type viewer struct {
	client        *http.Client
	page, changes string
	cookie        string
	all           *counter
}

// ask makes a request. The body of the answer, which is that of a page or a stream, is to be closed.
func (v *viewer) ask(ctx context.Context, at, change string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Cookie", v.cookie)
	if change != "" {
		request.Header.Set("Switchyard-Change", change)
	}
	response, err := v.client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		return nil, fmt.Errorf("%s: %s", at, response.Status)
	}
	return response.Body, nil
}

// load loads the page after a change; empty: it has shown none.
func (v *viewer) load(ctx context.Context, change string) error {
	from := time.Now()
	page, err := v.ask(ctx, v.page, change)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, page)
	if err = cmp.Or(err, page.Close()); err == nil {
		v.all.add(time.Since(from))
	}
	return err
}

// view shows the page and follows it. It returns with an error, or when ctx ends.
func (v *viewer) view(ctx context.Context) error {
	if err := v.load(ctx, ""); err != nil {
		return err
	}
	for first := true; ; { // streams end after some minutes
		changes, err := v.ask(ctx, v.changes, "")
		if err != nil {
			return err
		}
		err = v.follow(ctx, changes, first)
		if err = cmp.Or(err, changes.Close()); err != nil {
			return err
		}
		first = false
	}
}

// follow loads the page whenever the stream says that something has changed, but for the first time.
func (v *viewer) follow(ctx context.Context, changes io.Reader, counted bool) error {
	event, change := "", ""
	first := true
	for lines := bufio.NewScanner(changes); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "event":
			event = value
		case "id":
			change = value
		}
		if name != "data" || event != "changed" {
			continue
		}
		if first {
			first = false
			if counted {
				v.all.following <- struct{}{}
			}
			continue
		}
		within, err := strconv.Atoi(value)
		if err != nil {
			return err
		}
		select {
		case <-time.After(time.Duration(rand.Int64N(int64(within)+1)) * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
		if err = v.load(ctx, change); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// cpuTime is what this process has used, without its children.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
