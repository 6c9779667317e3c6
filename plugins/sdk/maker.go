package sdk

import (
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	pluginv1 "github.com/switchyard-hpc/switchyard/protocol/plugin/v1"
)

// maker holds the configuration of a plugin, of type C, and what was made from it,
// of type T.
type maker[C, T any] struct {
	defaults C
	check    func(*Reader, *C)
	make     func(C, Host) (T, error)
	siteOnly bool // outside a peer nothing is made

	mu     sync.Mutex
	config *C // nil: not configured
	made   *T // nil: not made, or closed

	closing sync.Once
	closed  error
}

// read reads a configuration: the notes are its errors and warnings. Relative
// paths begin at the root, where plugins run: they do not know the directory of the
// host's files.
func (m *maker[C, T]) read(text string) (config C, notes []*pluginv1.Note, ok bool) {
	config = m.defaults
	r := settings.NewReader(&config)
	r.Text("", "/", text)
	if m.check != nil && !r.Broken() {
		m.check(r, &config)
	}
	wrong, _ := errors.AsType[problems.List](r.Err())
	return config, pluginv1.EncodeNotes(wrong, r.Warnings()), len(wrong) == 0
}

func (m *maker[C, T]) validate(text string) []*pluginv1.Note {
	_, notes, _ := m.read(text)
	return notes
}

// configure takes a configuration without mistakes. That nothing can be made from it
// is one as well.
func (m *maker[C, T]) configure(text string, host Host) ([]*pluginv1.Note, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.config != nil {
		return nil, status.Error(codes.FailedPrecondition, "the plugin is configured already")
	}
	config, notes, ok := m.read(text)
	if !ok {
		return notes, nil
	}
	if !m.siteOnly || host.Site != "" {
		made, err := m.make(config, host)
		if err != nil {
			return append(notes, pluginv1.EncodeNotes(problems.List{{Text: err.Error()}}, nil)...), nil
		}
		m.made = &made
	}
	m.config = &config
	return notes, nil
}

// get is what was made.
func (m *maker[C, T]) get() (made T, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.made != nil:
		return *m.made, nil
	case m.config != nil:
		return made, status.Error(codes.Unavailable, "the plugin was configured for no site, or has been shut down")
	}
	return made, errNotConfigured()
}

// settings is the configuration.
func (m *maker[C, T]) settings() (config C, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.config == nil {
		return config, errNotConfigured()
	}
	return *m.config, nil
}

func errNotConfigured() error {
	return status.Error(codes.Unavailable, "the plugin is not configured yet")
}

// close closes what was made, if it can be closed. Whoever calls it while it is being
// closed waits as well.
func (m *maker[C, T]) close() error {
	m.closing.Do(func() {
		m.mu.Lock()
		made := m.made
		m.made = nil
		m.mu.Unlock()
		if made == nil {
			return
		}
		if c, ok := any(*made).(io.Closer); ok {
			m.closed = c.Close()
		}
	})
	return m.closed
}
