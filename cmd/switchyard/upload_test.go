package main

import (
	"archive/tar"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// answeredBy is an app whose peer answers so.
func answeredBy(t *testing.T, answer http.HandlerFunc) *app {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{ReadHeaderTimeout: time.Minute, Handler: answer}
	go func() { _ = web.Serve(listener) }() // ends with the test
	t.Cleanup(func() { _ = web.Close() })
	a := newApp()
	a.peer = api.Dial(socket)
	t.Cleanup(a.peer.Close)
	return a
}

// What another site says of files that do not come is escaped.
func TestMissingFilesAreEscaped(t *testing.T) {
	t.Parallel()
	a := answeredBy(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "Switchyard-Missing")
		_ = tar.NewWriter(w).Close() // the command says what does not come
		w.Header().Set("Switchyard-Missing", strconv.QuoteToASCII("\x1b[2Jrun.log is not there"))
	})
	err := a.fetch(t.Context(), protocol.JobName{Job: 1_000_000_000_042}, []string{"run.log"}, t.TempDir())
	if err == nil || strings.Contains(err.Error(), "\x1b") || !strings.Contains(err.Error(), "run.log is not there") {
		t.Errorf("%q", err)
	}
}

// Files go to the directory of each job that names them, and only those that it names.
func TestUploads(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, content := range map[string]string{"a": "1", "b": "22"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := answeredBy(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"site":"there","max_upload_bytes":1000000,"max_staging_bytes":1000000}`)) // the command says what does not come
	})
	other := filepath.Join(dir, "a")
	job := func(workDir string, out []string, in ...string) batchscript.Job {
		one := batchscript.Job{Job: protocol.Job{Payload: &protocol.Payload{WorkDir: workDir}}, StageIn: in}
		if len(out) > 0 {
			one.Payload.Staging = &protocol.Staging{Out: out}
		}
		return one
	}
	batch := batchscript.Batch{Jobs: []batchscript.Job{job(other, nil, "b"), job("/x", []string{"out"}, other+":a", "b"), job("/x", []string{"out"}), job("/x", nil, other, "b")}}
	uploads, err := a.findUploads(t.Context(), batch)
	if err != nil || len(uploads) != 3 {
		t.Fatalf("%+v, %v", uploads, err)
	}
	for i, want := range []struct {
		dir   string
		files int
	}{{other, 1}, {"/x", 2}, {"/x", 2}} {
		if got := uploads[i]; got.dir != want.dir || len(got.files.Files.Inputs) != want.files {
			t.Errorf("%s gets %+v", got.dir, got.files.Files.Inputs)
		}
	}
	for i, want := range []bool{true, false, false} { // links of what comes back are seen at the site alone
		if got := batch.Jobs[i].Payload.SharedBy([]string{"/x", dir}, []string{"/x", dir}); got != want {
			t.Errorf("job %d runs in place: %v", i, got)
		}
	}
}
