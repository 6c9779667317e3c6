package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Protocol names what is spoken, in the handshake of TLS (ALPN).
const Protocol = "switchyard-files/1"

// ErrNoPath says that no answer came by a direct connection, and why. Another way may be open.
var ErrNoPath = errors.New("no direct connection for files")

// ErrOlder says that the partner knows no direct connections, so that there is no use in inviting it either.
var ErrOlder = errors.New("the partner's peer has no direct connections for files; it is older")

// Limits of the configuration.
const (
	// MaxStreams is the most connections at a time on which one side asks.
	MaxStreams = 16
	// MinRate is the least limit of a rate, in bytes a second. Below it, the streams of several
	// partners would wait for each other for so long that they count as broken.
	MinRate = 1_000_000
)

const (
	// maxServed is how many connections of one partner are kept on which it asks, or which it has
	// not yet said what they are for.
	maxServed = 32
	// maxInvited is how many dials at the partner's invitation are under way at once.
	maxInvited = 4
	// invitedBurst is how many such dials are made in a row; after them one a second is.
	invitedBurst = 2 * MaxStreams
	// askTries is on how many streams a question is asked, one after the other.
	askTries = 2
)

// The first byte on a connection: what its dialling side does.
const (
	asks    = 1
	answers = 2
)

// Config is what a [Path] needs.
type Config struct {
	// Streams is how many connections at a time this side asks on. 0: it asks on none.
	Streams int
	// Dial makes an authenticated connection to the partner; nil: this side cannot reach it.
	Dial func(ctx context.Context) (net.Conn, error)
	// Invite asks the partner to dial, so that this side can ask; nil: it cannot reach this side.
	Invite func() error
	// Answer answers a question of the partner. After an error the connection is closed.
	Answer func(ctx context.Context, question []byte) ([]byte, error)
	Log    *slog.Logger
	Timing Timing
}

// Timing are the spans of a path's life; zero ones get their defaults.
type Timing struct {
	Open  time.Duration // for a connection to come up; default 5 s
	Stall time.Duration // within which the next bytes of an answer have to come; default 60 s
	Idle  time.Duration // after which a stream without questions ends; default 60 s
	Retry time.Duration // after a failure, before a connection is tried again; default 1 min
}

func (t Timing) withDefaults() Timing {
	for _, one := range []struct {
		span  *time.Duration
		value time.Duration
	}{{&t.Open, 5 * time.Second}, {&t.Stall, time.Minute}, {&t.Idle, time.Minute}, {&t.Retry, time.Minute}} {
		if *one.span == 0 {
			*one.span = one.value
		}
	}
	return t
}

// Path is the way of files to and from one partner. Its methods may be called from any
// goroutine.
type Path struct {
	cfg    Config
	ctx    context.Context //nolint:containedctx // of all that runs until Close
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu         sync.Mutex
	closed     bool
	streams    []*stream
	served     map[net.Conn]bool // that the partner asks on
	invited    int               // invitations of the partner that this side is following
	opening    chan struct{}     // closed when the attempt to open a stream has ended; nil: there is none
	invitation chan struct{}     // closed when the partner has dialled as it was invited to; nil: it is not
	retry      time.Time         // before it no stream is opened
	failed     error             // why the last attempt failed; nil: it did not

	invitations *rate.Limiter // of the partner's invitations that are followed
}

// New makes a path. Nothing is dialled before the first [Path.Ask].
func New(cfg Config) *Path {
	cfg.Timing = cfg.Timing.withDefaults()
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	p := &Path{cfg: cfg, served: map[net.Conn]bool{}, invitations: rate.NewLimiter(rate.Every(time.Second), invitedBurst)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Close ends all connections. Answer is not called after it returns.
func (p *Path) Close() {
	p.mu.Lock()
	p.closed = true
	for _, s := range p.streams {
		_ = s.conn.Close()
	}
	for conn := range p.served {
		_ = conn.Close()
	}
	p.mu.Unlock()
	p.cancel()
	p.wg.Wait()
}

// Streams is how many connections are open on which this side asks.
func (p *Path) Streams() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.streams)
}

