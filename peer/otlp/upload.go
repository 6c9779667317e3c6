package otlp

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/switchyard-hpc/switchyard/internal/fileguard"
)

const (
	firstPause = time.Second      // after the first try; the pauses grow
	maxPause   = 10 * time.Second // between tries
	tryFor     = 40 * time.Second // from the first try on, the last one begins
	tryTime    = 10 * time.Second // for a try
	maxHeaders = 16 << 10         // bytes of the file with headers
)

// defaultPath is that of OTLP/HTTP for traces, where the endpoint names none.
const defaultPath = "/v1/traces"

// uploader sends spans to a collector. Variables of the environment such as OTEL_EXPORTER_OTLP_HEADERS change nothing: all that they
// would set is set here.
func uploader(cfg *Config) (func(context.Context, *tracepb.ResourceSpans) error, error) {
	endpoint, err := url.Parse(cfg.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("the endpoint is not a URL: %w", err)
	}
	if strings.Trim(endpoint.Path, "/") == "" {
		endpoint.Path = defaultPath
	}
	trusted, err := authorities(cfg.CA)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute,
		TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12},
	}
	client := otlptracehttp.NewClient(
		otlptracehttp.WithEndpointURL(endpoint.String()),
		otlptracehttp.WithHeaders(map[string]string{}),
		otlptracehttp.WithCompression(otlptracehttp.GzipCompression),
		otlptracehttp.WithHTTPClient(&http.Client{
			Transport: withHeaders{transport, cfg.Headers}, Timeout: tryTime,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // headers are for the endpoint
		}),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: true, InitialInterval: firstPause, MaxInterval: maxPause, MaxElapsedTime: tryFor}),
	)
	return func(ctx context.Context, all *tracepb.ResourceSpans) error {
		return client.UploadTraces(ctx, []*tracepb.ResourceSpans{all})
	}, nil
}

// authorities are those whose certificates count; nil: the system's.
func authorities(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // documented
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("ca: %s has no certificate in PEM; give the file of your authority", path)
	}
	return pool, nil
}

// withHeaders adds the headers of a file to each request; it reads the file each time, so that they may change.
type withHeaders struct {
	http.RoundTripper

	path string
}

func (w withHeaders) RoundTrip(request *http.Request) (*http.Response, error) {
	if w.path == "" {
		return w.RoundTripper.RoundTrip(request)
	}
	headers, err := ReadHeaders(w.path)
	if err != nil {
		return nil, err
	}
	request = request.Clone(request.Context())
	maps.Copy(request.Header, headers)
	return w.RoundTripper.RoundTrip(request)
}

// ReadHeaders reads a file with headers, which only its owner may read: lines "Name: value", and empty ones.
func ReadHeaders(path string) (http.Header, error) {
	data, err := fileguard.Secret(path, maxHeaders)
	if err != nil {
		return nil, err
	}
	return parseHeaders(path, data)
}

// parseHeaders reads the text of such a file.
func parseHeaders(path string, data []byte) (http.Header, error) {
	headers := http.Header{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if !ok || name == "" || strings.ContainsFunc(name, notOfNames) || strings.ContainsFunc(value, notOfValues) {
			return nil, fmt.Errorf("%s:%d: is not a header such as \"Authorization: Bearer TOKEN\"", path, n)
		}
		headers.Add(name, value)
	}
	return headers, lines.Err()
}

// notOfNames says whether a character is in no name of a header (RFC 9110, section 5.6.2).
func notOfNames(r rune) bool {
	return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}

// notOfValues says whether a character is in no value of a header.
func notOfValues(r rune) bool { return r < ' ' || r > '~' }
