package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
		Header: answer.header, Body: answer, ContentLength: -1, Request: r,
	}, nil
}

// answerBuffer keeps an answer, and is its body.
type answerBuffer struct {
	header http.Header
	value  any // that the answer is in JSON; nil: it is in the body
	body   bytes.Buffer
	code   int
}

// keepValue keeps the value of an answer for a client in this process, to which it goes as it is: to encode and decode it took four
// fifths of what a page of 2,000 jobs cost. The client may read what the value has, which peer and pages share, and change nothing in it.
// false: the answer goes elsewhere.
func keepValue(w http.ResponseWriter, code int, value any) bool {
	for {
		switch to := w.(type) {
		case *answerBuffer:
			to.value = value
			to.WriteHeader(code)
			return true
		case interface{ Unwrap() http.ResponseWriter }:
			w = to.Unwrap()
		default:
			return false
		}
	}
}

// valueOf is the value of an answer that was kept; false: it is to be decoded.
func valueOf[A any](response *http.Response) (value A, ok bool) {
	if answer, inside := response.Body.(*answerBuffer); inside {
		value, ok = answer.value.(A)
	}
	return value, ok
}

// Read implements [io.Reader]: who knows another type of the answer gets it in JSON.
func (a *answerBuffer) Read(p []byte) (int, error) {
	if a.value != nil {
		if err := json.NewEncoder(&a.body).Encode(a.value); err != nil {
			return 0, fmt.Errorf("encode the answer: %w", err)
		}
		a.value = nil
	}
	return a.body.Read(p)
}

// Close implements [io.Closer].
func (*answerBuffer) Close() error { return nil }

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