// Ask asks the partner and waits for its answer. A question may be asked twice, if a connection
// breaks. The error is [ErrNoPath], or the context's.
func (p *Path) Ask(ctx context.Context, question []byte) ([]byte, error) {
	var broken error
	for range askTries {
		s, err := p.choose(ctx)
		if err != nil {
			return nil, err
		}
		answer, err := s.ask(ctx, question)
		if err == nil || ctx.Err() != nil {
			return answer, err
		}
		broken = err
	}
	return nil, fmt.Errorf("%w: %w", ErrNoPath, broken)
}

// choose is the stream with the fewest questions under way. One more is opened beside it if it
// has any; it waits for one if there is none, but not after a failure: another way is quicker then.
func (p *Path) choose(ctx context.Context) (*stream, error) {
	for {
		best, opening, err := p.look()
		if best != nil || err != nil {
			return best, err
		}
		select {
		case <-opening:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// look is what choose finds: a stream, or an attempt to open one.
func (p *Path) look() (best *stream, opening <-chan struct{}, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.streams = slices.DeleteFunc(p.streams, (*stream).over) // those that their own goroutine has not taken off yet
	least := 0
	for _, s := range p.streams {
		if load := s.load(); best == nil || load < least {
			best, least = s, load
		}
	}
	allowed := p.opening == nil && len(p.streams) < p.cfg.Streams && !p.closed && !time.Now().Before(p.retry)
	if allowed && (best == nil || least > 0) {
		p.opening = make(chan struct{})
		p.wg.Go(p.open)
	}
	switch {
	case best != nil:
		return best, nil, nil
	case p.closed:
		return nil, nil, fmt.Errorf("%w: it is closed", ErrNoPath)
	case p.failed != nil:
		return nil, nil, fmt.Errorf("%w: %w", ErrNoPath, p.failed)
	case p.opening == nil:
		return nil, nil, ErrNoPath
	}
	return nil, p.opening, nil
}

// open makes one attempt to open a stream.
func (p *Path) open() {
	err := p.dial()
	if err != nil && !errors.Is(err, ErrOlder) {
		err = p.invite(err)
	}
	p.mu.Lock()
	if err != nil {
		p.fail(err)
	}
	close(p.opening)
	p.opening = nil
	p.mu.Unlock()
}

// fail puts off the next attempt. The caller holds the lock.
func (p *Path) fail(err error) {
	if !p.closed && (p.failed == nil || p.failed.Error() != err.Error()) {
		p.cfg.Log.Info("transfer_path_failed", "error", err)
	}
	p.failed, p.retry = err, time.Now().Add(p.cfg.Timing.Retry)
}

var errCannotDial = errors.New("this site has no url of the partner")

func (p *Path) dial() error {
	if p.cfg.Dial == nil {
		return errCannotDial
	}
	conn, err := p.dialAs(asks)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.begin(conn) == nil {
		_ = conn.Close()
	}
	return nil
}

// dialAs dials and says what for.
func (p *Path) dialAs(role byte) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(p.ctx, p.cfg.Timing.Open)
	defer cancel()
	conn, err := p.cfg.Dial(ctx)
	if err != nil {
		return nil, err
	}
	err = conn.SetDeadline(time.Now().Add(p.cfg.Timing.Open))
	if err == nil {
		_, err = conn.Write([]byte{role})
	}
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// invite asks the partner to dial and waits until it has, after the own attempt has failed.
func (p *Path) invite(failed error) error {
	if p.cfg.Invite == nil {
		return failed
	}
	invitation := make(chan struct{})
	p.mu.Lock()
	p.invitation = invitation
	p.mu.Unlock()
	err := p.cfg.Invite()
	if err == nil {
		timer := time.NewTimer(p.cfg.Timing.Open)
		defer timer.Stop()
		select {
		case <-invitation:
			return nil
		case <-timer.C:
			err = fmt.Errorf("the partner was asked to connect and did not within %v", p.cfg.Timing.Open)
		case <-p.ctx.Done():
			err = p.ctx.Err()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.invitation == nil {
		return nil // it came at the last moment
	}
	p.invitation = nil
	if errors.Is(failed, errCannotDial) {
		return err
	}
	return fmt.Errorf("%w; %w", failed, err)
}

// begin makes a connection a stream; nil: the path is closed. The caller holds the lock.
func (p *Path) begin(conn net.Conn) *stream {
	if p.closed {
		return nil
	}
	if len(p.streams) == 0 {
		p.cfg.Log.Info("transfer_path_opened", "address", conn.RemoteAddr().String())
	}
	p.failed = nil
	s := newStream(conn, p.cfg.Timing)
	p.streams = append(p.streams, s)
	p.wg.Go(func() {
		s.run()
		p.end(s)
	})
	return s
}

// end forgets a stream.
func (p *Path) end(ended *stream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.streams = slices.DeleteFunc(p.streams, func(s *stream) bool { return s == ended })
	if ended.useless() {
		p.fail(ended.reason())
	}
}

// Accept takes a connection that the partner has dialled, and returns when it has ended.
func (p *Path) Accept(conn net.Conn) error {
	if !p.enter(conn) {
		return errors.New("too many connections for files")
	}
	defer p.leave(conn)
	role := make([]byte, 1)
	if err := conn.SetDeadline(time.Now().Add(p.cfg.Timing.Open)); err != nil {
		return err
	}
	if _, err := io.ReadFull(conn, role); err != nil {
		return fmt.Errorf("it does not say what it is for: %w", err)
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return err
	}
	switch role[0] {
	case asks:
		return p.answer(conn)
	case answers:
		return p.adopt(conn)
	}
	return fmt.Errorf("it is for %d, which this site does not know", role[0])
}

// adopt makes a stream of a connection to which the partner was invited.
func (p *Path) adopt(conn net.Conn) error {
	p.mu.Lock()
	invitation := p.invitation
	if invitation == nil || p.closed {
		p.mu.Unlock()
		return errors.New("it was not invited")
	}
	p.invitation = nil
	s := p.begin(conn)
	close(invitation)
	p.mu.Unlock()
	<-s.gone
	return nil
}

// Invited dials the partner at its invitation and answers it, in the background.
func (p *Path) Invited() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.cfg.Dial == nil || p.invited >= maxInvited || !p.invitations.Allow() {
		return
	}
	p.invited++
	p.wg.Go(func() {
		conn, err := p.dialAs(answers)
		p.mu.Lock()
		p.invited--
		p.mu.Unlock()
		if err != nil {
			p.cfg.Log.Debug("transfer_dial_failed", "error", err)
			return
		}
		if p.enter(conn) {
			defer p.leave(conn)
			err = p.answer(conn)
		}
		_ = conn.Close()
		p.cfg.Log.Debug("transfer_connection_closed", "error", err)
	})
}

// enter counts a connection of the partner; false: it has too many, or the path is closed.
func (p *Path) enter(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.served) >= maxServed {
		return false
	}
	p.served[conn] = true
	p.wg.Add(1)
	return true
}

func (p *Path) leave(conn net.Conn) {
	p.mu.Lock()
	delete(p.served, conn)
	p.mu.Unlock()
	p.wg.Done()
}

// answer answers questions until the connection ends.
func (p *Path) answer(conn net.Conn) error {
	// The side that asks ends what is idle. This only bounds how long its absence stays unnoticed.
	wait := func() { _ = conn.SetReadDeadline(time.Now().Add(p.cfg.Timing.Idle + p.cfg.Timing.Stall)) }
	for {
		question, err := readFrame(conn, maxQuestion, wait)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		answer, err := p.cfg.Answer(p.ctx, question)
		if err != nil {
			return err
		}
		if err = writeFrame(conn, answer, p.cfg.Timing.Stall); err != nil {
			return err
		}
	}
}
