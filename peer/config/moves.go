package config

import (
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/quoting"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Moves is the table [moves]: jobs that wait in a local queue are placed again where they end sooner.
type Moves struct {
	Enabled      bool              `toml:"enabled"`
	Interval     protocol.Duration `toml:"interval"`
	Jobs         int               `toml:"jobs"`
	MinGain      protocol.Duration `toml:"min_gain"`
	MinGainShare settings.Share    `toml:"min_gain_share"`
	MaxWait      protocol.Duration `toml:"max_wait"`
	MinPause     protocol.Duration `toml:"min_pause"`
	MaxMoves     int               `toml:"max_moves"`
}

func defaultMoves(core rules.Config) Moves {
	return Moves{
		Interval: protocol.Minute, Jobs: core.RoundJobs, MinGain: 10 * protocol.Minute, MinGainShare: protocol.PPM / 5,
		MaxWait: core.LocalWaitThreshold, MinPause: 30 * protocol.Minute, MaxMoves: 3,
	}
}

// Rules is the table as the state machine has it.
func (m *Moves) Rules() rules.Moves {
	if !m.Enabled {
		return rules.Moves{}
	}
	return rules.Moves{
		Interval: m.Interval, Jobs: m.Jobs, Gain: m.MinGain, GainShare: int(m.MinGainShare), Wait: m.MaxWait, Pause: m.MinPause, Most: m.MaxMoves,
	}
}

// Check checks the table, in whatever file it stands.
func (m *Moves) Check(r *settings.Reader, table string) {
	at := func(name string) string { return settings.Join(table, name) }
	r.Positive(at("interval"), m.Interval)
	between(r, at("jobs"), m.Jobs, 1, quoting.MaxRows)
	r.Positive(at("min_gain"), m.MinGain)
	r.Positive(at("max_wait"), m.MaxWait)
	r.Positive(at("min_pause"), m.MinPause)
	r.AtLeast(at("max_moves"), m.MaxMoves, 1)
}
