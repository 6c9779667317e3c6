package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/switchyard-hpc/switchyard/peer/view"
)

// ErrUnreachable says that no peer answers at the socket.
var ErrUnreachable = errors.New("cannot reach the peer")

// ErrSilent says that a peer took a request and did not begin to answer it. It is an [ErrUnreachable].
var ErrSilent = fmt.Errorf("%w: it does not answer", ErrUnreachable)

// Error is a refusal, as a client gets it. Its Code says what to do about it.
type Error struct{ view.Refusal }

func (e *Error) Error() string { return e.Reason }

// refuser is an error that carries a refusal.
type refuser interface {
	error
	Refusal() view.Refusal
}

// refuse makes an error that is a refusal.
func refuse(code view.RefusalCode, format string, args ...any) error {
	return refusal{view.Refusal{Code: code, Reason: fmt.Sprintf(format, args...)}}
}

type refusal struct{ why view.Refusal }

func (r refusal) Error() string         { return r.why.Reason }
func (r refusal) Refusal() view.Refusal { return r.why }

// crowded refuses a request that is to come again in a second, since there are too many at a time.
func crowded(format string, args ...any) error {
	return crowdedError{refusal{view.Refusal{Code: view.Unavailable, Reason: fmt.Sprintf(format, args...)}}}
}

type crowdedError struct{ refusal }

// refusalOf turns an error into what callers get. One that is no refusal is a
// trouble of the moment.
func refusalOf(err error) view.Refusal {
	if exceeded, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(exceeded.Limit)
	}
	if r, ok := errors.AsType[refuser](err); ok {
		return r.Refusal()
	}
	return view.Refusal{Code: view.Unavailable, Reason: err.Error()}
}

func tooLarge(limit int64) view.Refusal {
	return view.Refusal{
		Code:   view.BadRequest,
		Reason: fmt.Sprintf("the request has more than %d bytes; submit fewer jobs at once", limit),
	}
}

// StatusOf is the status of HTTP with which requests are refused for a reason.
func StatusOf(code view.RefusalCode) int {
	switch code {
	case view.BadRequest:
		return http.StatusBadRequest
	case view.NotFound:
		return http.StatusNotFound
	case view.Denied:
		return http.StatusForbidden
	case view.NoSite:
		return http.StatusUnprocessableEntity
	case view.Conflict:
		return http.StatusConflict
	case view.Unavailable:
	}
	return http.StatusServiceUnavailable
}

// reply writes a value as JSON.
func reply(w http.ResponseWriter, code int, value any) error {
	if noted, ok := w.(*noted); ok {
		noted.answered(value)
	}
	w.Header().Set("Content-Type", "application/json")
	if keepValue(w, code, value) {
		return nil
	}
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	w.WriteHeader(code)
	_, err = w.Write(append(data, '\n'))
	return err
}
