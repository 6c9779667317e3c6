package python_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/plugins/sdk/python"
)

// TestMessages: the Python code of the messages is that of their .proto files.
func TestMessages(t *testing.T) {
	t.Parallel()
	version, err := exec.CommandContext(t.Context(), "protoc", "--version").Output()
	switch {
	case err != nil && os.Getenv("CI") == "true":
		t.Fatalf("missing: protoc (Debian: protobuf-compiler): %v", err)
	case err != nil:
		t.Skipf("missing: protoc (Debian: protobuf-compiler): %v", err)
	case !strings.HasPrefix(string(version), "libprotoc 3.21."):
		t.Skipf("%s writes other code than 3.21", strings.TrimSpace(string(version)))
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "./generate.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("generate.sh: %v\n%s", err, out)
	}
	for _, name := range []string{"plugin_pb2.py", "policy_pb2.py"} {
		want, wantErr := os.ReadFile(filepath.Join(dir, name))
		got, gotErr := python.Files.ReadFile("switchyard_plugin/" + name)
		if gotErr != nil || wantErr != nil || string(got) != string(want) {
			t.Errorf("%s is out of date (%v, %v); run make generate", name, gotErr, wantErr)
		}
	}
}
