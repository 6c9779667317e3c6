package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Output copies a job's output to w, from its beginning; with follow it goes on
// until the job has ended. Output that lies at this site is read from its file,
// with the rights of this process; the peer passes on only what a site elsewhere
// holds, and what it keeps itself since it could not be written to its file.
func (c *Client) Output(
	ctx context.Context, name protocol.JobName, stream protocol.Stream, follow bool, w io.Writer,
) (fetched Fetched, err error) {
	out := counter{to: w}
	if follow { // an answer that has not begun would be taken for that of a peer that hangs
		if err = c.awaitStart(ctx, name); err != nil {
			return fetched, err
		}
	}
	path, fetched, err := c.throughPeer(ctx, name, stream, follow, &out)
	if err != nil || path == "" {
		return fetched, err
	}
	return fetched, c.local(ctx, name, path, follow, &out)
}

// awaitStart waits until a job is pending no more.
func (c *Client) awaitStart(ctx context.Context, name protocol.JobName) error {
	for {
		job, err := c.Job(ctx, name)
		if err != nil || job.State != protocol.Pending || job.Array != nil {
			return err
		}
		select {
		case <-time.After(followPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// counter counts what was written.
type counter struct {
	to io.Writer
	n  int64
}

// Write implements [io.Writer].
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.n += int64(n)
	return n, err
}

// throughPeer copies what comes through the peer, and returns the path of the file
// where the rest is, and what the peer says of it.
func (c *Client) throughPeer(
	ctx context.Context, name protocol.JobName, stream protocol.Stream, follow bool, out *counter,
) (path string, fetched Fetched, err error) {
	query := "?stream=" + stream.String() + "&follow=" + strconv.FormatBool(follow)
	response, err := c.send(ctx, http.MethodGet, jobPath(name, "/output")+query, nil)
	if err != nil {
		return "", fetched, err
	}
	defer drain(response)
	if response.Header.Get("Content-Type") == "application/json" {
		var at where
		err = json.NewDecoder(response.Body).Decode(&at)
		if err == nil && c.Remote() {
			err = fmt.Errorf("invalid response of the peer at %s: it names a file of its machine", c.at)
		}
		return at.Path, fetched, err
	}
	_, err = io.Copy(out, response.Body)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "", fetched, fmt.Errorf("the output of job %v is incomplete: the peer stopped, or cannot reach the site that has the rest; "+
			"see `switchyard status %v`: %w", name, name, err)
	}
	if err != nil {
		return "", fetched, fmt.Errorf("the output of job %v is incomplete: %w", name, err)
	}
	fetched, err = c.ofTrailers(response.Trailer)
	if code := response.Trailer.Get(refusedTrailer); err == nil && code != "" {
		return "", Fetched{}, &Error{view.Refusal{Code: view.RefusalCode(code), Reason: fetched.Missing}}
	}
	return response.Trailer.Get(pathTrailer), fetched, err
}

// local copies the file from where the copy stands.
func (c *Client) local(ctx context.Context, name protocol.JobName, path string, follow bool, out *counter) error {
	for {
		ended := !follow
		if follow { // asked before reading, so that the end is read too
			job, err := c.Job(ctx, name)
			if err != nil {
				return err
			}
			ended = job.State.Terminal()
		}
		err := copyFrom(path, out)
		if err != nil && (ended || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
		if ended {
			return nil
		}
		select {
		case <-time.After(followPause / 2):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func copyFrom(path string, out *counter) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read
	if _, err = file.Seek(out.n, io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(out, file)
	return err
}
