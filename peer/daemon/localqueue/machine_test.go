package localqueue

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/peer/association"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/statedir"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// describedAs is a local scheduler that says what machine it has, or not.
type describedAs struct {
	localsched.Scheduler
	localsched.Reserver
	machine localsched.Description
	err     error
}

func (d *describedAs) Describe(context.Context) (localsched.Description, error) {
	return d.machine, d.err
}

// TestMachineAsLastKnown: what a batch system can do is as little forgotten while it is down as what
// machine it has.
func TestMachineAsLastKnown(t *testing.T) {
	t.Parallel()
	cfg := &config.Config{}
	cfg.Site.StateDir = settings.Path(t.TempDir())
	capable := localsched.Description{Name: "x", Capacity: protocol.Capacity{CPUs: 3, Nodes: 1}, Capabilities: []string{localsched.Reserve}}
	open := func() *Queue { return &Queue{cfg: cfg, log: slog.New(slog.DiscardHandler)} }
	for _, now := range []*describedAs{{machine: capable}, {err: errors.New("down")}} {
		q := open()
		q.scheduler = now
		if got, err := q.describe(t.Context()); err != nil || !reflect.DeepEqual(got, capable.Capacity) || !q.reserves {
			t.Errorf("%v: %+v, %v; reserves: %t", now.err, got, err, q.reserves)
		}
	}
	cfg.GuestLimits.MaxOwnerDelay = 1
	q := open()
	q.scheduler = &describedAs{err: errors.New("down")}
	if _, err := q.describe(t.Context()); err == nil || !strings.Contains(err.Error(), "[guest_limits] max_owner_delay") {
		t.Errorf("got %v", err)
	}
	// A plugin that does not use accounts cannot be given any; a built-in batch system can.
	cfg.GuestLimits.MaxOwnerDelay, cfg.Associations = 0, make([]association.Rule, 1)
	for plugin, lacks := range map[string]bool{"mine": true, config.Process: false, config.SlurmCommands: false} {
		cfg.LocalSched.Plugin = plugin
		_, err := q.describe(t.Context())
		if (err != nil) != lacks || lacks && !strings.Contains(err.Error(), `[[association]]: the batch system x`) {
			t.Errorf("%s with [[association]]: got %v", plugin, err)
		}
		if err = q.Accepts(cfg); (err != nil) != lacks {
			t.Errorf("%s, after a reload with [[association]]: got %v", plugin, err)
		}
	}
	cfg.Associations = nil
	// An earlier version has kept the capacity alone.
	if err := statedir.WriteJSON(filepath.Join(string(cfg.Site.StateDir), "machine.json"), capable.Capacity); err != nil {
		t.Fatal(err)
	}
	if got, err := q.describe(t.Context()); err != nil || !reflect.DeepEqual(got, capable.Capacity) {
		t.Errorf("got %+v, %v", got, err)
	}
}
