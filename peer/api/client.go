package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Client talks to the peer at a socket. Its methods may be called at once. Their
// errors are an *[Error] when the peer refuses, wrap [ErrUnreachable] when there
// is none, or come from ctx.
type Client struct {
	socket string
	limit  int // bytes of a request
	http   http.Client
}

// Dial makes a client of the peer at the socket. It connects when it must.
func Dial(socket string) *Client {
	return &Client{socket: socket, limit: MaxBody, http: http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
		MaxIdleConnsPerHost: 256,
		IdleConnTimeout:     time.Minute,
		DisableCompression:  true,
	}}}
}

// Close lets go of idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Submit submits jobs, all or none.
func (c *Client) Submit(ctx context.Context, s Submission) (view.Submitted, error) {
	return call[view.Submitted](ctx, c, http.MethodPost, "/v1/jobs", s)
}

// Quotes asks what every site would answer for the jobs now.
func (c *Client) Quotes(ctx context.Context, s Submission) (Quoted, error) {
	return call[Quoted](ctx, c, http.MethodPost, "/v1/quotes", s)
}

// Queue lists jobs: the finished ones, the youngest first, and then the live ones by their ids.
func (c *Client) Queue(ctx context.Context, wanted Listing) (view.Queue, error) {
	return call[view.Queue](ctx, c, http.MethodGet, "/v1/jobs?"+wanted.query().Encode(), nil)
}

// Job is one job, live or finished.
func (c *Client) Job(ctx context.Context, id protocol.JobID) (view.Job, error) {
	return call[view.Job](ctx, c, http.MethodGet, jobPath(id, ""), nil)
}

// Cancel asks for a job's end. When it returns, the request is durable.
func (c *Client) Cancel(ctx context.Context, id protocol.JobID) error {
	_, err := call[view.Done](ctx, c, http.MethodDelete, jobPath(id, ""), nil)
	return err
}

// Requeue puts a job that needs an operator back into the grid queue, though it may run twice.
// When it returns, that is durable.
func (c *Client) Requeue(ctx context.Context, id protocol.JobID) error {
	_, err := call[view.Done](ctx, c, http.MethodPost, jobPath(id, "/requeue"), nil)
	return err
}

// Wait waits until the job has ended, as long as ctx allows.
func (c *Client) Wait(ctx context.Context, id protocol.JobID) (view.Job, error) {
	for {
		view, err := call[view.Job](ctx, c, http.MethodGet, jobPath(id, "/wait"), nil)
		if err != nil || view.State.Terminal() {
			return view, err
		}
	}
}

// Explain lists what happened to a job.
func (c *Client) Explain(ctx context.Context, id protocol.JobID) ([]event.LogEvent, error) {
	e, err := call[Explanation](ctx, c, http.MethodGet, jobPath(id, "/explain"), nil)
	return e.Events, err
}

// Sites says what is known of every site.
func (c *Client) Sites(ctx context.Context) (view.Sites, error) {
	return call[view.Sites](ctx, c, http.MethodGet, "/v1/sites", nil)
}

// RunHistory returns the run history of the caller's components, or of all users' with all. With a
// component it is limited to the components of that name.
func (c *Client) RunHistory(ctx context.Context, component string, all bool) (view.RunHistory, error) {
	query := url.Values{}
	if component != "" {
		query.Set("component", component)
	}
	if all {
		query.Set("all", "true")
	}
	return call[view.RunHistory](ctx, c, http.MethodGet, "/v1/history?"+query.Encode(), nil)
}

// Recovery says what is wrong with the peer's store, if anything.
func (c *Client) Recovery(ctx context.Context) (view.Recovery, error) {
	return call[view.Recovery](ctx, c, http.MethodGet, "/v1/recovery", nil)
}

// Recover says that the peer's store goes on, and returns how it stands then.
func (c *Client) Recover(ctx context.Context, resume Resume) (view.Recovery, error) {
	return call[view.Recovery](ctx, c, http.MethodPost, "/v1/recovery", resume)
}

// Info says what peer this is.
func (c *Client) Info(ctx context.Context) (Info, error) {
	return call[Info](ctx, c, http.MethodGet, "/v1/info", nil)
}

// Plugins lists the plugins that the peer has started.
func (c *Client) Plugins(ctx context.Context) ([]Plugin, error) {
	all, err := call[Plugins](ctx, c, http.MethodGet, "/v1/plugins", nil)
	return all.Plugins, err
}

// Reload has the peer read its configuration again.
func (c *Client) Reload(ctx context.Context) (Reloaded, error) {
	return call[Reloaded](ctx, c, http.MethodPost, "/v1/reload", nil)
}

func jobPath(id protocol.JobID, what string) string { return "/v1/jobs/" + id.String() + what }

// call makes a request and reads its answer.
func call[A any](ctx context.Context, c *Client, method, path string, body any) (answer A, err error) {
	response, err := c.send(ctx, method, path, body)
	if err != nil {
		return answer, err
	}
	defer drain(response)
	if err = json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return answer, fmt.Errorf("invalid response of the peer at %s: %w; its version may differ from this command", c.socket, err)
	}
	return answer, nil
}

// drain reads what is left, so that the connection can be used again.
func drain(response *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 4096))
	_ = response.Body.Close()
}

// send makes a request. Only a good answer is no error.
func (c *Client) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var data []byte
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		if len(data) > c.limit { // the server would hang up in the middle of it
			return nil, &Error{tooLarge(int64(c.limit))}
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://peer"+path, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	if response.StatusCode < 300 {
		return response, nil
	}
	defer drain(response)
	return nil, refusalIn(response)
}

// explain makes an error of the connection readable.
func (c *Client) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // the made-up address says nothing
	}
	return fmt.Errorf("%w at %s (%w); check `systemctl status switchyard`, "+
		"or set --socket", ErrUnreachable, c.socket, err)
}

// refusalIn reads why the peer said no.
func refusalIn(response *http.Response) error {
	var e Error
	data, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil || json.Unmarshal(data, &e.Refusal) != nil || e.Code == "" {
		e.Refusal = view.Refusal{Code: view.Unavailable, Reason: "the peer answered " + response.Status}
	}
	return &e
}
