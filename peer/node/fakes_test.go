package node_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// script is a machine that does what the test says.
type script struct {
	step  func(now protocol.Instant, ev event.Event) event.Ready
	mu    sync.Mutex
	steps []event.Event
}

func (s *script) Step(now protocol.Instant, ev event.Event) event.Ready {
	s.mu.Lock()
	s.steps = append(s.steps, ev)
	s.mu.Unlock()
	if s.step == nil {
		return event.Ready{}
	}
	return s.step(now, ev)
}

func (*script) Card(to protocol.SiteName) protocol.Card {
	return protocol.Card{Site: "here", Software: "for " + string(to)}
}

func (s *script) seen() []event.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.steps)
}

// seenOf lists the events of one kind that the machine has got.
func seenOf[E event.Event](s *script) []E {
	var all []E
	for _, ev := range s.seen() {
		if e, ok := ev.(E); ok {
			all = append(all, e)
		}
	}
	return all
}

// memory is a store whose commits can be held up and made to fail.
type memory struct {
	mu      sync.Mutex
	tables  map[string]map[string][]byte
	held    bool
	waiting []func(error) // what held commits would do
	commits int
	gets    atomic.Int64 // rows that were read one by one
	err     error
}

func newMemory() *memory { return &memory{tables: map[string]map[string][]byte{}} }

func (m *memory) Enqueue(puts []node.Put, done func(error)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	commit := func(err error) {
		if err == nil {
			m.commits++
			m.apply(puts)
		}
		done(err)
	}
	if m.held {
		m.waiting = append(m.waiting, commit)
		return
	}
	commit(m.err)
}

func (m *memory) apply(puts []node.Put) {
	for _, put := range puts {
		if m.tables[put.Table] == nil {
			m.tables[put.Table] = map[string][]byte{}
		}
		if put.Tally != "" { // those that use it put it behind what it is of
			put.Value = m.tally(put.Tally)
		}
		if put.Value == nil {
			delete(m.tables[put.Table], put.Key)
			continue
		}
		m.tables[put.Table][put.Key] = put.Value
	}
}

// hold makes commits wait; let lets those go that wait, with the error.
func (m *memory) hold() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held = true
}

func (m *memory) let(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	waiting := m.waiting
	m.held, m.waiting = false, nil
	for _, commit := range waiting {
		commit(err)
	}
}

func (m *memory) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.commits
}

