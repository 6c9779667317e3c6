package process

import (
	"fmt"

	"github.com/switchyard-hpc/switchyard/internal/localdisk"
)

// checkLocal refuses a spool on a network file system: link(2) may win twice
// there when an answer is lost, and two peers may hold one lock.
func checkLocal(dir string) error {
	name, err := localdisk.NetworkFS(dir)
	if err != nil {
		return fmt.Errorf("which file system: %w", err)
	}
	if name != "" {
		return fmt.Errorf("it is on %s, where a job could start twice; choose a directory on a disk of this machine", name)
	}
	return nil
}
