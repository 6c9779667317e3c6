package workload_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/workload"
)

// sharedTrace returns a file of the data that is shared beside the checkout.
func sharedTrace(tb testing.TB, name string) []byte {
	tb.Helper()
	path := filepath.Join("..", "..", "..", "shared", "data", "traces", name)
	data, err := os.ReadFile(path)
	if err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatal(err)
		}
		tb.Skip(err)
	}
	return data
}

func readShared(tb testing.TB, name string) *workload.Trace {
	tb.Helper()
	return readTrace(tb, name, sharedTrace(tb, name))
}

func readTrace(tb testing.TB, name string, data []byte) *workload.Trace {
	tb.Helper()
	trace, err := workload.ReadSWF(bytes.NewReader(data), workload.ReadOptions{Name: name})
	if err != nil {
		tb.Fatal(err)
	}
	return trace
}