func (m *memory) Load(table string) iter.Seq2[node.Row, error] {
	return func(yield func(node.Row, error) bool) {
		rows, _ := m.Scan(table, "", false, 1<<30)
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

func (m *memory) Get(table, key string) ([]byte, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gets.Add(1)
	value, found := m.tables[table][key]
	return value, found, nil
}

func (m *memory) Tally(table string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tally(table), nil
}

func (m *memory) tally(table string) []byte {
	var sum uint64
	for key, value := range m.tables[table] {
		sum += uint64(crc32.ChecksumIEEE(append([]byte(key), value...)))
	}
	return fmt.Appendf(nil, "%d %d", len(m.tables[table]), sum)
}

func (m *memory) Scan(table, from string, reverse bool, limit int) ([]node.Row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	keys := slices.Sorted(maps.Keys(m.tables[table]))
	if reverse {
		slices.Reverse(keys)
	}
	var rows []node.Row
	for _, key := range keys {
		before := key < from
		if reverse {
			before = from != "" && key > from
		}
		if !before && len(rows) < limit {
			rows = append(rows, node.Row{Key: key, Value: m.tables[table][key]})
		}
	}
	return rows, nil
}

func (m *memory) put(table row.Table, key string, stored row.Row) {
	value, err := row.Encode(stored)
	if err != nil {
		panic(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.apply([]node.Put{{Table: string(table), Key: key, Value: value}})
}

// outside is everything around the node; what leaves the node is noted in order.
type outside struct {
	mu   sync.Mutex
	left []string

	fetch   func(stream protocol.Stream, offset int64, size int) ([]byte, error)
	deliver func(path string) error
	files   map[string][]byte
	parts   map[string][]byte // of files that are coming home, or with a guest
	pack    func(files *protocol.Staging) error
	packed  []byte                    // the archive of the files that go with any job
	packs   map[protocol.JobID][]byte // of jobs that have one of their own; nil: Pack makes none
	mark    func(path string, content []byte) error
	unmark  func(path string)
	marked  func(path string) ([]byte, error)

	send   func() error
	submit func(ctx context.Context, job localsched.Submission) (localsched.LocalID, error)
	watch  func(ctx context.Context) (localsched.Watched, error)
	quote  func()
	local  func(ctx context.Context) error // before a file of the local scheduler is read
	decide func() error
}

func (o *outside) note(what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.left = append(o.left, what)
}

func (o *outside) noted() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.left)
}

func (o *outside) Send(to protocol.SiteName, m protocol.Message) error {
	o.note("send " + m.Kind() + " to " + string(to))
	if o.send != nil {
		return o.send()
	}
	return nil
}

func (o *outside) Advertise(load protocol.Load) { o.note("advertise") }

func (o *outside) Count(f event.LogEvent)        { o.note("fact " + string(f.Kind)) }
func (o *outside) Moved(from, to protocol.State) {}
func (o *outside) Ended(job *view.Job)           { o.note("ended " + job.ID.String()) }

func (o *outside) Answered(partner protocol.SiteName, after time.Duration) {
	o.note("answered by " + string(partner))
}

func (o *outside) Refused(code view.RefusalCode) { o.note("refused " + string(code)) }
func (o *outside) Rejected(reason string)        { o.note("rejected " + reason) }

func (o *outside) Info() policy.Info                                              { return policy.Info{Name: "fake"} }
func (o *outside) Describe(context.Context) (d localsched.Description, err error) { return d, nil }

func (o *outside) Decide(context.Context, policy.Snapshot) ([]policy.Decision, []byte, error) {
	if o.decide != nil {
		return nil, nil, o.decide()
	}
	return nil, nil, nil
}

// partnerSide is the Transport, whose Fetch has another shape than the
// scheduler's.
type partnerSide struct{ *outside }

func (p partnerSide) Fetch(
	_ context.Context, _ protocol.SiteName, _ protocol.Tag, stream protocol.Stream, offset int64, size int,
) ([]byte, error) {
	return p.fetch(stream, offset, size)
}

func (o *outside) Append(ctx context.Context, user, path string, umask int, _ protocol.Tag, _ protocol.Stream, r io.Reader) error {
	return o.Deliver(ctx, user, path, umask, r)
}

func (o *outside) Deliver(_ context.Context, user, path string, umask int, r io.Reader) error {
	o.note(fmt.Sprintf("deliver %s under %#o", path, umask))
	if o.deliver != nil {
		if err := o.deliver(path); err != nil {
			return err
		}
	}
	return o.store(path, r)
}

// part is a file in memory that outlives its node.
type part struct {
	*outside

	name   string
	stream protocol.Stream
}

func (o *outside) Part(tag protocol.Tag, stream protocol.Stream) (node.Part, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.parts == nil {
		o.parts = map[string][]byte{}
	}
	return &part{outside: o, name: tag.String() + stream.String(), stream: stream}, nil
}

func (o *outside) Unpack(ctx context.Context, user, dir string, umask int, _ *protocol.Staging, r io.Reader) error {
	return o.Deliver(ctx, user, dir, umask, r)
}

func (o *outside) Pack(_ context.Context, _, _ string, job protocol.JobID, files *protocol.Staging) error {
	o.note(fmt.Sprintf("pack %v", job))
	if o.pack != nil {
		return o.pack(files)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.packs != nil {
		o.packs[job] = make([]byte, files.Bytes)
	}
	return nil
}

func (o *outside) Packed(job protocol.JobID, offset int64, size int) ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	packed := o.packed
	if one, made := o.packs[job]; made {
		packed = one
	}
	if len(packed) == 0 {
		return nil, fs.ErrNotExist
	}
	return packed[offset:min(offset+int64(size), int64(len(packed)))], nil
}

func (o *outside) DropPacked(job protocol.JobID) error {
	o.mu.Lock()
	delete(o.packs, job)
	o.mu.Unlock()
	o.note(fmt.Sprintf("drop packed %v", job))
	return nil
}

func (o *outside) Mark(_ context.Context, account, path string, content []byte) (remove func() error, err error) {
	o.note("mark " + path + " as " + account)
	if o.mark != nil {
		if err := o.mark(path, content); err != nil {
			return nil, err
		}
	}
	return func() error {
		if o.note("remove " + path); o.unmark != nil {
			o.unmark(path)
		}
		return nil
	}, nil
}

func (o *outside) Marked(_ context.Context, user, path string) ([]byte, error) {
	o.note("read " + path + " as " + user)
	return o.marked(path)
}

func (o *outside) InputsPath(tag protocol.Tag) string { return "/inputs/" + tag.String() }

func (o *outside) DropInputs(tag protocol.Tag) error {
	o.note("drop inputs " + tag.String())
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.parts, tag.String()+protocol.StageInArchive.String())
	return nil
}

// whole is a file that came at once.
type whole struct {
	*bytes.Reader
	*outside

	stream protocol.Stream
	data   []byte
}

func (o *outside) Whole(_ protocol.Tag, stream protocol.Stream, data []byte) node.Output {
	return &whole{bytes.NewReader(data), o, stream, data}
}

func (w *whole) Drop() error  { return nil }
func (w *whole) Close() error { return nil }

func (w *whole) Keep() (string, error) {
	path := "/kept/" + w.stream.String()
	return path, w.store(path, bytes.NewReader(w.data))
}

func (o *outside) Kept(_ protocol.Tag, stream protocol.Stream, offset int64, size int) ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	data, kept := o.files["/kept/"+stream.String()]
	if !kept {
		return nil, protocol.ErrOutputGone
	}
	data = data[min(offset, int64(len(data))):]
	return data[:min(size, len(data))], nil
}

