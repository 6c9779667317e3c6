package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/switchyard-hpc/switchyard/peer"
)

// ErrUnreachable says that no peer answers at the socket.
var ErrUnreachable = errors.New("no peer answers")

// Error is a refusal, as a client gets it. Its Code says what to do about it.
type Error struct{ peer.Refusal }

func (e *Error) Error() string { return e.Reason }

// refuser is an error that carries a refusal.
type refuser interface {
	error
	Refusal() peer.Refusal
}

// refuse makes an error that is a refusal.
func refuse(code peer.RefusalCode, format string, args ...any) error {
	return refusal{peer.Refusal{Code: code, Reason: fmt.Sprintf(format, args...)}}
}

type refusal struct{ why peer.Refusal }

func (r refusal) Error() string         { return r.why.Reason }
func (r refusal) Refusal() peer.Refusal { return r.why }

// refusalOf turns an error into what callers get. One that is no refusal is a
// trouble of the moment.
func refusalOf(err error) peer.Refusal {
	if exceeded, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(exceeded.Limit)
	}
	if r, ok := errors.AsType[refuser](err); ok {
		return r.Refusal()
	}
	return peer.Refusal{Code: peer.NotNow, Reason: err.Error()}
}

func tooLarge(limit int64) peer.Refusal {
	return peer.Refusal{
		Code:   peer.BadRequest,
		Reason: fmt.Sprintf("the request has more than %d bytes; submit fewer jobs at once", limit),
	}
}

func status(code peer.RefusalCode) int {
	switch code {
	case peer.BadRequest:
		return http.StatusBadRequest
	case peer.NotFound:
		return http.StatusNotFound
	case peer.Denied:
		return http.StatusForbidden
	case peer.NoSite:
		return http.StatusUnprocessableEntity
	case peer.NotNow:
	}
	return http.StatusServiceUnavailable
}

// reply writes a value as JSON.
func reply(w http.ResponseWriter, code int, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, err = w.Write(append(data, '\n'))
	return err
}
