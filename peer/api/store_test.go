package api

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shelf is a database of one file.
type shelf struct {
	path     string
	verified bool
}

func (s *shelf) Snapshot() (*os.File, error) { return os.Open(s.path) }

func (s *shelf) Inspect(verify bool) (StoreReport, error) {
	s.verified = verify
	return StoreReport{Path: s.path}, nil
}

func (s *shelf) Compact() (Compacted, error) { return Compacted{}, errors.New("the disk is full") }

// TestStoreIsForAdministrators: of the database, which has scripts and environments of all users, root and the peer's account alone get
// anything, at the socket; not the users of [api] admins.
func TestStoreIsForAdministrators(t *testing.T) {
	t.Parallel()
	content := bytes.Repeat([]byte("row"), 1_000_000)
	database := &shelf{path: filepath.Join(t.TempDir(), "db")}
	if err := os.WriteFile(database.path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	ask := func(who caller, method, path string) *httptest.ResponseRecorder {
		ctx := context.WithValue(t.Context(), callerKey{}, func() caller { return who })
		answer := httptest.NewRecorder()
		config := Config{Node: town{}, Log: discard(), Admins: []string{"ops"}, Database: database}
		(&server{Config: config}).routes().ServeHTTP(answer, httptest.NewRequestWithContext(ctx, method, path, nil))
		return answer
	}
	root := caller{user: "root", admin: true}
	for _, request := range []string{"GET /v1/store", "POST /v1/store/backup", "POST /v1/store/compact"} {
		method, path, _ := strings.Cut(request, " ")
		for _, who := range []caller{{user: "ann"}, {user: "ops"}, {user: "root", admin: true, pass: &pass{}}} {
			if got := ask(who, method, path); got.Code != http.StatusForbidden {
				t.Errorf("%s of %s: %d %.200s", request, who.user, got.Code, got.Body)
			}
		}
	}
	if got := ask(root, http.MethodPost, "/v1/store/backup"); got.Code != http.StatusOK || !bytes.Equal(got.Body.Bytes(), content) {
		t.Errorf("backup: %d, %d bytes", got.Code, got.Body.Len())
	}
	if got := ask(root, http.MethodGet, "/v1/store?verify=true"); got.Code != http.StatusOK || !database.verified {
		t.Errorf("verify: %d %s", got.Code, got.Body)
	}
	if got := ask(root, http.MethodGet, "/v1/store?verify=maybe"); got.Code != http.StatusBadRequest {
		t.Errorf("verify=maybe: %d %s", got.Code, got.Body)
	}
	if got := ask(root, http.MethodPost, "/v1/store/compact"); got.Code != http.StatusServiceUnavailable || !strings.Contains(got.Body.String(), "the disk is full") {
		t.Errorf("compact: %d %s", got.Code, got.Body)
	}
}
