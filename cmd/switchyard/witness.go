package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/switchyard-hpc/switchyard/peer/witness"
)

// lockKey keeps a second peer of the site from starting on this machine.
func (d *Daemon) lockKey(ctx context.Context) error {
	lock, odd, err := witness.Acquire(ctx, d.key.Public(), string(d.cfg.Site.StateDir))
	if err != nil {
		return fmt.Errorf("[site] key: %w", err)
	}
	if odd != "" {
		d.log.Warn("key_not_locked", "why", odd)
	}
	d.onStop("the lock of the key", lock.Close)
	return nil
}

// openWitness finds what the store must not be older than.
func (d *Daemon) openWitness(context.Context) error {
	dir := string(d.cfg.Site.StateDir)
	file, seen, err := witness.Open(d.key.Public(), dir, filepath.Join(dir, "spool"))
	if err != nil {
		return fmt.Errorf("[site] state_dir: %w", err)
	}
	d.witness, d.witnessed = file, seen
	d.onStop("the witness file", file.Close)
	if d.machine, err = witness.Machine(d.key.Public(), dir, d.cfg.Site.Machine); err != nil {
		return fmt.Errorf("[site] state_dir: %w", err)
	}
	return nil
}