func (o *outside) Discard(tag protocol.Tag) error {
	o.note("discard " + tag.String())
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, stream := range protocol.Streams() {
		delete(o.parts, tag.String()+stream.String())
		delete(o.files, "/kept/"+stream.String())
	}
	return nil
}

func (p *part) bytes() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.parts[p.name]
}

func (p *part) set(data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.parts[p.name] = data
}

func (p *part) ReadAt(data []byte, at int64) (int, error) {
	return bytes.NewReader(p.bytes()).ReadAt(data, at)
}
func (p *part) Size() int64              { return int64(len(p.bytes())) }
func (p *part) Append(data []byte) error { p.set(append(p.bytes(), data...)); return nil }
func (p *part) Reset() error             { p.set(nil); return nil }
func (p *part) Close() error             { return nil }

func (p *part) Drop() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.parts, p.name)
	return nil
}

func (p *part) Keep() (string, error) {
	path := "/kept/" + p.stream.String()
	return path, p.store(path, bytes.NewReader(p.bytes()))
}

func (o *outside) store(path string, r io.Reader) error {
	var all bytes.Buffer
	if _, err := io.Copy(&all, r); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.files == nil {
		o.files = map[string][]byte{}
	}
	o.files[path] = all.Bytes()
	return nil
}

func (o *outside) Load(context.Context) (protocol.Load, error) { return protocol.Load{CPUs: 8}, nil }

func (o *outside) Quote(_ context.Context, query localsched.Query) ([]protocol.Quote, error) {
	if o.quote != nil {
		o.quote()
	}
	return make([]protocol.Quote, len(query.Jobs)), nil
}

func (o *outside) Submit(ctx context.Context, job localsched.Submission) (localsched.LocalID, error) {
	o.note("submit " + job.Tag.String())
	if o.submit != nil {
		return o.submit(ctx, job)
	}
	return "L1", nil
}

func (o *outside) FindByTag(context.Context, protocol.Tag) (localsched.Presence, localsched.LocalID, error) {
	return localsched.Present, "L1", nil
}

func (o *outside) Withdraw(context.Context, protocol.Tag) (localsched.Withdrawal, error) {
	return localsched.Started, nil
}

func (o *outside) Kill(context.Context, protocol.Tag) error   { return nil }
func (o *outside) Forget(context.Context, protocol.Tag) error { return errors.New("no such job") }

func (o *outside) Watch(ctx context.Context, _ localsched.Cursor) (localsched.Watched, error) {
	if o.watch != nil {
		return o.watch(ctx)
	}
	<-ctx.Done()
	return localsched.Watched{}, ctx.Err()
}

func (o *outside) Fetch(
	ctx context.Context, tag protocol.Tag, stream protocol.Stream, offset int64, size int,
) ([]byte, error) {
	if o.local != nil {
		if err := o.local(ctx); err != nil {
			return nil, err
		}
	}
	return []byte("local " + tag.String() + " " + stream.String()), nil
}

// rig is a node that runs until the test ends.
type rig struct {
	*node.Node
	core  *script
	store *memory
	out   *outside
	stop  context.CancelFunc
	ended chan error
}

type option func(*node.Config)

// start runs a node around the machine. The caller stops it.
func start(t *testing.T, core *script, options ...option) *rig {
	t.Helper()
	return startWith(t, core, func(*outside) {}, options...)
}

// startWith is start with other surroundings.
func startWith(t *testing.T, core *script, prepare func(*outside), options ...option) *rig {
	t.Helper()
	o := &outside{}
	prepare(o)
	return startAround(t, core, o, options...)
}

// startAround is start in surroundings that outlive the node.
func startAround(t *testing.T, core *script, o *outside, options ...option) *rig {
	t.Helper()
	r := &rig{core: core, store: newMemory(), out: o, ended: make(chan error, 1)}
	cfg := node.Config{
		Peer:  rules.Config{Site: "here"},
		Store: r.store, Scheduler: r.out, Policy: r.out, Deliverer: r.out, Meter: r.out,
	}
	for _, set := range options {
		set(&cfg)
	}
	n, err := node.NewWith(cfg, core)
	if err != nil {
		t.Fatal(err)
	}
	r.Node = n
	n.Attach(partnerSide{r.out}, r.out)
	ctx, stop := context.WithCancel(t.Context())
	r.stop = stop
	go func() { r.ended <- n.Run(ctx) }()
	return r
}

// end stops the node and returns what Run returned.
func (r *rig) end() error {
	r.stop()
	return <-r.ended
}
