package pluginhost

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/switchyard-hpc/switchyard/plugins/sdk"
)

// SpecOf is the spec of a plugin that somebody names by its file: this file is the pinned
// one. Config is the path of its configuration; empty: it has none.
func SpecOf(path, config string, host sdk.Host) (spec Spec, err error) {
	spec = Spec{Name: path, Host: host}
	if spec.Path, err = filepath.Abs(path); err != nil {
		return spec, err
	}
	if spec.SHA256, err = SumOf(spec.Path); err != nil {
		return spec, err
	}
	err = spec.ReadConfig(config)
	return spec, err
}

// SumOf is the SHA-256 of a file, in hexadecimal.
func SumOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // read only
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Start starts a plugin and waits until it is up. What it writes goes to w. The plugin is to
// be closed.
func Start(ctx context.Context, spec Spec, w io.Writer) (*Plugin, error) {
	started, err := Open(spec, slog.New(slog.NewTextHandler(w, nil))) //nolint:contextcheck // it runs until it is closed
	if err != nil {
		return nil, err
	}
	if err := started.Wait(ctx); err != nil {
		why := started.Status().Failure
		return nil, errors.Join(fmt.Errorf("%s: %s", spec.Name, why), started.Close())
	}
	return started, nil
}

// Kinds lists the kinds of plugins.
func Kinds() []string {
	return []string{string(PolicyKind), string(SchedulerKind), string(FeedKind)}
}
