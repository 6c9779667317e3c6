package witness

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
)

// machineID names the computer; it is made when the system is installed.
const machineID = "/etc/machine-id"

// Machine describes where a directory is: the computer, hashed with the site's first key since its
// identity must not be revealed to other sites, and the directory's inode, which a copy does not share.
// A name that the administrator gives stands for both, for sites that move between machines.
// It is empty where nothing is known.
func Machine(publicKey, dir, name string) (string, error) {
	if name != "" {
		return fmt.Sprintf("the machine named %q", name), nil
	}
	return machineOf(publicKey, dir, machineID)
}

func machineOf(publicKey, dir, idFile string) (string, error) {
	var parts []string
	if id, err := os.ReadFile(idFile); err == nil && len(strings.TrimSpace(string(id))) > 0 {
		sum := sha256.Sum256([]byte(strings.TrimSpace(string(id)) + "\x00" + publicKey))
		parts = append(parts, fmt.Sprintf("machine %x", sum[:6]))
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", fmt.Errorf("state directory: %w", err)
	}
	if inode := inodeOf(info); inode != 0 {
		parts = append(parts, fmt.Sprintf("directory inode %d", inode))
	}
	return strings.Join(parts, ", "), nil
}
