package node

import (
	"context"
	"io"
	"iter"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Store keeps rows. A failed transaction fails all that were enqueued after it.
type Store interface {
	// Enqueue makes the changes durable, all or none, and then calls done once,
	// which is quick. It does not wait.
	Enqueue(puts []Put, done func(error))
	// Load yields a table's rows by ascending key.
	Load(table string) iter.Seq2[Row, error]
	Get(table, key string) (value []byte, found bool, err error)
	// Scan returns up to limit rows, from the first key at or after from. With
	// reverse the order is descending, from the last key at or before it; an
	// empty from is then the table's end.
	Scan(table, from string, reverse bool, limit int) ([]Row, error)
	// Tally is of what a table holds: that of other rows differs, as far as checksums can say.
	Tally(table string) ([]byte, error)
}

// Put changes one row; a nil Value deletes it.
type Put struct {
	Table string
	Key   string
	Value []byte
	Tally string // if not empty, the value is the tally of this other table after the transaction
}

// Row is a stored row.
type Row struct {
	Key   string
	Value []byte
}

// Transport reaches partners.
type Transport interface {
	// Send hands a message on, soon and without waiting. It may get lost.
	Send(to protocol.SiteName, m protocol.Message) error
	// Fetch reads up to size bytes (at most [MaxChunk]) of a job's output at the
	// partner; fewer or none at the file's end. The error is a [protocol.ErrOutputGone]
	// when the partner has the output no longer.
	Fetch(
		ctx context.Context, from protocol.SiteName, tag protocol.Tag,
		stream protocol.Stream, offset int64, size int,
	) ([]byte, error)
}

// MaxChunk is the most bytes that one Fetch asks for.
const MaxChunk = 256 << 10

// Gossip tells other sites how busy this one is.
type Gossip interface {
	Advertise(load protocol.Load)
}

// Prices know what electricity costs, and guess what it will.
type Prices interface {
	// Ahead gives the prices of an area from one instant to another: the published ones,
	// then forecasts. An error says why there are none.
	Ahead(ctx context.Context, query price.Query) (price.Forecast, error)
}

// Deliverer puts files where people want them.
type Deliverer interface {
	// Deliver writes the file at the path as the user: all of it, or nothing when
	// r fails. The umask is for a file that is not there yet. An error with Permanent() true says that repeating cannot help.
	Deliver(ctx context.Context, user, path string, umask int, r io.Reader) error
	// Append writes the file of a job behind what is in that at the path, once, however often it is
	// called for that file. Errors are as those of Deliver.
	Append(ctx context.Context, user, path string, umask int, tag protocol.Tag, stream protocol.Stream, r io.Reader) error
	// Part opens what has come home so far of a file, nothing at first. It outlives the node.
	// A file that was kept but not reported has come home and is on its way again.
	Part(tag protocol.Tag, stream protocol.Stream) (Part, error)
	// Whole takes all of a file at once. Dropping it drops what had come of it before, too.
	Whole(tag protocol.Tag, stream protocol.Stream, data []byte) Output
	// Kept reads up to size bytes of a file that was kept, and not delivered; fewer or none at its end. The error is a
	// [protocol.ErrOutputGone] if it has been removed since.
	Kept(tag protocol.Tag, stream protocol.Stream, offset int64, size int) ([]byte, error)
	// Discard removes what has come home of a job's files, kept or not. No part of it is open.
	Discard(tag protocol.Tag) error

	Stager
}

// Stager takes files of users along with jobs, and back.
type Stager interface {
	// Unpack puts the files of an archive that comes back below a directory of the user's, each as a whole;
	// one that none of the patterns names is an error. The umask is for all of them. Errors are as those of Deliver.
	Unpack(ctx context.Context, user, dir string, umask int, files *protocol.Staging, r io.Reader) error
	// Pack makes the archive of the files that go with a job, read as the user, below a directory of the user's, if it is not here;
	// Packed is a piece of it. An error with Permanent() true says that a file is not as it was submitted.
	Pack(ctx context.Context, user, dir string, job protocol.JobID, files *protocol.Staging) error
	Packed(job protocol.JobID, offset int64, size int) ([]byte, error)
	// DropPacked removes that archive, if it is here.
	DropPacked(job protocol.JobID) error
	// Mark writes a file of [MarkSize] bytes as an account of this machine, until remove is called; Marked reads such a file
	// as the user. Errors are as those of Deliver.
	Mark(ctx context.Context, account, path string, content []byte) (remove func() error, err error)
	Marked(ctx context.Context, user, path string) ([]byte, error)
	// InputsPath is where the archive of a guest's files is on this machine. DropInputs removes it.
	InputsPath(tag protocol.Tag) string
	DropInputs(tag protocol.Tag) error
}

// Output is what is here of a file that is coming home. One goroutine uses it.
type Output interface {
	io.ReaderAt
	// Size is how many bytes are here.
	Size() int64
	// Keep moves what is here of a file that cannot be delivered to where an operator can hand it out,
	// and says where.
	Keep() (path string, err error)
	// Drop removes it, unless it was kept.
	Drop() error
	// Close leaves what is here for another try.
	Close() error
}

// Part is an output that comes in pieces.
type Part interface {
	Output
	// Append adds what comes next. Zeros need no space.
	Append(data []byte) error
	// Reset drops all that is here, and goes on with nothing.
	Reset() error
}

// Meter counts. Its methods are quick and may be called at once.
type Meter interface {
	// Count counts a log event.
	Count(f event.LogEvent)
	// Moved says that a job of this origin went from one state to another; the
	// zero State stands for outside the peer.
	Moved(from, to protocol.State)
	// Refused counts a submission that was refused.
	Refused(code view.RefusalCode)
	// Rejected counts what a gate of the network refused, by reason.
	Rejected(reason string)
	// Ended takes a job of this origin as it is archived, with the quote by which it was placed.
	Ended(job *view.Job)
	// Answered says how long the partner took to answer a quote request.
	Answered(partner protocol.SiteName, after time.Duration)
}

// Mailer sends mail to the users of jobs.
type Mailer interface {
	// Mail says that a job of this origin, as it now is, has come to an event that its user wants
	// mail about. It does not wait.
	Mail(about protocol.MailEvent, job *view.Job)
	// Follow says that a job runs, about which its user may want mail at shares of its time limit. It sends
	// those that are due until Unfollow, and none for what is past.
	Follow(job *view.Job)
	// Unfollow says that a job does not run, whether it was followed or not.
	Unfollow(job protocol.JobID)
}

// Recorder gets all inputs of the machine, and what each step returns. Its
// methods are called by one goroutine at a time, in the order of the steps.
type Recorder interface {
	// Listen returns the configuration with parts that answer like its own; the machine is
	// made with it.
	Listen(cfg rules.Config) rules.Config
	// Begin is called before the first step with what the machine was made from.
	Begin(cfg rules.Config, seed uint64, rows []row.Record)
	// Stepped is called after each step. It does not wait. Neither the event nor
	// the Ready changes any more.
	Stepped(now protocol.Instant, ev event.Event, ready event.Ready)
}

// noMeter counts nothing.
type noMeter struct{}

func (noMeter) Count(event.LogEvent)                 {}
func (noMeter) Moved(protocol.State, protocol.State) {}
func (noMeter) Refused(view.RefusalCode)             {}
func (noMeter) Rejected(string)                      {}
func (noMeter) Ended(*view.Job)                      {}

func (noMeter) Answered(protocol.SiteName, time.Duration) {}
