package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/audit"
)

// late is a response that looks at the audit log as soon as anything is written to it.
type late struct {
	*httptest.ResponseRecorder

	path    string
	entries int // bytes of them, at the first write; -1: nothing was written
}

func (l *late) Write(p []byte) (int, error) {
	if l.entries < 0 {
		data, _ := os.ReadFile(l.path)
		l.entries = len(data)
	}
	return l.ResponseRecorder.Write(p)
}

// What was carried out, or refused, is in the audit log before any of the answer goes out.
func TestRecordedBeforeAnswered(t *testing.T) {
	t.Parallel()
	database := &shelf{path: filepath.Join(t.TempDir(), "db")}
	if err := os.WriteFile(database.path, []byte("rows"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, handle := range map[string]handler{
		"done":    func(w http.ResponseWriter, _ *http.Request, _ caller) error { return reply(w, http.StatusOK, "done") },
		"refused": func(http.ResponseWriter, *http.Request, caller) error { return refuse("denied", "no") },
		"backup": func(w http.ResponseWriter, r *http.Request, _ caller) error {
			return (&server{Config: Config{Database: database}}).backupStore(w, r, caller{user: "root", admin: true})
		},
	} {
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		log, err := audit.Open(audit.Config{Path: path, MaxSize: 1 << 20, Files: 1, Log: discard(), Lost: func() {}})
		if err != nil {
			t.Fatal(err)
		}
		s := &server{Config: Config{Audit: log, Log: discard()}}
		r := httptest.NewRequestWithContext(
			context.WithValue(t.Context(), callerKey{}, func() caller { return caller{user: "ann"} }), http.MethodPost, "/v1/jobs/7/hold", nil,
		)
		w := &late{httptest.NewRecorder(), path, -1}
		s.answer(route{pattern: "POST /v1/jobs/{id}/hold", handle: handle})(w, r)
		if err = log.Close(); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil || len(data) == 0 || w.entries != len(data) {
			t.Errorf("%s: the log has %d bytes when the answer begins, and %d in the end (%v)", name, w.entries, len(data), err)
		}
	}
}
