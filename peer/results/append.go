package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

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

// appendName is a file that says where output of a job was appended.
func appendName(tag protocol.Tag, stream protocol.Stream) string {
	return fmt.Sprintf("%d.%d.%s.append%s", tag.Job, tag.Epoch, stream, partSuffix)
}
