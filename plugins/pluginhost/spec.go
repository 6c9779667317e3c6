package pluginhost

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	pluginv1 "github.com/switchyard-hpc/switchyard/protocol/plugin/v1"
)

// Kind is what a plugin is for.
type Kind string

// The kinds.
const (
	PolicyKind    Kind = pluginv1.KindPolicy
	SchedulerKind Kind = pluginv1.KindScheduler
	FeedKind      Kind = pluginv1.KindFeed

	AnyKind Kind = "" // in a [Spec]: whatever the plugin says it is
)

// Simulate is the capability of a scheduler that serves engines, for
// [Plugin.Engine].
const Simulate = pluginv1.Simulate

// Spec says which plugin to run and how.
type Spec struct {
	Name       string       // as configured; names the plugin in errors and logs
	Kind       Kind         // that it must be, or AnyKind
	Path       string       // of its file, absolute
	Args       []string     // without the program
	SHA256     string       // of the file, in hex; empty: not pinned, for which there is a warning
	Plain      bool         // without TLS, for plugins that cannot; SHA256 is then required
	Config     string       // TOML, for the plugin
	ConfigFile string       // where Config is from, for messages; may be empty
	Host       sdk.Host     // what the plugin gets about its host
	Timing     Timing       // zero values: the defaults
	OnState    func(Status) // called with each state, in order; may be nil, must not wait or Close
}

// Timing bounds what a plugin may take. A zero stands for the default.
type Timing struct {
	Start  time.Duration // to its first line, and from there until it is configured; 10 s each
	Call   time.Duration // one call; 30 s
	Poll   time.Duration // how long a Watch lets the plugin wait; 20 s
	Stop   time.Duration // from the request to end to the end; 5 s
	Health time.Duration // between health checks, and for one; 5 s

	Misses int // health checks in a row without answer, after which it is restarted; 3
	Faults int // failures of one kind of call in a row, after which it is restarted; 5

	Backoff    time.Duration // pause after a failure, doubled with each; 1 s
	BackoffMax time.Duration // longest of these pauses; 1 min

	Window time.Duration // failures are counted over this time; 10 min
	Most   int           // failures in the window, above which Rest is the pause; 8
	Rest   time.Duration // 5 min
}

func (t Timing) withDefaults() Timing {
	return Timing{
		Start:      cmp.Or(t.Start, 10*time.Second),
		Call:       cmp.Or(t.Call, 30*time.Second),
		Poll:       cmp.Or(t.Poll, 20*time.Second),
		Stop:       cmp.Or(t.Stop, 5*time.Second),
		Health:     cmp.Or(t.Health, 5*time.Second),
		Misses:     cmp.Or(t.Misses, 3),
		Faults:     cmp.Or(t.Faults, 5),
		Backoff:    cmp.Or(t.Backoff, time.Second),
		BackoffMax: cmp.Or(t.BackoffMax, time.Minute),
		Window:     cmp.Or(t.Window, 10*time.Minute),
		Most:       cmp.Or(t.Most, 8),
		Rest:       cmp.Or(t.Rest, 5*time.Minute),
	}
}

// String names the plugin in errors: `plugin cheapest (/usr/lib/…/cheapest)`.
func (s *Spec) String() string { return fmt.Sprintf("plugin %s (%s)", s.Name, s.Path) }

// ReadConfig takes the plugin's configuration from a file; an empty path leaves it as it
// is.
func (s *Spec) ReadConfig(path string) error {
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read its configuration: %w", err)
	}
	s.Config, s.ConfigFile = string(text), path
	return nil
}

// Check says what is wrong with the spec or the plugin's file, if anything. Nothing is
// started.
func (s *Spec) Check() error {
	err := s.check()
	if err == nil {
		_, err = s.checkFile()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s, err)
	}
	return nil
}

// check says what is wrong with the spec, if anything, but for the file.
func (s *Spec) check() error {
	switch {
	case s.Name == "":
		return errors.New("it has no name")
	case s.Kind != AnyKind && pluginv1.Services(string(s.Kind), nil) == nil:
		return fmt.Errorf("kind %q does not exist; use %s, %s or %s", s.Kind, PolicyKind, SchedulerKind, FeedKind)
	case !filepath.IsAbs(s.Path):
		return fmt.Errorf("path %q is not absolute", s.Path)
	case s.Plain && s.SHA256 == "":
		return errors.New("without TLS it must be pinned: give the SHA-256 of its file")
	}
	if s.SHA256 != "" {
		if sum, err := hex.DecodeString(s.SHA256); err != nil || len(sum) != 32 {
			return fmt.Errorf("SHA-256 %q is not 64 hexadecimal digits", s.SHA256)
		}
	}
	return nil
}
