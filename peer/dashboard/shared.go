package dashboard

import (
	"bytes"
	"cmp"
	"maps"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/api"
)

// changeHeader is, in a request of a page that follows, the number of the change that it is to show.
const changeHeader = "Switchyard-Change"

// maxShared bounds the pages that are kept for others.
const maxShared = 64

// sharedPages are pages that were made a moment ago, or are being made, for those whom the same change has load the same page with the same
// rights. Changes and the beginnings of pages are numbered in the order in which they happen: a page has all changes before it.
type sharedPages struct {
	mu   sync.Mutex
	last uint64 // number
	kept map[sharedKey]*sharedPage
}

// sharedKey is what a page depends on besides the peer.
type sharedKey struct {
	rights api.Rights
	uri    string
}

// sharedPage is a page for all who ask for it.
type sharedPage struct {
	number uint64
	made   chan struct{} // closed when it is made, or cannot be

	header http.Header
	body   []byte // nil: it could not be made
	err    error  // why not; nil: the one who was to make it has gone
}

// next is the next number.
func (s *sharedPages) next() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	return s.last
}

// find finds a page that has a change, or begins one that the caller is to make. nil: the caller's page is not shared, since there
// are too many, or the number is none of this peer's.
func (s *sharedPages) find(key sharedKey, change uint64) (page *sharedPage, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.kept[key]
	if known != nil && known.number > change {
		return known, true
	}
	if change > s.last || known == nil && len(s.kept) >= maxShared {
		return nil, false
	}
	s.last++
	page = &sharedPage{number: s.last, made: make(chan struct{})}
	s.kept[key] = page
	return page, false
}

// drop keeps a page no longer.
func (s *sharedPages) drop(key sharedKey, page *sharedPage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept[key] == page {
		delete(s.kept, key)
	}
}

// shared has pages that follow share what the handler makes, if they load it for the same change with the same rights. A page that a visitor
// asks for is made for it alone, and so is never older than the request.
func (d *Dashboard) shared(handle func(*request) error) func(*request) error {
	return func(r *request) error {
		change, err := strconv.ParseUint(r.Header.Get(changeHeader), 10, 64)
		if err != nil || r.Method != http.MethodGet {
			return handle(r)
		}
		key := sharedKey{r.visitor.Rights(), r.URL.RequestURI()}
		for {
			page, found := d.sharedPages.find(key, change)
			switch {
			case page == nil:
				return handle(r)
			case !found:
				if err = d.makeShared(key, page, r, handle); err != nil {
					return err
				}
				return page.send(r)
			}
			select {
			case <-page.made:
			case <-r.Context().Done():
				return r.Context().Err()
			}
			switch {
			case page.body != nil:
				return page.send(r)
			case page.err != nil: // to try again one after another would take each as long
				return page.err
			}
		}
	}
}

// makeShared makes a page, which is kept for a while.
func (d *Dashboard) makeShared(key sharedKey, page *sharedPage, r *request, handle func(*request) error) error {
	defer close(page.made)
	defer func() {
		if page.body == nil {
			d.sharedPages.drop(key, page)
			return
		}
		time.AfterFunc(d.Interval/sharedPart, func() { d.sharedPages.drop(key, page) })
	}()
	answer := &pageBuffer{header: http.Header{}}
	asked := *r
	asked.w = answer
	err := handle(&asked)
	if gone := r.Context().Err(); gone != nil { // what is missing on a page may be missing because of that
		return cmp.Or(err, gone)
	}
	if page.err = err; err != nil {
		return err
	}
	page.header, page.body = answer.header, answer.body.Bytes()
	return nil
}

// send answers with the page.
func (p *sharedPage) send(r *request) error {
	maps.Copy(r.w.Header(), p.header)
	_, err := r.w.Write(p.body)
	return err
}

// pageBuffer keeps a page. It is an [http.ResponseWriter] for handlers that answer 200 or return an error.
type pageBuffer struct {
	header http.Header
	body   bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (b *pageBuffer) Header() http.Header { return b.header }

// Write implements [http.ResponseWriter].
func (b *pageBuffer) Write(p []byte) (int, error) { return b.body.Write(p) }

// WriteHeader implements [http.ResponseWriter].
func (*pageBuffer) WriteHeader(int) {}
