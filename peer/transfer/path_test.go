package transfer_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/peer/transfer"
)

// ends are the two sides of a path, which reach each other by pipes.
type ends struct {
	near, far *transfer.Path

	mu    sync.Mutex
	dials int
	// wrap may replace what the dialling side gets of the connection with this number, from 1, or
	// refuse it; nil: it stays as it is.
	wrap func(number int, conn net.Conn) (net.Conn, error)
}

// connect makes a path whose near side asks and the far one answers with the function. Only the
// near side dials, or only the far one.
func connect(t interface{ Cleanup(func()) }, nearDials bool, streams int, answer func([]byte) ([]byte, error)) *ends {
	e := &ends{}
	dial := func(to **transfer.Path) func(context.Context) (net.Conn, error) {
		return func(context.Context) (net.Conn, error) { return e.dial(*to) }
	}
	near := transfer.Config{Streams: streams, Answer: refuse}
	far := transfer.Config{Answer: func(_ context.Context, question []byte) ([]byte, error) { return answer(question) }}
	if nearDials {
		near.Dial = dial(&e.far)
	} else {
		far.Dial = dial(&e.near)
		near.Invite = func() error { e.far.Invited(); return nil }
	}
	e.near, e.far = transfer.New(near), transfer.New(far)
	t.Cleanup(func() {
		e.near.Close()
		e.far.Close()
	})
	return e
}

func refuse(context.Context, []byte) ([]byte, error) { return nil, errors.New("nothing is here") }

// dial connects to a side, which takes the other end.
func (e *ends) dial(to *transfer.Path) (net.Conn, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dials++
	here, there := net.Pipe()
	go func() {
		_ = to.Accept(there)
		_ = there.Close()
	}()
	if e.wrap == nil {
		return here, nil
	}
	wrapped, err := e.wrap(e.dials, here)
	if err != nil {
		_ = here.Close()
	}
	return wrapped, err
}

func (e *ends) dialled() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.dials
}

// echo answers with the question, many times over.
func echo(question []byte) ([]byte, error) { return bytes.Repeat(question, 10_000), nil }

func TestAsk(t *testing.T) {
	t.Parallel()
	for name, nearDials := range map[string]bool{"this side dials": true, "the partner dials, invited": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := connect(t, nearDials, 4, echo)
			var asked sync.WaitGroup
			for i := range 200 {
				asked.Go(func() {
					question := binary.BigEndian.AppendUint32(nil, uint32(i))
					got, err := e.near.Ask(t.Context(), question)
					if want, _ := echo(question); err != nil || !bytes.Equal(got, want) {
						t.Errorf("question %d: %d bytes, %v", i, len(got), err)
					}
				})
			}
			asked.Wait()
			if n := e.near.Streams(); n < 2 || n > 4 {
				t.Errorf("%d streams for 200 questions at once, want 2 to 4", n)
			}
			if n := e.far.Streams(); n != 0 {
				t.Errorf("the side that asks nothing has %d streams", n)
			}
		})
	}
}

// TestNoPath: the caller learns at once that it has to go another way, and why.
func TestNoPath(t *testing.T) {
	t.Parallel()
	refused := func(context.Context) (net.Conn, error) { return nil, errors.New("connection refused") }
	silent := func() error { return nil }
	short := transfer.Timing{Open: 20 * time.Millisecond}
	for name, test := range map[string]struct {
		cfg  transfer.Config
		want string
	}{
		"no streams":          {transfer.Config{Dial: refused}, "no direct connection"},
		"no way":              {transfer.Config{Streams: 1}, "no url"},
		"refused":             {transfer.Config{Streams: 1, Dial: refused}, "connection refused"},
		"invited and silent":  {transfer.Config{Streams: 1, Invite: silent, Timing: short}, "did not within"},
		"refused, and silent": {transfer.Config{Streams: 1, Dial: refused, Invite: silent, Timing: short}, "connection refused; the partner was asked"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.cfg.Answer = refuse
			p := transfer.New(test.cfg)
			defer p.Close()
			for range 2 {
				_, err := p.Ask(t.Context(), []byte("?"))
				if !errors.Is(err, transfer.ErrNoPath) || !strings.Contains(err.Error(), test.want) {
					t.Errorf("error %v, want %q", err, test.want)
				}
			}
		})
	}
}

