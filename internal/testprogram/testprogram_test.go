package testprogram_test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testprogram"
)

// TestWrittenProgramsRun writes programs and runs each at once, while others are started.
func TestWrittenProgramsRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 40 {
				path := filepath.Join(dir, strconv.Itoa(i)+"."+strconv.Itoa(j%2))
				testprogram.Write(t, path, "#!/bin/sh\necho "+strconv.Itoa(j)+"\n")
				out, err := exec.CommandContext(t.Context(), path).Output()
				if want := strconv.Itoa(j) + "\n"; err != nil || string(out) != want {
					t.Errorf("%q, %v, want %q", out, err, want)
				}
			}
		})
	}
	all.Wait()
}
