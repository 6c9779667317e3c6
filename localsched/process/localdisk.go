package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// checkLocal refuses a spool on a network file system: link(2) may win twice
// there when an answer is lost, and two peers may hold one lock.
func checkLocal(dir string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return fmt.Errorf("which file system: %w", err)
	}
	if name := networkFS(int64(st.Type) & 0xffffffff); name != "" { //nolint:unconvert // its type differs between architectures
		return fmt.Errorf("it is on %s, where a job could start twice; choose a folder on a disk of this machine", name)
	}
	return nil
}

// networkFS names network file systems by their magic numbers, which are from
// statfs(2) and the kernels' own headers; others are "".
func networkFS(magic int64) string {
	switch magic {
	case unix.NFS_SUPER_MAGIC:
		return "NFS"
	case 0x0bd00bd0:
		return "Lustre"
	case 0x47504653:
		return "GPFS"
	case 0x19830326:
		return "BeeGFS"
	case unix.CEPH_SUPER_MAGIC:
		return "CephFS"
	case unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC:
		return "SMB"
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "AFS"
	case unix.V9FS_MAGIC:
		return "9P"
	case 0xaad7aaea:
		return "PanFS"
	case unix.FUSE_SUPER_MAGIC:
		return "FUSE"
	}
	return ""
}
