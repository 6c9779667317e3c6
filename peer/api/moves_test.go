package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
)

// Each piece of what comes has a minute, and all of it comes at 64 KiB in a second once a minute is over.
func TestPieceBy(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	for _, c := range []struct {
		after time.Duration
		come  int64
		want  time.Duration
	}{
		{0, 0, time.Minute},
		{59 * time.Second, 59, time.Minute}, // a byte in a second
		{59 * time.Second, 10 << 16, 70 * time.Second},
		{time.Minute, 1 << 30, 2 * time.Minute},
	} {
		if got := pieceBy(begun, begun.Add(c.after), c.come); !got.Equal(begun.Add(c.want)) {
			t.Errorf("%d bytes after %v: until %v", c.come, c.after, got.Sub(begun))
		}
	}
}

// dated is a response that notes the deadlines of its request.
type dated struct {
	*httptest.ResponseRecorder

	read, write time.Time
}

func (d *dated) SetReadDeadline(at time.Time) error { d.read = at; return nil }

func (d *dated) SetWriteDeadline(at time.Time) error { d.write = at; return nil }

// A request that finds no place among those that move files waits a minute, which its deadlines do not count, and is to come again.
func TestFilesWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{Config: Config{Log: discard(), Network: &Network{Files: &Files{}}}, moving: make(chan struct{}, 1)}
		s.moving <- struct{}{}
		begun, who := time.Now(), caller{user: "ann", pass: &pass{scopes: accesstokens.Scopes{accesstokens.Submit}}}
		w := &dated{ResponseRecorder: httptest.NewRecorder()}
		ctx := context.WithValue(t.Context(), callerKey{}, func() caller { return who })
		wait := func(w http.ResponseWriter, r *http.Request, who caller) error {
			_, err := s.moves(r.Context(), w, who)
			return err
		}
		s.answer(route{pattern: "GET /v1/jobs/{id}/files", scope: accesstokens.Submit, handle: wait})(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/jobs/7/files", nil))
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" || time.Since(begun) != placeWait {
			t.Errorf("%d %v %s after %v", w.Code, w.Header(), w.Body, time.Since(begun))
		}
		if w.read.Sub(begun) <= placeWait || w.write.Sub(begun) <= placeWait {
			t.Errorf("deadlines after %v and %v", w.read.Sub(begun), w.write.Sub(begun))
		}
		<-s.moving
		end, err := s.moves(ctx, w, who)
		if err != nil || len(s.moving) != 1 {
			t.Fatalf("%d places taken, %v", len(s.moving), err)
		}
		end()
	})
}
