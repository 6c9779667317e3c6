package api

import (
	_ "embed" // see below
	"net/http"
	"slices"
)

// openAPI describes the requests and answers in OpenAPI 3.1. TestOpenAPI writes it from the Go types.
//
//go:embed openapi.json
var openAPI []byte

// OpenAPI is the description of the requests and answers, in OpenAPI 3.1.
func OpenAPI() []byte { return slices.Clone(openAPI) }

// Tags are what requests are about, in the order in which people read them. Each request has one in the description.
func Tags() []string {
	return []string{"Jobs", "Files", "History", "Sites", "Events", "Peer", "Tokens"}
}

func (*server) openAPI(w http.ResponseWriter, _ *http.Request, _ caller) error {
	w.Header().Set("Content-Type", "application/json")
	_, err := w.Write(openAPI)
	return err
}
