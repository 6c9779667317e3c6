package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/statedir"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// How many changes of settings are kept at most, and of how many keys together.
const (
	keptChanges     = 200
	keptChangedKeys = 2000
)

// settingsHistory is what has changed in the settings, at reloads and between runs of the peer, in a file of the state directory. Its
// methods may be called from any goroutine.
type settingsHistory struct {
	path string // empty: nothing is noted
	lost error  // why the file cannot be read; nil: it was, or there was none

	mu   sync.Mutex
	kept keptSettings
}

// keptSettings is the file.
type keptSettings struct {
	Settings config.Settings      `json:"settings"` // that were active at last
	Changes  []api.SettingsChange `json:"changes"`  // the last one first
}

// openSettingsHistory reads the file, if there is one. The error says that it is damaged, and is set aside for a new one, or that it cannot
// be read; it then stays as it is, and nothing is noted.
func openSettingsHistory(path string) (*settingsHistory, error) {
	h := &settingsHistory{path: path}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		err = fmt.Errorf("%w; changes of settings are not noted until a restart that can read it", err)
		return &settingsHistory{lost: err}, err
	}
	if err = json.Unmarshal(data, &h.kept); err != nil {
		h.kept = keptSettings{}
		return h, errors.Join(fmt.Errorf("%s: %w; it is now %s.bad, and a new one begins", path, err, path), os.Rename(path, path+".bad"))
	}
	return h, nil
}

// note notes what is otherwise in a configuration that is active now.
func (h *settingsHistory) note(cfg *config.Config, by string, now time.Time) error {
	if h.path == "" {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	first := h.kept.Settings == nil
	one := api.SettingsChange{At: protocol.InstantOf(now), By: by}
	if !first {
		for _, c := range cfg.Since(h.kept.Settings) {
			one.Changed = append(one.Changed, changeOf(c))
		}
		if len(one.Changed) == 0 {
			return nil
		}
		h.kept.Changes = within(append([]api.SettingsChange{one}, h.kept.Changes...))
	}
	h.kept.Settings = cfg.Settings()
	return statedir.WriteJSON(h.path, h.kept)
}

// within are the last changes that are kept, of at least one time.
func within(changes []api.SettingsChange) []api.SettingsChange {
	keys := 0
	for i, one := range changes {
		if keys += len(one.Changed); i == keptChanges || i > 0 && keys > keptChangedKeys {
			return changes[:i]
		}
	}
	return changes
}

// changes are those that are kept. The error says why they cannot be read.
func (h *settingsHistory) changes() ([]api.SettingsChange, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clip(h.kept.Changes), h.lost
}

// openSettings notes what is otherwise than when the peer ran the last time. The peer runs without the history if its file cannot be
// read or written.
func (d *Daemon) openSettings(context.Context) error {
	var err error
	if d.settings, err = openSettingsHistory(filepath.Join(string(d.cfg.Site.StateDir), "settings.json")); err != nil {
		d.log.Warn("settings_history_lost", "error", err)
	}
	d.noteSettings("")
	return nil
}

// noteSettings notes what is active now.
func (d *Daemon) noteSettings(by string) {
	if err := d.settings.note(d.active.Load(), by, time.Now()); err != nil {
		d.log.Error("settings_history_write_failed", "error", err)
	}
}
