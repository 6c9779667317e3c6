package api

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// pipes is a listener whose connections are [net.Pipe]s, on which time of a test may pass.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// clientOf makes a client of a server, at its socket with HTTP/1.1 or over TCP with HTTP/2, with the time limits of either way.
func clientOf(t *testing.T, remote bool, handler http.Handler) *Client {
	t.Helper()
	listener := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	web := &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler, ReadTimeout: readTime}, EnableHTTP2: true}
	var client *Client
	if remote {
		web.Config.WriteTimeout = serveTime
		web.StartTLS()
		trust := web.Client().Transport.(*http.Transport).TLSClientConfig
		client = newClient(listener.dial, trust)
		client.base, client.remote = "https://example.com", true
	} else {
		web.Start()
		client = newClient(listener.dial, nil)
		client.base = "http://peer"
	}
	t.Cleanup(func() {
		client.Close()
		web.CloseClientConnections()
		web.Close()
	})
	return client
}

// slowShelf is a database that takes long to answer.
type slowShelf struct{ shelf }

func (s *slowShelf) Inspect(verify bool) (StoreReport, error) {
	time.Sleep(time.Hour)
	return s.shelf.Inspect(verify)
}

// TestLongWorkIsWaitedFor: an answer that takes an hour comes to a client which gives up after some minutes without a sign of the peer.
func TestLongWorkIsWaitedFor(t *testing.T) {
	t.Parallel()
	files := t.TempDir()
	for name, remote := range map[string]bool{"socket": false, "TCP": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				who := caller{user: "root", admin: true}
				placed := ""
				s := &server{Config: Config{Node: town{}, Log: discard(), Database: &slowShelf{shelf{path: "db"}}}, moving: make(chan struct{}, placing)}
				if remote {
					who.pass = &pass{scopes: accesstokens.Scopes{accesstokens.Submit}, still: func(context.Context, protocol.Instant) error { return nil }}
					s.Network = &Network{Files: &Files{Dir: files, MaxBytes: 100, Place: func(_ context.Context, _, dir string, archive io.Reader) error {
						time.Sleep(time.Hour)
						text, err := io.ReadAll(archive)
						placed = dir + " " + string(text)
						return err
					}}}
				}
				routes := s.routes()
				client := clientOf(t, remote, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					routes.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, func() caller { return who })))
				}))
				if !remote {
					report, err := client.Store(t.Context(), true)
					if err != nil || report.Path != "db" {
						t.Errorf("store: %+v, %v", report, err)
					}
					return
				}
				archive := Archive{Bytes: 5, SHA256: sha256.Sum256([]byte("files")), Write: func(_ context.Context, w io.Writer) error {
					_, err := io.WriteString(w, "files")
					return err
				}}
				if err := client.Place(t.Context(), "/home/ann", archive); err != nil || placed != "/home/ann files" {
					t.Errorf("place: %q, %v", placed, err)
				}
			})
		})
	}
}

// TestSilenceEndsWaiting: a peer that hangs is waited for as long as the limit is, from the last sign of it.
func TestSilenceEndsWaiting(t *testing.T) {
	t.Parallel()
	for name, remote := range map[string]bool{"socket": false, "TCP": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const sign = serveTime - answerTime - time.Second
				client := clientOf(t, remote, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					time.Sleep(sign - time.Second)
					w.WriteHeader(http.StatusProcessing)
					time.Sleep(time.Second)
					w.WriteHeader(http.StatusProcessing)
					<-r.Context().Done()
				}))
				begun := time.Now()
				_, err := client.Info(t.Context())
				if waited := time.Since(begun); !errors.Is(err, ErrSilent) || waited != sign+answerTime {
					t.Errorf("after %v: %v", waited, err)
				}
			})
		})
	}
}

// TestAnswersBeforeTheRequestIsSent: an answer that begins before the transport says that the request is sent, as may be with HTTP/2, comes
// for longer than the limit.
func TestAnswersBeforeTheRequestIsSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := clientOf(t, true, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			to := http.NewResponseController(w)
			if err := errors.Join(to.SetReadDeadline(time.Time{}), to.SetWriteDeadline(time.Time{}), to.Flush()); err != nil {
				t.Error(err)
			}
			_, _ = io.Copy(io.Discard, r.Body)
			time.Sleep(2 * answerTime)
			_, _ = io.WriteString(w, "the end")
		}))
		body, sent := io.Pipe()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, client.base, body)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.http.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		_ = sent.Close()
		text, err := io.ReadAll(response.Body)
		if err = errors.Join(err, response.Body.Close()); err != nil || string(text) != "the end" {
			t.Errorf("%q, %v", text, err)
		}
	})
}

// TestProgressIsForThoseWhoKnow: a client that does not say that it understands interim answers gets none, nor one that waits for another one.
func TestProgressIsForThoseWhoKnow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		header http.Header
		some   bool
	}{
		"says nothing":  {http.Header{}, false},
		"understands":   {http.Header{progressHeader: {"yes"}}, true},
		"waits for 100": {http.Header{progressHeader: {"yes"}, "Expect": {"100-continue"}}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			who := caller{user: "root", admin: true}
			routes := (&server{Config: Config{Node: town{}, Log: discard(), Database: &slowShelf{shelf{path: os.DevNull}}}}).routes()
			codes := codes{ResponseRecorder: httptest.NewRecorder()}
			ctx := context.WithValue(t.Context(), callerKey{}, func() caller { return who })
			request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/store", nil)
			request.Header = c.header
			routes.ServeHTTP(&codes, request)
			last := len(codes.all) - 1
			if some := slices.Contains(codes.all, http.StatusProcessing); last < 0 || codes.all[last] != http.StatusOK || some != c.some || !some && last != 0 {
				t.Errorf("%s: answers %v", name, codes.all)
			}
		})
	}
}

// codes notes the codes of an answer.
type codes struct {
	*httptest.ResponseRecorder

	all []int
}

func (c *codes) WriteHeader(code int) {
	c.all = append(c.all, code)
	if code != http.StatusProcessing { // a recorder takes any for the answer
		c.ResponseRecorder.WriteHeader(code)
	}
}
