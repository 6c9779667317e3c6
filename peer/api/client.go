package api

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/fileguard"
	"github.com/switchyard-hpc/switchyard/peer/accesstokens"
	"github.com/switchyard-hpc/switchyard/peer/clientcert"
	"github.com/switchyard-hpc/switchyard/peer/event"
	"github.com/switchyard-hpc/switchyard/peer/openid"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Client talks to the peer at a socket or over TCP. Its methods may be called at once. Their
// errors are an *[Error] when the peer refuses, wrap [ErrUnreachable] when there
// is none, or [ErrSilent] when it does not answer, or come from ctx.
type Client struct {
	at     string // the socket, or the URL
	base   string // of the URLs of requests
	token  string // over TCP
	remote bool   // over TCP
	broken error  // why there can be no requests; nil: there can
	advice string // for who cannot reach the peer
	limit  int    // bytes of a request
	http   http.Client
}

// Dial makes a client of the peer at the socket. It connects when it must.
func Dial(socket string) *Client {
	c := newClient(func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}, nil)
	c.at, c.base, c.advice = socket, "http://peer", "check `systemctl status switchyard`, or set --socket"
	return c
}

// Server is a peer that is reached over TCP.
type Server struct {
	URL       string // https://host:port
	TokenFile string // with a token of the site or of its issuer, that only its owner may read; empty: a certificate is shown
	CertFile  string // the certificate of the client and those of its issuers, in PEM; empty: none is shown
	KeyFile   string // the key of CertFile, that only its owner may read
	CAFile    string // the certificates that are trusted, in PEM; empty: those of the machine
}

const (
	maxTokenFile = 16 << 10 // bytes
	maxKeyFile   = 64 << 10
	connectTime  = 20 * time.Second
)

// Broken makes a client whose requests all end with an error.
func Broken(err error) *Client {
	return &Client{broken: err, remote: true}
}

// DialServer makes a client of a peer over TCP. It connects when it must. The error is about the URL or the files.
func DialServer(s Server) (*Client, error) {
	at, err := url.Parse(s.URL)
	if err == nil && (at.Scheme != "https" || at.Host == "" || strings.Trim(at.Path, "/") != "" || at.RawQuery != "" || at.User != nil) {
		err = errors.New("use https://HOST:PORT")
	}
	if err != nil {
		return nil, fmt.Errorf("server %q: %w", s.URL, err)
	}
	token, err := s.token()
	if err != nil {
		return nil, err
	}
	trust := &tls.Config{MinVersion: tls.VersionTLS12}
	if trust.Certificates, err = s.certificate(); err != nil {
		return nil, err
	}
	if s.CAFile != "" {
		if trust.RootCAs, err = clientcert.ReadAuthorities(s.CAFile); err != nil {
			return nil, fmt.Errorf("certificate of the server: %w", err)
		}
	}
	c := newClient((&net.Dialer{Timeout: connectTime}).DialContext, trust)
	c.at, c.base, c.token, c.remote = s.URL, "https://"+at.Host, token, true
	c.advice = "check the address, and whether the site has [api] listen"
	return c, nil
}

// token reads the token; empty: a certificate is shown instead.
func (s *Server) token() (string, error) {
	if s.TokenFile == "" && s.CertFile != "" {
		return "", nil
	}
	text, err := fileguard.Secret(s.TokenFile, maxTokenFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("token file: %s does not exist; make a token on the machine of the peer by \"switchyard token create\" and put it there, or name another file by --token-file", s.TokenFile)
	}
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if !accesstokens.Looks(token) && !openid.Looks(token) {
		return "", fmt.Errorf("token file: %s has no token; make one at the site: switchyard token create; or get one of the site's issuer", s.TokenFile)
	}
	return token, nil
}

// certificate reads that of the client; nil: it has none.
func (s *Server) certificate() ([]tls.Certificate, error) {
	if s.CertFile == "" {
		return nil, nil
	}
	certs, err := os.ReadFile(s.CertFile)
	if err != nil {
		return nil, fmt.Errorf("certificate of the client: %w", err)
	}
	key, err := fileguard.Secret(s.KeyFile, maxKeyFile)
	if err != nil {
		return nil, fmt.Errorf("key of the client: %w", err)
	}
	pair, err := tls.X509KeyPair(certs, key)
	if err != nil {
		return nil, fmt.Errorf("certificate of the client: %s and %s: %w", s.CertFile, s.KeyFile, err)
	}
	return []tls.Certificate{pair}, nil
}