// TestFailuresAreTriedAgainAfterAWhile dials once in a minute while it is refused, and then goes on.
func TestFailuresAreTriedAgainAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := connect(t, true, 1, echo)
		e.wrap = func(number int, conn net.Conn) (net.Conn, error) {
			if number < 3 {
				return nil, errors.New("connection refused")
			}
			return conn, nil
		}
		begun := time.Now()
		for {
			_, err := e.near.Ask(t.Context(), []byte("?"))
			if err == nil || time.Since(begun) > time.Hour {
				break
			}
			time.Sleep(time.Second)
		}
		if took := time.Since(begun); took != 2*time.Minute+time.Second { // the third attempt keeps nobody waiting
			t.Errorf("the first answer came after %v", took)
		}
		if n := e.dialled(); n != 3 {
			t.Errorf("%d dials, want 3", n)
		}
		e.near.Close()
		e.far.Close()
	})
}

// TestInvitationsAreBounded: a partner that invites and cannot be reached makes this side dial a few times in a
// row, and then once a second.
func TestInvitationsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dials := 0
		p := transfer.New(transfer.Config{
			Dial: func(context.Context) (net.Conn, error) { dials++; return nil, errors.New("connection refused") }, Answer: refuse,
		})
		flood := func() {
			for range 1000 {
				p.Invited()
				synctest.Wait()
			}
		}
		flood()
		if want := 2 * transfer.MaxStreams; dials != want {
			t.Errorf("%d dials, want %d", dials, want)
		}
		time.Sleep(10 * time.Second)
		flood()
		if want := 2*transfer.MaxStreams + 10; dials != want {
			t.Errorf("%d dials after 10 s, want %d", dials, want)
		}
		p.Close()
	})
}

// TestOlderPartnersAreNotInvited: they do not know what an invitation is.
func TestOlderPartnersAreNotInvited(t *testing.T) {
	t.Parallel()
	p := transfer.New(transfer.Config{
		Streams: 1, Answer: refuse,
		Dial:   func(context.Context) (net.Conn, error) { return nil, transfer.ErrOlder },
		Invite: func() error { t.Error("it was invited"); return nil },
	})
	defer p.Close()
	if _, err := p.Ask(t.Context(), []byte("?")); !errors.Is(err, transfer.ErrNoPath) || !errors.Is(err, transfer.ErrOlder) {
		t.Errorf("error %v", err)
	}
}

// TestSilentPartnerIsLeft: a partner that takes questions and says nothing is left after a
// while, on every stream.
func TestSilentPartnerIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		e := connect(t, true, 2, func([]byte) ([]byte, error) { <-release; return nil, errors.New("too late") })
		begun := time.Now()
		_, err := e.near.Ask(t.Context(), []byte("?"))
		if took := time.Since(begun); !errors.Is(err, transfer.ErrNoPath) || took < time.Minute || took > 2*time.Minute {
			t.Errorf("after %v: %v", took, err)
		}
		close(release)
		e.near.Close()
		e.far.Close()
	})
}

// TestIdleStreamsEnd: connections that are not used are closed at both ends, and opened again.
func TestIdleStreamsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := connect(t, true, 2, echo)
		for range 3 {
			if _, err := e.near.Ask(t.Context(), []byte("?")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			if n := e.near.Streams(); n != 0 {
				t.Errorf("%d streams after an hour", n)
			}
		}
		if n := e.dialled(); n != 3 {
			t.Errorf("%d dials, want 3", n)
		}
		e.near.Close()
		e.far.Close()
	})
}

