package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// began is the size that the file of a user had when output of a job was first appended to it; nil: none
// was.
func (d *Dir) began(tag protocol.Tag, stream protocol.Stream) (*int64, error) {
	text, err := os.ReadFile(filepath.Join(d.Path, appendName(tag, stream)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read where output was appended: %w", err)
	}
	size, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", appendName(tag, stream), err)
	}
	return &size, nil
}

// begin notes that size durably. The note stays for as long as a part does: the job may not be known to have
// its output yet when the peer ends.
func (d *Dir) begin(tag protocol.Tag, stream protocol.Stream, size int64) error {
	if err := os.MkdirAll(d.Path, 0o700); err != nil {
		return fmt.Errorf("make the directory of results: %w", err)
	}
	if err := spool.ReplaceFile(d.Path, appendName(tag, stream), strconv.AppendInt(nil, size, 10)); err != nil {
		return fmt.Errorf("note where output is appended: %w", err)
	}
	return nil
}

// undo forgets that size.
func (d *Dir) undo(tag protocol.Tag, stream protocol.Stream) error {
	if err := os.Remove(filepath.Join(d.Path, appendName(tag, stream))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget where output was appended: %w", err)
	}
	return nil
}

// isAppendNote says whether a file is such a one as [Dir.begin] makes. It is of no use once it is old.
func isAppendNote(name string) bool { return strings.HasSuffix(name, appendSuffix) }

const appendSuffix = ".append" + partSuffix

// appendName is a file that says where output of a job was appended.
func appendName(tag protocol.Tag, stream protocol.Stream) string {
	return fmt.Sprintf("%d.%d.%s%s", tag.Job, tag.Epoch, stream, appendSuffix)
}