func newClient(dial func(ctx context.Context, network, address string) (net.Conn, error), trust *tls.Config) *Client {
	return &Client{limit: MaxBody, http: http.Client{
		Transport: &patient{limit: answerTime, Transport: &http.Transport{
			DialContext:         dial,
			TLSClientConfig:     trust,
			ForceAttemptHTTP2:   trust != nil,
			TLSHandshakeTimeout: connectTime,
			MaxIdleConnsPerHost: 256,
			IdleConnTimeout:     time.Minute,
			DisableCompression:  true,
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // a peer has none
	}}
}

// Remote reports whether the peer may be on another machine, where the paths of this one mean nothing.
func (c *Client) Remote() bool { return c.remote }

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

// Job is one job, array or element, live or finished.
func (c *Client) Job(ctx context.Context, name protocol.JobName) (view.Job, error) {
	return call[view.Job](ctx, c, http.MethodGet, jobPath(name, ""), nil)
}

// Cancel asks for a job's end. When it returns, the request is durable.
func (c *Client) Cancel(ctx context.Context, id protocol.JobID) error {
	return c.CancelElements(ctx, protocol.JobName{Job: id})
}

// CancelElements asks for the end of a job, of an array, or of some elements of one. When it returns, the request is durable.
func (c *Client) CancelElements(ctx context.Context, name protocol.JobName) error {
	path := jobPath(protocol.JobName{Job: name.Job}, "")
	if !name.Elements.IsZero() {
		path += "?" + url.Values{"elements": {name.Elements.String()}}.Encode()
	}
	_, err := call[view.Done](ctx, c, http.MethodDelete, path, nil)
	return err
}

// Hold keeps a pending job from starting. When it returns, that is durable; a job that waits in a local queue is recalled,
// unless it starts meanwhile.
func (c *Client) Hold(ctx context.Context, name protocol.JobName) error {
	_, err := call[view.Done](ctx, c, http.MethodPost, jobPath(name, "/hold"), nil)
	return err
}

// Release ends the hold of a job. When it returns, that is durable.
func (c *Client) Release(ctx context.Context, name protocol.JobName) error {
	_, err := call[view.Done](ctx, c, http.MethodPost, jobPath(name, "/release"), nil)
	return err
}

// Update changes a job that has not started, or what of an array has not. When it returns, that is durable; a job that waits in a
// local queue is recalled if its site must know of the change, unless it starts meanwhile.
func (c *Client) Update(ctx context.Context, name protocol.JobName, change protocol.Change) error {
	_, err := call[view.Done](ctx, c, http.MethodPatch, jobPath(name, ""), change)
	return err
}

// Requeue has a job, or elements of an array, start again. When it returns, the request is durable; the answer has a notice of those
// that are not requeued.
func (c *Client) Requeue(ctx context.Context, name protocol.JobName, how Requeue) (view.Done, error) {
	how.Elements = name.Elements
	return call[view.Done](ctx, c, http.MethodPost, jobPath(protocol.JobName{Job: name.Job}, "/requeue"), how)
}

// Wait waits until the job has ended, as long as ctx allows.
func (c *Client) Wait(ctx context.Context, name protocol.JobName) (view.Job, error) {
	for {
		view, err := call[view.Job](ctx, c, http.MethodGet, jobPath(name, "/wait"), nil)
		if err != nil || view.State.Terminal() {
			return view, err
		}
	}
}

// Explain lists what happened to a job.
func (c *Client) Explain(ctx context.Context, name protocol.JobName) ([]event.LogEvent, error) {
	e, err := call[Explanation](ctx, c, http.MethodGet, jobPath(name, "/explain"), nil)
	return e.Events, err
}

// Sites says what is known of every site.
func (c *Client) Sites(ctx context.Context) (view.Sites, error) {
	return call[view.Sites](ctx, c, http.MethodGet, "/v1/sites", nil)
}

// Counts says how many jobs the site has that have not ended.
func (c *Client) Counts(ctx context.Context) (view.Counts, error) {
	return call[view.Counts](ctx, c, http.MethodGet, "/v1/counts", nil)
}

// Shares says how users stand with their shares.
func (c *Client) Shares(ctx context.Context) (view.Shares, error) {
	return call[view.Shares](ctx, c, http.MethodGet, "/v1/shares", nil)
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
	return call[view.RunHistory](ctx, c, http.MethodGet, "/v1/runs?"+query.Encode(), nil)
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

// Prices are the prices of electricity at the site for some time ahead.
func (c *Client) Prices(ctx context.Context) (Prices, error) {
	return call[Prices](ctx, c, http.MethodGet, "/v1/prices", nil)
}

// SettingsChanges lists what has changed in the settings of the peer, the last change first.
func (c *Client) SettingsChanges(ctx context.Context) (SettingsHistory, error) {
	return call[SettingsHistory](ctx, c, http.MethodGet, "/v1/settings/changes", nil)
}

// CreateToken makes a token for the API over TCP.
func (c *Client) CreateToken(ctx context.Context, wanted NewToken) (CreatedToken, error) {
	return call[CreatedToken](ctx, c, http.MethodPost, "/v1/tokens", wanted)
}

// Tokens lists the caller's tokens that have not expired, or with all those of all users.
func (c *Client) Tokens(ctx context.Context, all bool) ([]accesstokens.Token, error) {
	list, err := call[Tokens](ctx, c, http.MethodGet, "/v1/tokens?all="+strconv.FormatBool(all), nil)
	return list.Tokens, err
}

// RevokeToken has a token work no more.
func (c *Client) RevokeToken(ctx context.Context, id string) error {
	_, err := call[view.Done](ctx, c, http.MethodDelete, "/v1/tokens/"+url.PathEscape(id), nil)
	return err
}

// Reload has the peer read its configuration again.
func (c *Client) Reload(ctx context.Context) (Reloaded, error) {
	return call[Reloaded](ctx, c, http.MethodPost, "/v1/reload", nil)
}

func jobPath(name protocol.JobName, what string) string {
	return "/v1/jobs/" + url.PathEscape(name.String()) + what
}

// call makes a request and reads its answer.
func call[A any](ctx context.Context, c *Client, method, path string, body any) (answer A, err error) {
	response, err := c.send(ctx, method, path, body)
	if err != nil {
		return answer, err
	}
	if value, inside := valueOf[A](response); inside {
		return value, nil
	}
	defer drain(response)
	if err = json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return answer, c.invalid(err)
	}
	return answer, nil
}

// invalid says that an answer cannot be read.
func (c *Client) invalid(err error) error {
	return fmt.Errorf("invalid response of the peer at %s: %w; its version may differ from this command", c.at, err)
}

// drain reads what is left, so that the connection can be used again.
func drain(response *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 4096))
	_ = response.Body.Close()
}

