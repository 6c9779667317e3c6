package dashboard_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/dashboard"
)

// followMany has a visitor follow until that is refused, and returns how many pages may.
func followMany(d *dashboard.Dashboard, user string, address func(i int) string) (ends []func()) {
	for {
		end, err := d.Follow(user, address(len(ends)))
		if err != nil {
			return ends
		}
		ends = append(ends, end)
	}
}

func TestFollowersAreBounded(t *testing.T) {
	t.Parallel()
	d, err := dashboard.New(dashboard.Config{})
	if err != nil {
		t.Fatal(err)
	}
	at := func(address string) func(int) string { return func(i int) string { return fmt.Sprintf(address, i+1) } }
	first := followMany(d, "", at("192.0.2.1:%d"))
	if len(first) != 8 {
		t.Errorf("%d pages of an address", len(first))
	}
	if again := followMany(d, "", at("[::ffff:192.0.2.1]:%d")); len(again) != 0 {
		t.Errorf("%d more pages of the address in another form", len(again))
	}
	if network := followMany(d, "", at("[2001:db8:0:1::%d]:443")); len(network) != 8 {
		t.Errorf("%d pages of a network of IPv6", len(network))
	}
	if rest := followMany(d, "", at("[2001:db8:1:%d::1]:443")); len(rest) != 100-8-8 {
		t.Errorf("%d pages of all other addresses", len(rest))
	}
	if ann := followMany(d, "ann", at("192.0.2.1:%d")); len(ann) != 16 {
		t.Errorf("%d pages of a user", len(ann))
	}
	users := 0
	for i := range 20 {
		users += len(followMany(d, fmt.Sprint("user", i), at("192.0.2.1:%d")))
	}
	if users != 100-16 {
		t.Errorf("%d pages of all other users", users)
	}
	for _, end := range first {
		end()
	}
	if again := followMany(d, "", at("192.0.2.1:%d")); len(again) != 8 {
		t.Errorf("%d pages of an address whose others have ended", len(again))
	}
}

// follow opens the stream of changes, of a kind, or the page that refuses it; it is closed when the test ends.
func (p *pages) follow(t *testing.T) (status int, kind string, lines *bufio.Scanner) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.at+"/changes", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := p.browser.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response.StatusCode, response.Header.Get("Content-Type"), bufio.NewScanner(response.Body)
}

func TestStrangersLeaveRoomToFollow(t *testing.T) {
	t.Parallel()
	p := open(t, smallGrid(), func(c *api.Config) { c.Network.Public = true })
	for i := range 8 {
		if status, _, _ := p.follow(t); status != http.StatusOK {
			t.Fatalf("page %d: %d", i+1, status)
		}
	}
	if status, _, text := p.get(t, "/changes"); status != http.StatusServiceUnavailable || !strings.Contains(text, "8 pages at your address follow this peer") {
		t.Errorf("%d %s", status, text)
	}
	secret, _ := p.token(t, accesstokens.Read)
	if status, text := p.post(t, "/sign-in", url.Values{"token": {secret}}); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	if status, _, _ := p.follow(t); status != http.StatusOK {
		t.Errorf("signed in: %d", status)
	}
}

// TestNoEmptyPage: a handler that returns without writing would answer 200.
func TestNoEmptyPage(t *testing.T) {
	t.Parallel()
	d, err := dashboard.New(dashboard.Config{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	defer func() {
		if given, ok := recover().(error); !ok || !errors.Is(given, http.ErrAbortHandler) {
			t.Errorf("the request ended with %v", given)
		}
	}()
	d.Show(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/nothing", http.NoBody), &api.Visitor{})
	t.Error("there is an answer to a request that has ended")
}
