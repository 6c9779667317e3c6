package spool

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/switchyard-hpc/switchyard/internal/localdisk"
	"github.com/switchyard-hpc/switchyard/internal/staging"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// inputs is what inputs of a job's directory holds.
type inputs struct {
	Files []protocol.StagedFile `json:"files"`
}

// addInputs puts the files that have come with a guest into its working directory, in a directory that is being
// filled: no account can reach it yet.
func (j Job) addInputs(ctx context.Context, dir string) (err error) {
	if j.Submission.Inputs == "" {
		return nil
	}
	archive, err := os.Open(j.Submission.Inputs)
	if err != nil {
		return fmt.Errorf("open the files that have come with the job: %w", err)
	}
	defer archive.Close() //nolint:errcheck // only read
	root, err := os.OpenRoot(filepath.Join(dir, workDir))
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // what was written is synced
	if err = localdisk.Room(dir, j.Submission.Payload.Staging.BytesOf()); err != nil {
		return fmt.Errorf("unpack the files that have come with the job: %w", err)
	}
	sparing := io.TeeReader(archive, localdisk.Sparing(io.Discard, dir)) // what is read is written
	files, err := staging.Unpack(ctx, bufio.NewReaderSize(sparing, 1<<18), staging.Into{Root: root, Own: j.Account.ownIn})
	if err != nil {
		return fmt.Errorf("unpack the files that have come with the job: %w", err)
	}
	data, err := Encode(inputs{files})
	if err != nil {
		return err
	}
	path := filepath.Join(dir, inputsFile)
	return errors.Join(os.WriteFile(path, data, 0o600), SyncPath(path))
}

// ownIn gives a file below a directory to the account, if this process is root.
func (a Account) ownIn(root *os.Root, name string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return root.Lchown(name, int(a.UID), int(a.GID))
}

// ComesBack says whether files of the job's working directory are packed when it has ended.
func (j Job) ComesBack() bool {
	return j.Submission.Private() && j.Submission.Payload.Staging.ComesBack()
}

// Settle makes durable how a job has ended whose files are to be packed, before they are. What was settled first counts, also
// after a restart.
func (j Job) Settle(dir string, end End) (End, error) {
	if !j.ComesBack() {
		return end, nil
	}
	if first, err := ReadEnd[End](dir, VerdictFile); err == nil {
		return first, nil
	}
	return end, ReplaceRecord(dir, VerdictFile, end)
}

// AddArchive adds the archive of files that go back to how a job has ended; full: there is no room for it. A job
// whose files cannot go back has failed, however its script ended: who waits for it must not go on without them.
func (j Job) AddArchive(ctx context.Context, dir string, end *End) (full bool) {
	if !j.ComesBack() {
		return false
	}
	file, notices, err := j.archive(ctx, dir, end.State != protocol.Completed)
	if file != (File{}) {
		end.Files = append(end.Files, file)
		end.Reason = Noted(end.Reason, notices...)
	}
	if err == nil {
		return false
	}
	if localdisk.Full(err) && ctx.Err() == nil {
		return true
	}
	why := "files do not come back: " + stagedReason(err)
	if file != (File{}) {
		why = "some files do not come back: " + stagedReason(err)
	}
	lackFiles(end, why)
	return false
}

// GiveUpArchive says of a job's end that no room was found for the archive of files that go back.
func (j Job) GiveUpArchive(end *End) {
	lackFiles(end, "files do not come back: "+stagedReason(&localdisk.NoRoomError{}))
}

func lackFiles(end *End, why string) {
	if end.State == protocol.Completed {
		end.State = protocol.Failed
		why += "; the script itself ended with exit code 0"
	}
	end.Reason = Noted(end.Reason, why)
}

// stagedReason says why files do not come back, without paths of this site.
func stagedReason(err error) string {
	switch missing, ok := errors.AsType[*staging.MissingError](err); {
	case ok:
		return missing.Reason
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return "the reading of them was stopped"
	case localdisk.Full(err):
		return "the disk of the site is full"
	}
	return reasonOf(err)
}

// maxBack is how many bytes the archive of what goes back may have, here and at the job's origin, and which of both says so.
func (j Job) maxBack() (bytes int64, limit string) {
	most, whose := j.MaxStaging, j.Site
	if there := j.Submission.Payload.Staging.MaxOut; there > 0 && there < most {
		most, whose = there, j.Submission.Origin
	}
	return most, "[staging] max_bytes of " + string(whose)
}

// createPart makes a file, instead of what an earlier try has left there: a process that was killed.
func createPart(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// archive packs what a guest has left in its working directory and is to go back, durably, as a whole. There may be an
// archive and a *[staging.MissingError]: it has only some of what is wanted.
func (j Job) archive(ctx context.Context, dir string, partial bool) (File, []string, error) {
	root, err := os.OpenRoot(filepath.Join(dir, workDir))
	if err != nil {
		return File{}, nil, err
	}
	defer root.Close() //nolint:errcheck // only read
	before, err := ReadRecord[inputs](dir, inputsFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return File{}, nil, err
	}
	temp, err := createPart(filepath.Join(dir, filesPart))
	if err != nil {
		return File{}, nil, err
	}
	most, limit := j.maxBack()
	sum := sha256.New()
	both := io.MultiWriter(localdisk.Sparing(temp, dir), sum)
	to := bufio.NewWriterSize(both, 1<<18)
	files, notices, err := staging.Collect(ctx, to, staging.Left{
		Root: root, Patterns: j.Submission.Payload.Staging.Out, Before: before.Files, Owner: j.Account.UID, MaxBytes: most, Limit: limit,
		Partial: partial, Room: func(bytes int64) error { return localdisk.Room(dir, bytes) },
		Again: func() error {
			sum.Reset()
			to.Reset(both)
			_, failed := temp.Seek(0, io.SeekStart)
			return errors.Join(failed, temp.Truncate(0))
		},
	})
	missing, some := errors.AsType[*staging.MissingError](err)
	if some = some && len(files) > 0; err == nil || some {
		err = errors.Join(to.Flush(), temp.Sync())
	}
	size, sized := temp.Seek(0, io.SeekEnd)
	if err = errors.Join(err, sized, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), filepath.Join(dir, filesFile))
	}
	if err != nil {
		return File{}, nil, errors.Join(err, os.Remove(temp.Name()))
	}
	if err = SyncPath(dir); err != nil {
		return File{}, nil, err
	}
	if some {
		err = missing
	}
	return File{Stream: protocol.StageOutArchive, Size: size, SHA256: hex.EncodeToString(sum.Sum(nil))}, notices, err
}
