package main

import (
	"context"
	"errors"
	"io"

	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/node"
	"github.com/switchyard-hpc/switchyard/peer/results"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// deliverer puts the files of jobs that ran elsewhere where their submitters
// want them.
type deliverer struct {
	files    process.Deliverer
	accounts peer.Accounts
	results  *results.Dir // on their way home, and what cannot be delivered
}

// undeliverable is a failure that may be for good.
type undeliverable struct{ *process.DeliverError }

// Permanent says that repeating cannot help.
func (e undeliverable) Permanent() bool { return e.DeliverError.Permanent }

// Deliver writes as the account that also runs the user's jobs.
func (d *deliverer) Deliver(ctx context.Context, user, path string, r io.Reader) error {
	account, err := d.accounts.Local(user)
	if err != nil {
		return undeliverable{&process.DeliverError{Path: path, Account: user, Permanent: true, Reason: err.Error()}}
	}
	err = d.files.Deliver(ctx, account, path, r)
	if failed, ok := errors.AsType[*process.DeliverError](err); ok {
		return undeliverable{failed}
	}
	return err
}

// Part opens what has come home so far of a file.
func (d *deliverer) Part(tag protocol.Tag, stream protocol.Stream) (node.Part, error) {
	return d.results.Part(tag, stream)
}

// Whole takes a file that came at once.
func (d *deliverer) Whole(tag protocol.Tag, stream protocol.Stream, data []byte) node.Output {
	return d.results.Whole(tag, stream, data)
}

// Discard removes what has come home of a job's files.
func (d *deliverer) Discard(tag protocol.Tag) error { return d.results.Discard(tag) }
