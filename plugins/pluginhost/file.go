package pluginhost

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"

	plugin "github.com/hashicorp/go-plugin"

	"github.com/switchyard-hpc/switchyard/internal/fileguard"
)

// checkFile finds the plugin's file behind symbolic links, and says why it must not be
// run, if so. It is asked before every start: a file may change while the host runs.
func (s *Spec) checkFile() (file string, err error) {
	file, err = fileguard.Find(s.Path) // whoever may change a directory above it, or a link, chooses the file
	if err != nil {
		return "", fmt.Errorf("its file cannot be used: %w", unpath(err))
	}
	info, err := os.Stat(file)
	if err != nil {
		return "", fmt.Errorf("its file cannot be used: %w", unpath(err))
	}
	switch mode := info.Mode(); {
	case !mode.IsRegular():
		return "", errors.New("it is not a file")
	case mode.Perm()&0o111 == 0:
		return "", errors.New("its file is not executable: chmod +x")
	}
	what := "its file " + file
	return file, cmp.Or(fileguard.Owner(what, info), fileguard.Change(what, info), s.checkSum(file))
}

// checkSum says whether the file is the pinned one, if one is.
func (s *Spec) checkSum(file string) error {
	if s.SHA256 == "" {
		return nil
	}
	sum, err := hex.DecodeString(s.SHA256)
	if err != nil {
		return err
	}
	pinned := plugin.SecureConfig{Checksum: sum, Hash: sha256.New()}
	same, err := pinned.Check(file)
	if err != nil {
		return fmt.Errorf("its file cannot be read: %w", unpath(err))
	}
	if !same {
		return fmt.Errorf("its file is not the pinned one: the SHA-256 is not %s; put the file back, or pin the new one", s.SHA256)
	}
	return nil
}

// unpath takes the path out of an error whose message will contain it.
func unpath(err error) error {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		return of.Err
	}
	return err
}
