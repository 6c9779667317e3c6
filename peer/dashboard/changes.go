package dashboard

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	maxFollowers          = 200 // pages that follow at a time
	maxStrangers          = 100 // of these, pages of visitors who have not signed in; the rest is for those who have
	maxFollowersOfAddress = 8   // of visitors who have not signed in
	maxFollowersOfUser    = 16

	historyPause = time.Minute // between looks at the peer without followers
	agingPause   = 30          // looks after which a page is drawn again although nothing has changed but ages
	followTime   = 4 * time.Minute
	askTime      = 30 * time.Second
)

// changes says to followers that the pages are not as they were.
type changes struct {
	mu        sync.Mutex
	changed   chan struct{}    // closed at the next change
	followers map[follower]int // how many pages each has open; none has 0
	called    chan struct{}    // has one when somebody begins to follow
}

// follower is whom pages that follow are counted for: a user, or the address of a visitor who has not signed in.
type follower struct {
	user    string // empty: of an address
	address netip.Prefix
}

// followerOf is who makes a request. Who has a network of IPv6 has all its addresses.
func followerOf(r *request) follower {
	if r.visitor.User != "" {
		return follower{user: r.visitor.User}
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return follower{}
	}
	address, bits := from.Addr().Unmap().WithZone(""), 32
	if address.Is6() {
		bits = 64
	}
	prefix, err := address.Prefix(bits)
	if err != nil {
		return follower{}
	}
	return follower{address: prefix}
}

func (c *changes) init() {
	c.changed, c.called, c.followers = make(chan struct{}), make(chan struct{}, 1), map[follower]int{}
}

// begin counts a page that follows. The error says that there are too many.
func (c *changes) begin(one follower) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	all, strangers := 0, 0
	for other, pages := range c.followers {
		if all += pages; other.user == "" {
			strangers += pages
		}
	}
	why := ""
	switch own := c.followers[one]; {
	case one.user != "" && own >= maxFollowersOfUser:
		why = fmt.Sprintf("You have %d pages open that follow this peer; close some.", own)
	case one.user == "" && own >= maxFollowersOfAddress:
		why = fmt.Sprintf("%d pages at your address follow this peer; close some, or sign in.", own)
	case one.user == "" && strangers >= maxStrangers:
		why = fmt.Sprintf("%d pages of visitors who have not signed in follow this peer; sign in, or try again later.", strangers)
	case all >= maxFollowers:
		why = fmt.Sprintf("%d pages follow this peer; try again later.", all)
	}
	if why != "" {
		return &pageError{http.StatusServiceUnavailable, why}
	}
	c.followers[one]++
	select {
	case c.called <- struct{}{}:
	default:
	}
	return nil
}

func (c *changes) end(one follower) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.followers[one]--; c.followers[one] == 0 {
		delete(c.followers, one)
	}
}

func (c *changes) followed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.followers) > 0
}

// next is closed at the next change.
func (c *changes) next() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

func (c *changes) tell() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.changed)
	c.changed = make(chan struct{})
}

// Watch implements [api.Pages].
func (d *Dashboard) Watch(ctx context.Context, peer *api.Client) {
	var last [sha256.Size]byte
	for same := 0; ; same++ {
		now, err := d.look(ctx, peer)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			d.Log.Debug("dashboard_look_failed", "error", err)
		case now != last || same >= agingPause:
			last, same = now, 0
			d.changes.tell()
		}
		pause, called := d.Interval, d.changes.called
		if d.changes.followed() {
			called = nil
		} else {
			pause = max(pause, historyPause)
		}
		select {
		case <-time.After(pause):
		case <-called:
		case <-ctx.Done():
			return
		}
	}
}

// look notes how busy the sites are, and sums up how the grid is, without what changes with time alone.
func (d *Dashboard) look(ctx context.Context, peer *api.Client) (sum [sha256.Size]byte, err error) {
	ctx, stop := context.WithTimeout(ctx, askTime)
	defer stop()
	sites, err := peer.Sites(ctx)
	if err != nil {
		return sum, err
	}
	counts, err := peer.Counts(ctx)
	if err != nil {
		return sum, err
	}
	d.mu.Lock()
	d.loads.Add(protocol.InstantOf(time.Now()), sites.Sites)
	d.mu.Unlock()
	for i := range sites.Sites {
		sites.Sites[i].Age, sites.Sites[i].LastSeen = nil, 0
	}
	data, err := json.Marshal(struct {
		view.Sites
		view.Counts
	}{sites, counts})
	return sha256.Sum256(data), err
}

// follow is a stream of server-sent events: "changed" now, and after each change. It ends after a while, and with the session of the
// visitor, by "end"; browsers then come again.
func (d *Dashboard) follow(r *request) error {
	who := followerOf(r)
	if err := d.changes.begin(who); err != nil {
		return err
	}
	defer d.changes.end(who)
	r.w.Header().Set("Content-Type", "text/event-stream")
	ctx, stop := context.WithTimeout(r.Context(), followTime)
	defer stop()
	to := http.NewResponseController(r.w)
	send := func(event string) bool { // false: the visitor has gone
		_, err := io.WriteString(r.w, "event: "+event+"\ndata:\n\n")
		return err == nil && to.Flush() == nil
	}
	for r.visitor.Current() && ctx.Err() == nil {
		next := d.changes.next()
		if !send("changed") {
			return nil
		}
		select {
		case <-next:
		case <-ctx.Done():
		}
		select { // at most one event in each interval
		case <-time.After(d.Interval):
		case <-ctx.Done():
		}
	}
	send("end")
	return nil
}
