package spans

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Job is what all sites of a job know of it by which its spans have their IDs.
type Job struct {
	ID        protocol.JobID
	Submitted protocol.Instant
	Parent    protocol.Traceparent // of the program that submitted it; empty: none
}

// JobOf is the job of a description.
func JobOf(s *protocol.Spec) Job { return Job{s.Job, s.Submitted, s.Traceparent} }

// jobOfView is the job that people see.
func jobOfView(v *view.Job) Job { return Job{v.ID, v.Submitted, v.Traceparent} }

// Trace is the ID of the job's trace.
func (j Job) Trace() (id protocol.TraceID) {
	if trace, _, _ := j.Parent.Parts(); trace != id {
		return trace
	}
	copy(id[:], j.hash("trace", 0))
	return id
}

// Sampled says whether spans of the job are exported: unless the program that submitted it says that they are not to be.
func (j Job) Sampled() bool {
	_, _, sampled := j.Parent.Parts()
	return sampled || j.Parent == ""
}

// Run names the span of the job's run at an epoch, below which programs in the job begin their own.
func (j Job) Run(epoch protocol.Epoch) protocol.Traceparent {
	return protocol.MakeTraceparent(j.Trace(), j.span(Run, uint64(epoch)), j.Sampled())
}

// span is the ID of a span: of its name, and of what differs between those of that name at all sites.
func (j Job) span(name Name, which uint64) (id protocol.SpanID) {
	copy(id[:], j.hash(string(name), which))
	return id
}

// hash is of the job, a word and a number.
func (j Job) hash(word string, number uint64) []byte {
	text := append([]byte("switchyard "+word), 0)
	text = binary.BigEndian.AppendUint64(text, uint64(j.ID))
	text = binary.BigEndian.AppendUint64(text, uint64(j.Submitted)) //nolint:gosec // all that counts is that others are other numbers
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(text, number))
	return sum[:]
}