// repeats is how often a request that came too fast is made again, a second or so later.
const repeats = 60

// send makes a request, again if the peer says that it came too fast. Only a good answer is no error.
func (c *Client) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
	return c.sendWith(ctx, method, path, body, nil)
}

// sendWith is send with further headers.
func (c *Client) sendWith(ctx context.Context, method, path string, body any, header http.Header) (*http.Response, error) {
	for again := 0; ; again++ {
		response, err := c.sendOnce(ctx, method, path, body, header)
		if err != nil || response.StatusCode < 300 {
			return response, err
		}
		if response.StatusCode != http.StatusTooManyRequests || again == repeats {
			defer drain(response)
			return nil, refusalIn(response)
		}
		drain(response)
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		select {
		case <-time.After(time.Duration(min(max(seconds, 1), 10)) * time.Second):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// sendOnce makes a request, and returns whatever the answer is.
func (c *Client) sendOnce(ctx context.Context, method, path string, body any, header http.Header) (*http.Response, error) {
	if c.broken != nil {
		return nil, c.broken
	}
	var data []byte
	archive, _ := body.(*Archive)
	if body != nil && archive == nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		if len(data) > c.limit { // the server would hang up in the middle of it
			return nil, &Error{tooLarge(int64(c.limit))}
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	maps.Copy(request.Header, header)
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	if archive != nil {
		return archive.do(ctx, c, request)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	return response, nil
}

// explain makes an error of the connection readable.
func (c *Client) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		if wrapped.Timeout() || errors.Is(err, ErrSilent) {
			return fmt.Errorf("%w at %s: it accepts connections, and hangs or is stopped; %s", ErrSilent, c.at, c.advice)
		}
		err = wrapped.Err // the made-up address says nothing
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		advice := "ask the site's administrator"
		if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); unknown {
			advice = "name the file of the site's authority with --server-ca"
		} else if _, other := errors.AsType[x509.HostnameError](err); other {
			advice = "use a name that the certificate is for, or have the site add this one to [api] hosts"
		}
		return fmt.Errorf("%w at %s: its certificate is not good (%w); %s", ErrUnreachable, c.at, err, advice)
	}
	return fmt.Errorf("%w at %s (%w); %s", ErrUnreachable, c.at, err, c.advice)
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
