package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/peer/gossip"
	"github.com/switchyard-hpc/switchyard/peer/identity"
)

func (a *app) keygenCommand() *cobra.Command {
	var out, ring string
	cmd := &cobra.Command{
		Use:   "keygen (--out FILE | --gossip FILE)",
		Short: "Create a site's key, or a grid's gossip key",
		Long: "--out creates a site's key: FILE, which is secret and must stay at the site, and FILE.pub. The\n" +
			"public key is also printed; partners put it into their configurations. --gossip creates a keyring\n" +
			"file. All sites of a grid use the same keyring: \"switchyard keyring seal\" gives it to a partner.\n" +
			"Existing files are not overwritten.",
		Example: "  switchyard keygen --out /etc/switchyard/site.key\n" +
			"  switchyard keygen --gossip /etc/switchyard/gossip.keys",
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if out == "" && ring == "" {
				return usage("missing --out FILE for a site's key, or --gossip FILE for a gossip keyring")
			}
			if out != "" {
				if err := a.makeKey(out); err != nil {
					return err
				}
			}
			if ring == "" {
				return nil
			}
			return writeNew(ring, gossip.NewKey()+"\n", 0o600)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "file for the site's key")
	cmd.Flags().StringVar(&ring, "gossip", "", "file for the gossip keyring")
	return cmd
}

func (a *app) makeKey(path string) error {
	public, err := writeKey(path)
	if err == nil {
		a.printf("%s\n", public)
	}
	return err
}

// writeKey makes a site's key and writes its two files.
func writeKey(path string) (public string, err error) {
	seed, public, err := identity.GenerateKey()
	if err != nil {
		return "", fmt.Errorf("create a key: %w", err)
	}
	if err := identity.SaveKey(path, seed); err != nil {
		return "", err
	}
	return public, writeNew(path+".pub", public+"\n", 0o644)
}

// writeNew writes a file that must not be there yet. If that fails, there is none.
func writeNew(path, text string, mode fs.FileMode) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists; choose another name or move it away", path)
	}
	if err != nil {
		return fmt.Errorf("create %s: %w", path, cause(err))
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			_ = os.Remove(path)
		}
	}()
	if _, err = file.WriteString(text); err != nil {
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	return nil
}