// TestAnswersToNoQuestionEndAStream, as do frames without a size, or with too much of it.
func TestAnswersToNoQuestionEndAStream(t *testing.T) {
	t.Parallel()
	for name, said := range map[string][]byte{
		"unasked":   {0, 0, 0, 1, 'x'},
		"empty":     {0, 0, 0, 0},
		"too large": {0xff, 0xff, 0xff, 0xff},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			here, there := net.Pipe()
			p := transfer.New(transfer.Config{
				Streams: 1, Answer: refuse, Dial: func(context.Context) (net.Conn, error) { return here, nil },
			})
			defer p.Close()
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_, _ = io.ReadFull(there, make([]byte, 1)) // what the connection is for
				if name != "unasked" {
					_, _ = io.ReadFull(there, make([]byte, 5)) // the question
				} else {
					_, _ = io.ReadFull(there, make([]byte, 5))
					_, _ = there.Write(said) // its answer
				}
				_, _ = there.Write(said)
				_, _ = there.Read(make([]byte, 1))
			}()
			_, err := p.Ask(t.Context(), []byte("?"))
			if name != "unasked" && !errors.Is(err, transfer.ErrNoPath) {
				t.Errorf("error %v", err)
			}
			<-ended
		})
	}
}

// TestUninvitedAnswersAreRefused, as are connections for something unknown.
func TestUninvitedAnswersAreRefused(t *testing.T) {
	t.Parallel()
	for role, want := range map[byte]string{2: "not invited", 3: "does not know"} {
		p := transfer.New(transfer.Config{Streams: 4, Answer: refuse})
		here, there := net.Pipe()
		go func() { _, _ = here.Write([]byte{role}) }()
		if err := p.Accept(there); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("role %d: %v, want %q", role, err, want)
		}
		_ = here.Close()
		p.Close()
	}
}

// TestAPartnersConnectionsForFilesAreFew: it keeps a place for each that it opens, whether or not it
// says what for, and more are refused.
func TestAPartnersConnectionsForFilesAreFew(t *testing.T) {
	t.Parallel()
	p := transfer.New(transfer.Config{Answer: refuse, Timing: transfer.Timing{Open: time.Hour}})
	refused := make(chan error, 100)
	var accepted sync.WaitGroup
	var ours []net.Conn
	for range 40 {
		here, there := net.Pipe()
		ours = append(ours, here)
		accepted.Go(func() { refused <- p.Accept(there) })
	}
	for range 8 {
		if err := <-refused; err == nil || !strings.Contains(err.Error(), "too many") {
			t.Errorf("error %v", err)
		}
	}
	p.Close()
	accepted.Wait()
	for _, conn := range ours {
		_ = conn.Close()
	}
	if n := len(refused); n != 32 {
		t.Errorf("%d were kept until the end, want 32", n)
	}
}

// cutting breaks a connection after a number of bytes, in both directions together.
type cutting struct {
	net.Conn
	mu   sync.Mutex
	left int
}

// take says how many of n bytes may still pass.
func (c *cutting) take(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n = min(n, c.left)
	c.left -= n
	return n
}

var errCut = errors.New("the connection was cut")

func (c *cutting) Read(data []byte) (int, error) {
	n, err := c.Conn.Read(data)
	if passed := c.take(n); passed < n {
		_ = c.Close()
		return passed, errCut
	}
	return n, err
}

func (c *cutting) Write(data []byte) (int, error) {
	passed := c.take(len(data))
	if passed < len(data) {
		n, _ := c.Conn.Write(data[:passed])
		_ = c.Close()
		return n, errCut
	}
	return c.Conn.Write(data)
}

