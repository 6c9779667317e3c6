// Package testprogram writes programs that the tests of several packages run.
package testprogram

import (
	"os"
	"syscall"
	"testing"
)

// Write writes an executable file, over one that is there. No process is forked meanwhile: it
// would hold the file open for a moment, and a program that is open for writing cannot be run:
// "text file busy". A test that fails to write it ends.
func Write(t testing.TB, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte(text), 0o755) //nolint:gosec // a program that jobs of other accounts may run
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
}
