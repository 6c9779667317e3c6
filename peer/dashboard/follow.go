package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/connlimit"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	maxFollowers          = 200 // pages that follow at a time
	maxStrangers          = 100 // of these, pages of visitors who have not signed in; the rest is for those who have
	maxFollowersOfAddress = 8   // of visitors who have not signed in
	maxFollowersOfUser    = 16

	loadPause  = time.Minute      // between looks at the load of the sites
	agingPause = 90 * time.Second // after which a page is drawn again although nothing has changed but ages
	fullPace   = 10               // pages that follow, from which on each stays as it is for the whole interval
	leastPace  = 3                // of these tenths: what a page loads counts as requests of its user
	spread     = 5                // milliseconds for each page that follows, within which their browsers ask for them again
	sharedPart = 3                // of the interval, for which a page is kept for others whom the same change has load it
	followTime = 4 * time.Minute
	askTime    = 30 * time.Second
)

// followers are the pages that follow.
type followers struct {
	mu    sync.Mutex
	pages map[follower]int // how many each has open; none has 0
}

// follower is whom pages that follow are counted for: a user, or the address of a visitor who has not signed in.
type follower struct {
	user    string       // empty: of an address
	address netip.Prefix // as connections are counted
}

// followerOf is who makes a request.
func followerOf(r *request) follower {
	if r.visitor.User != "" {
		return follower{user: r.visitor.User}
	}
	return follower{address: connlimit.NetworkOf(r.RemoteAddr)}
}

// begin counts a page that follows. The error says that there are too many.
func (f *followers) begin(one follower) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	all, strangers := 0, 0
	for other, pages := range f.pages {
		if all += pages; other.user == "" {
			strangers += pages
		}
	}
	why := ""
	switch own := f.pages[one]; {
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
	f.pages[one]++
	return nil
}

func (f *followers) end(one follower) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pages[one]--; f.pages[one] == 0 {
		delete(f.pages, one)
	}
}

// count is how many pages follow.
func (f *followers) count() (all int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, pages := range f.pages {
		all += pages
	}
	return all
}

// Watch implements [api.Pages].
func (d *Dashboard) Watch(ctx context.Context, peer *api.Client) {
	tick := time.NewTicker(loadPause)
	defer tick.Stop()
	for {
		if err := d.noteLoads(ctx, peer); err != nil && ctx.Err() == nil {
			d.Log.Debug("loads_unknown", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// noteLoads notes how busy the sites are.
func (d *Dashboard) noteLoads(ctx context.Context, peer *api.Client) error {
	ctx, stop := context.WithTimeout(ctx, askTime)
	defer stop()
	sites, err := peer.Sites(ctx)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.loads.Add(protocol.InstantOf(time.Now()), sites.Sites)
	return nil
}

// pace is how long a page stays as it is once it is up to date, so that few pages follow closely, and many take no more of the CPU.
func (d *Dashboard) pace() time.Duration {
	return d.Interval * time.Duration(min(max(d.followers.count(), leastPace), fullPace)) / fullPace
}

// change is something that pages that follow are to show.
type change struct {
	number uint64          // in the order of [sharedPages]
	next   <-chan struct{} // closed when something happens that it does not have
}

// newChange has all that has happened until now.
func (d *Dashboard) newChange() change {
	next := d.Events.Next()
	return change{d.sharedPages.next(), next}
}

// pulse has pages load together what has happened, so that one is made for all who are shown the same.
type pulse struct {
	mu     sync.Mutex
	at     time.Time // of the change
	change change    // the last one that was for all
}

// wait is how long a page waits that has shown a change, after which something has happened. Pages that are behind the others do not.
func (p *pulse) wait(shown change, pace time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.change.number > shown.number {
		return 0
	}
	return time.Until(p.at.Add(pace))
}

// changeAfter is the change that a page loads together with others after one that it has shown. It may lack the last that has happened, and
// then the next one follows.
func (d *Dashboard) changeAfter(shown change) change {
	p := &d.pulse
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.change.number <= shown.number {
		p.at, p.change = time.Now(), d.newChange()
	}
	return p.change
}

// follow is a stream of server-sent events: "changed" now, at once when something happens, and once more after the interval, with the
// number of the change, by which the browser asks for the page, and the milliseconds within which it is to do so: what the peer counts may be
// some seconds old, and something may have happened between the page and the stream. What happens soon after a change waits, the longer the
// more pages follow, and then all load it together. The stream ends after a while, and with the session of the visitor, by "end"; browsers
// then come again.
func (d *Dashboard) follow(r *request) error {
	who := followerOf(r)
	if err := d.followers.begin(who); err != nil {
		return err
	}
	defer d.followers.end(who)
	defer d.Events.Watch()()
	r.w.Header().Set("Content-Type", "text/event-stream")
	ctx, stop := context.WithTimeout(r.Context(), followTime)
	defer stop()
	to := http.NewResponseController(r.w)
	send := func(format string, args ...any) bool { // false: the visitor has gone
		_, err := fmt.Fprintf(r.w, format, args...)
		return err == nil && to.Flush() == nil
	}
	shown, pause, quiet := d.newChange(), time.Duration(0), d.Interval
	for r.visitor.Current() && ctx.Err() == nil {
		if !send("event: changed\nid: %d\ndata: %d\n\n", shown.number, spread*d.followers.count()) {
			return nil
		}
		sent := time.Now()
		select {
		case <-shown.next:
			select {
			case <-time.After(max(time.Until(sent.Add(pause)), d.pulse.wait(shown, d.pace()))):
				shown, quiet = d.changeAfter(shown), d.Interval
			case <-ctx.Done():
			}
		case <-time.After(quiet):
			shown, quiet = d.newChange(), agingPause
		case <-ctx.Done():
		}
		pause = d.pace()
	}
	send("event: end\ndata:\n\n")
	return nil
}