// TestCuts fetches a file by ranges over connections that are all cut after some bytes. Each range
// that arrives is right, and in the end all have arrived: over the path, or the other way when it
// says that there is none.
func TestCuts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		const size, ranges = 40_000, 25
		file := make([]byte, size*ranges)
		for i := range file {
			file[i] = byte(i * 31 >> 3)
		}
		nearDials := rapid.Bool().Draw(rt, "this side dials")
		cuts := rapid.SliceOfN(rapid.IntRange(0, 3*size), 0, 8).Draw(rt, "cuts")
		done := &cleanups{}
		defer done.run()
		e := connect(done, nearDials, rapid.IntRange(1, 4).Draw(rt, "streams"), func(question []byte) ([]byte, error) {
			at := int(binary.BigEndian.Uint32(question))
			return file[at : at+size], nil
		})
		e.wrap = func(number int, conn net.Conn) (net.Conn, error) {
			if number <= len(cuts) {
				return &cutting{Conn: conn, left: cuts[number-1]}, nil
			}
			return conn, nil
		}
		got := make([]byte, len(file))
		var fetched sync.WaitGroup
		for i := range ranges {
			fetched.Go(func() {
				at := i * size
				data, err := e.near.Ask(context.Background(), binary.BigEndian.AppendUint32(nil, uint32(at)))
				switch {
				case errors.Is(err, transfer.ErrNoPath):
					copy(got[at:], file[at:at+size]) // the other way
				case err != nil || len(data) != size:
					rt.Errorf("range %d: %d bytes, %v", i, len(data), err)
				default:
					copy(got[at:], data)
				}
			})
		}
		fetched.Wait()
		if sha256.Sum256(got) != sha256.Sum256(file) {
			rt.Error("the file differs")
		}
	})
}

// cleanups are those of one case of a test with many.
type cleanups struct{ all []func() }

func (c *cleanups) Cleanup(f func()) { c.all = append(c.all, f) }

func (c *cleanups) run() {
	for _, f := range c.all {
		f()
	}
}

// TestCloseEndsAll: whoever waits for an answer learns that there is none, and Answer is not called
// any more.
func TestCloseEndsAll(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{}, 10)
	e := connect(t, true, 1, echo)
	hold := transfer.New(transfer.Config{Answer: func(ctx context.Context, _ []byte) ([]byte, error) {
		entered <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	e.far.Close()
	e.far = hold
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if _, err := e.near.Ask(t.Context(), []byte("?")); !errors.Is(err, transfer.ErrNoPath) {
			t.Errorf("error %v", err)
		}
	})
	<-entered
	e.near.Close()
	waiting.Wait()
	hold.Close()
	if _, err := e.near.Ask(t.Context(), []byte("?")); !errors.Is(err, transfer.ErrNoPath) {
		t.Errorf("after the end: %v", err)
	}
}

// TestCancelledQuestionsLeaveTheStream: the answer to a question that nobody waits for is dropped,
// and the next one gets its own.
func TestCancelledQuestionsLeaveTheStream(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	e := connect(t, true, 1, func(question []byte) ([]byte, error) {
		<-release
		return question, nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = e.near.Ask(ctx, []byte("first"))
	close(release)
	for _, question := range []string{"second", "third"} {
		if got, err := e.near.Ask(t.Context(), []byte(question)); err != nil || string(got) != question {
			t.Errorf("%s: %q, %v", question, got, err)
		}
	}
}

// FuzzAccept takes anything from a partner: it ends, and nothing larger than a frame is answered.
func FuzzAccept(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 1, 'x'})
	f.Add([]byte{2})
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, said []byte) {
		p := transfer.New(transfer.Config{Answer: func(_ context.Context, question []byte) ([]byte, error) {
			if len(question) == 0 || len(question) > transfer.MaxFrame {
				t.Errorf("a question of %d bytes", len(question))
			}
			return question, nil
		}})
		here, there := net.Pipe()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = p.Accept(there)
			_ = there.Close()
		}()
		go func() { _, _ = io.Copy(io.Discard, here) }()
		_, _ = here.Write(said)
		_ = here.Close()
		<-ended
		p.Close()
	})
}
