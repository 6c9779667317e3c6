package api

import (
	_ "embed" // see below
	"net/http"
)

// openAPI describes the requests and answers in OpenAPI 3.1. TestOpenAPI writes it from the Go types.
//
//go:embed openapi.json
var openAPI []byte

func (*server) openAPI(w http.ResponseWriter, _ *http.Request, _ caller) error {
	w.Header().Set("Content-Type", "application/json")
	_, err := w.Write(openAPI)
	return err
}
