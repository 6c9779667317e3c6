package dashboard

import (
	"net/http"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// AddLoads notes how busy sites were, as if the peer had been there.
func (d *Dashboard) AddLoads(at protocol.Instant, sites []view.Site) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.loads.Add(at, sites)
}

// Follow counts a page that follows, of a user or, without one, of an address with a port, until end is called.
func (d *Dashboard) Follow(user, address string) (end func(), err error) {
	who := followerOf(&request{Request: &http.Request{RemoteAddr: address}, visitor: &api.Visitor{User: user}})
	return func() { d.followers.end(who) }, d.followers.begin(who)
}

// Shared has visitors who have not signed in share the pages that a handler makes.
func (d *Dashboard) Shared(handle func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	shared := d.shared(func(r *request) error { return handle(r.w, r.Request) })
	return func(w http.ResponseWriter, r *http.Request) error { return shared(&request{r, w, &api.Visitor{}}) }
}
