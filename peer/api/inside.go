package api

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
)

// inside makes a client whose requests this server answers itself, in the name of a caller and with the caller's rights.
func (s *server) inside(who caller) *Client {
	c := &Client{at: "this peer", base: "http://peer", remote: who.remote(), limit: MaxBody}
	c.http.Transport = insider{s.answers, who}
	return c
}

// insider carries requests to a handler in the same process.
type insider struct {
	handler http.Handler
	who     caller
}

// RoundTrip implements [http.RoundTripper].
func (i insider) RoundTrip(r *http.Request) (response *http.Response, err error) {
	defer func() {
		if given := recover(); given != nil {
			if err, _ = given.(error); !errors.Is(err, http.ErrAbortHandler) {
				panic(given)
			}
			if ended := r.Context().Err(); ended != nil {
				err = ended
			}
		}
	}()
	inner := r.Clone(context.WithValue(r.Context(), callerKey{}, func() caller { return i.who }))
	inner.RemoteAddr = i.who.from
	answer := &answerBuffer{header: http.Header{}}
	i.handler.ServeHTTP(answer, inner)
	code := answer.code
	if code == 0 {
		code = http.StatusOK
	}
	return &http.Response{
		Status: strconv.Itoa(code) + " " + http.StatusText(code), StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: answer.header, Body: io.NopCloser(&answer.body), ContentLength: int64(answer.body.Len()), Request: r,
	}, nil
}

// answerBuffer keeps an answer.
type answerBuffer struct {
	header http.Header
	body   bytes.Buffer
	code   int
}

// Header implements [http.ResponseWriter].
func (a *answerBuffer) Header() http.Header { return a.header }

// Write implements [http.ResponseWriter].
func (a *answerBuffer) Write(p []byte) (int, error) { return a.body.Write(p) }

// WriteHeader implements [http.ResponseWriter].
func (a *answerBuffer) WriteHeader(code int) {
	if a.code == 0 {
		a.code = code
	}
}
