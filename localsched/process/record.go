package process

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// The names in a job's folder.
const (
	jobFile     = "job.json"
	scriptFile  = "script"
	workDir     = "work"
	outFile     = "out"
	errFile     = "err"
	startedFile = "started"
	exitFile    = "exit"
	logFile     = "shim.log"
)

// recordFormat is the version of the files' layout.
const recordFormat = 1

// jobRecord is job.json: what was submitted, but for the script.
type jobRecord struct {
	Format     int                   `json:"format"`
	Seq        uint64                `json:"seq"` // the place in the order of submission
	Submitted  protocol.Instant      `json:"submitted_ms"`
	Submission localsched.Submission `json:"submission"`
	Account    account               `json:"account"`
	Site       protocol.SiteName     `json:"site"`
	Grace      protocol.Duration     `json:"grace_ms"` // from TERM to KILL
}

// startedRecord is the file started: the shim that watches the job, or that no
// shim ever may.
type startedRecord struct {
	processID
	Started   protocol.Instant `json:"started_ms,omitempty"`
	Withdrawn bool             `json:"withdrawn,omitempty"`
}

// exitRecord is the file exit.
type exitRecord struct {
	State    protocol.State    `json:"state"`
	ExitCode int               `json:"exit_code"`
	Signal   int               `json:"signal,omitempty"`
	Reason   string            `json:"reason,omitempty"`
	Started  protocol.Instant  `json:"started_ms"`
	Ended    protocol.Instant  `json:"ended_ms"`
	Ran      protocol.Duration `json:"ran_ms"`
	Files    []fileRecord      `json:"files,omitempty"`
}

// fileRecord is an output file of a guest.
type fileRecord struct {
	Stream protocol.Stream `json:"stream"`
	Size   int64           `json:"size"`
	SHA256 string          `json:"sha256"` // in hexadecimal
}

// readJob reads job.json of a folder.
func readJob(dir string, tag protocol.Tag) (jobRecord, error) {
	record, err := readRecord[jobRecord](dir, jobFile)
	if err != nil {
		return jobRecord{}, err
	}
	switch {
	case record.Format != recordFormat:
		err = fmt.Errorf("has format %d, this software knows %d", record.Format, recordFormat)
	case record.Submission.Tag != tag:
		err = fmt.Errorf("is about job %v", record.Submission.Tag)
	case record.Submission.Payload == nil:
		err = errors.New("has no payload")
	}
	if err != nil {
		return jobRecord{}, fmt.Errorf("%s/%s %w", dir, jobFile, err)
	}
	return record, nil
}

// readExit reads how a job ended.
func readExit(dir string) (exitRecord, error) {
	record, err := readRecord[exitRecord](dir, exitFile)
	if err == nil && !record.State.Terminal() {
		err = fmt.Errorf("%s/%s is damaged: the state %v is not a last one", dir, exitFile, record.State)
	}
	return record, err
}

// files is the list of files as peers tell it.
func (r exitRecord) files() (files []protocol.File) {
	for _, f := range r.Files {
		file := protocol.File{Stream: f.Stream, Size: f.Size}
		if n, err := hex.Decode(file.SHA256[:], []byte(f.SHA256)); err == nil && n == len(file.SHA256) {
			files = append(files, file)
		}
	}
	return files
}

// encode prints a record as a file holds it.
func encode(record any) ([]byte, error) {
	data, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode a record: %w", err)
	}
	return append(data, '\n'), nil
}

// folderOf names a job's folder.
func folderOf(tag protocol.Tag) string {
	return fmt.Sprintf("%d.%d", tag.Job, tag.Epoch)
}

// parseFolder reads what folderOf prints, and nothing else.
func parseFolder(name string) (protocol.Tag, error) {
	job, epoch, _ := strings.Cut(name, ".")
	id, err := strconv.ParseUint(job, 10, 64)
	if err != nil {
		return protocol.Tag{}, fmt.Errorf("%q is not the folder of a job", name)
	}
	e, err := strconv.ParseUint(epoch, 10, 32)
	if err != nil {
		return protocol.Tag{}, fmt.Errorf("%q is not the folder of a job", name)
	}
	tag := protocol.Tag{Job: protocol.JobID(id), Epoch: protocol.Epoch(e)}
	if folderOf(tag) != name {
		return protocol.Tag{}, fmt.Errorf("%q is not the folder of a job", name)
	}
	return tag, nil
}
