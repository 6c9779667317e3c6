package daemon

import (
	"io"
	"log/slog"

	"github.com/switchyard-hpc/switchyard/peer/config"
)

// newLogger is the log as a configuration wants it, with a level that can change.
func newLogger(to io.Writer, cfg config.Log, level slog.Leveler) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if cfg.Format == config.Text {
		return slog.New(slog.NewTextHandler(to, options))
	}
	return slog.New(slog.NewJSONHandler(to, options))
}

// levelOf is the level of the log.
func levelOf(cfg config.Log) slog.Level {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.Level)); err != nil {
		return slog.LevelInfo // the configuration was checked
	}
	return level
}

// logWarnings logs the warnings about a configuration, and returns them.
func (d *Daemon) logWarnings(cfg *config.Config) (warnings []string) {
	for _, warning := range cfg.Warnings {
		warnings = append(warnings, warning.String())
		d.log.Warn("config_warning", "what", warning.String())
	}
	return warnings
}
