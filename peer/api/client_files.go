package api

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Archive is an archive of files that go to a site, in the format of tar(1), as internal/staging writes it.
type Archive struct {
	Bytes  int64
	SHA256 [32]byte
	Write  func(ctx context.Context, w io.Writer) error // writes all of it; called again if the peer was too busy
}

// Place puts the files of an archive below a directory of the site, an absolute path there, with the rights of the caller's account. The
// directory is made if it is not there; a file of the same name is replaced. The peer must be reached over TCP.
func (c *Client) Place(ctx context.Context, dir string, archive Archive) error {
	header := http.Header{digestHeader: {digestPrefix + base64.StdEncoding.EncodeToString(archive.SHA256[:]) + ":"}}
	response, err := c.sendWith(ctx, http.MethodPost, "/v1/files?"+url.Values{"dir": {dir}}.Encode(), &archive, header)
	if err != nil {
		return err
	}
	drain(response)
	return nil
}

// do sends a request whose body is the archive.
func (a *Archive) do(ctx context.Context, c *Client, request *http.Request) (*http.Response, error) {
	from, to := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := a.Write(ctx, to)
		written <- err
		_ = to.CloseWithError(err)
	}()
	request.Body, request.ContentLength = from, a.Bytes
	response, err := c.http.Do(request)
	if err == nil {
		return response, nil
	}
	_ = from.Close()
	if failed := <-written; failed != nil && !errors.Is(failed, io.ErrClosedPipe) {
		return nil, failed // the files are to blame
	}
	return nil, c.explain(ctx, err)
}

// Fetched is what [Client.Fetch] says of files that have not come, and [Client.Output] of output that is not where its user wants it.
type Fetched struct {
	Missing string // files that are wanted and do not come, and why, or what is missing of output; empty: nothing
	Notice  string // others that the patterns might mean, such as links; where else output is that is not missing
}

// ofTrailers reads what the trailers of an answer say whose body has been read. An earlier version of the peer sends none for output.
func (c *Client) ofTrailers(trailers http.Header) (fetched Fetched, err error) {
	for trailer, to := range map[string]*string{missingTrailer: &fetched.Missing, noticeTrailer: &fetched.Notice} {
		if text := trailers.Get(trailer); text != "" {
			if *to, err = strconv.Unquote(text); err != nil {
				return Fetched{}, c.invalid(err)
			}
		}
	}
	return fetched, nil
}

// Fetch has the archive of files of a job that has ended read. They are those below the job's directory that patterns name, as
// [protocol.CheckStageOut] has them, and belong to the caller's account. The peer must be reached over TCP.
func (c *Client) Fetch(ctx context.Context, job protocol.JobName, patterns []string, read func(archive io.Reader) error) (fetched Fetched, err error) {
	response, err := c.send(ctx, http.MethodGet, jobPath(job, "/files?"+url.Values{"file": patterns}.Encode()), nil)
	if err != nil {
		return fetched, err
	}
	defer drain(response)
	from := &cutReader{from: response.Body}
	err = read(from)
	if err == nil {
		_, err = io.Copy(io.Discard, from) // what pads the archive, and the trailers
	}
	if from.err != nil {
		return fetched, fmt.Errorf("%w at %s: the files were cut off (%w); fetch them again", ErrUnreachable, c.at, from.err)
	}
	if err == nil && len(response.Trailer[missingTrailer]) == 0 { // an announcement alone says nothing
		err = c.invalid(errors.New("it does not say at its end whether all files have come, which a proxy between may have removed"))
	}
	if err != nil {
		return fetched, err
	}
	return c.ofTrailers(response.Trailer)
}

// cutReader notes an error of the connection.
type cutReader struct {
	from io.Reader
	err  error
}

// Read implements [io.Reader].
func (c *cutReader) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// Takes refuses an archive that the site does not take, before it is sent; nil: it does. Info is what the peer has said.
func (i *Info) Takes(bytes int64) error {
	switch {
	case i.Upload == 0:
		return &Error{view.Refusal{Code: view.BadRequest, Reason: "the site takes no files over TCP; put them into the job's directory there, and submit without --stage-in"}}
	case bytes > i.Upload:
		return &Error{view.Refusal{Code: view.BadRequest, Reason: fmt.Sprintf("the files have %d bytes as an archive, and the site takes at most %d at once over TCP ([api] max_upload)", bytes, i.Upload)}}
	}
	return nil
}
