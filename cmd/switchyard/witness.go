package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/switchyard-hpc/switchyard/peer/witness"
)

// lockKey keeps a second peer of the site from starting on this machine.
func (p *peerProcess) lockKey(ctx context.Context) error {
	lock, odd, err := witness.Acquire(ctx, p.key.Public(), string(p.cfg.Site.StateDir))
	if err != nil {
		return fmt.Errorf("[site] key: %w", err)
	}
	if odd != "" {
		p.log.Warn("key_not_locked", "why", odd)
	}
	p.onStop("the lock of the key", lock.Close)
	return nil
}

// openWitness finds what the store must not be older than.
func (p *peerProcess) openWitness(context.Context) error {
	dir := string(p.cfg.Site.StateDir)
	file, seen, err := witness.Open(p.key.Public(), dir, filepath.Join(dir, "spool"))
	if err != nil {
		return fmt.Errorf("[site] state_dir: %w", err)
	}
	p.witness, p.witnessed = file, seen
	p.onStop("the witness file", file.Close)
	if p.machine, err = witness.Machine(p.key.Public(), dir, p.cfg.Site.Machine); err != nil {
		return fmt.Errorf("[site] state_dir: %w", err)
	}
	return nil
}
