package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ReadFile reads up to size bytes of an ordinary file from an offset, as the account; behind its end it returns nothing. The error
// wraps [fs.ErrNotExist] if there is no such file, and [fs.ErrPermission] if the account may not read it.
func (d *Deliverer) ReadFile(ctx context.Context, name, path string, offset int64, size int) ([]byte, error) {
	as, err := d.account(ctx, name, path)
	if err != nil {
		return nil, err
	}
	content, said := &bounded{most: size}, &bounded{most: maxReason} // the account may have another program write there
	cmd := d.command(ctx, as, readFileWord, path, strconv.FormatInt(offset, 10), strconv.Itoa(size))
	cmd.Stdout, cmd.Stderr = content, said
	if err = cmd.Run(); err == nil {
		return content.data, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if code := new(exec.ExitError); errors.As(err, &code) {
		switch code.ExitCode() {
		case exitAbsent:
			return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
		case exitForbidden:
			return nil, fmt.Errorf("%s as %s: %w", path, as.Name, fs.ErrPermission)
		}
	}
	return nil, fmt.Errorf("cannot read %s as %s: %w: %s", path, as.Name, err, strings.TrimSpace(string(said.data)))
}

const maxReason = 4096 // bytes

// bounded keeps what is written, of which there may only be so much.
type bounded struct {
	data []byte
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	if len(b.data)+len(p) > b.most {
		return 0, fmt.Errorf("more than %d bytes", b.most)
	}
	b.data = append(b.data, p...)
	return len(p), nil
}

// readFileMain prints a part of a file.
func readFileMain(path, offset, size string) int {
	from, err := strconv.ParseInt(offset, 10, 64)
	most, invalid := strconv.ParseInt(size, 10, 64)
	if err != nil || invalid != nil {
		return exitUsage
	}
	err = readFile(path, from, most)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return exitAbsent
	case errors.Is(err, fs.ErrPermission):
		return exitForbidden
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err // who asked says where
	}
	return placed(err)
}

func readFile(path string, from, most int64) error {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // so that a FIFO does not block
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not an ordinary file")
	}
	if err == nil {
		_, err = io.Copy(os.Stdout, io.NewSectionReader(file, from, most))
	}
	return errors.Join(err, file.Close())
}
