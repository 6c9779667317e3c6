package slurm_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// exposition is of a node whose two CPUs were busy for a second each.
const exposition = `node_cpu_seconds_total{cpu="0",mode="user"} 1
node_cpu_seconds_total{cpu="0",mode="idle"} 9
node_cpu_seconds_total{cpu="1",mode="system"} 1
`

// TestFetchNode: from a file and from an exporter, and no further than to that.
func TestFetchNode(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/metrics":
		case "/moved":
			http.Redirect(w, r, "/metrics", http.StatusFound)
			return
		default:
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, exposition)
	}))
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "node.prom")
	if err := os.WriteFile(path, []byte(exposition), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{server.URL + "/metrics", path} {
		if node, err := slurm.FetchNode(t.Context(), source); err != nil || node.Busy != 2*protocol.Second {
			t.Errorf("%s: %+v, %v", source, node, err)
		}
	}
	for source, words := range map[string]string{
		server.URL + "/":        "404",
		server.URL + "/moved":   "302",
		path + ".no":            "no such file",
		"http://127.0.0.1:0/":   "dial",
		"http://\x7f":           "invalid",
		filepath.Dir(path) + "": "directory",
	} {
		if _, err := slurm.FetchNode(t.Context(), source); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v does not say %q", source, err, words)
		}
	}
}
