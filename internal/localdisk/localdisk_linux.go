// Package localdisk tells network file systems, on which locks, links and memory
// maps cannot be relied on, from disks of this machine.
package localdisk

import "syscall"

// NetworkFS names the network file system that the directory is on; empty for a
// local one. Magic numbers: statfs(2) and the kernels' own headers. FUSE is
// among them because what is behind it (sshfs, GlusterFS, JuiceFS) cannot be
// known.
func NetworkFS(dir string) (name string, err error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return "", err
	}
	return nameOf(int64(st.Type) & 0xffffffff), nil //nolint:unconvert // its type differs between architectures
}

func nameOf(magic int64) string {
	switch magic {
	case 0x6969:
		return "NFS"
	case 0x0bd00bd0:
		return "Lustre"
	case 0x47504653:
		return "GPFS"
	case 0x19830326:
		return "BeeGFS"
	case 0x00c36400:
		return "CephFS"
	case 0x517b, 0xff534d42, 0xfe534d42:
		return "SMB"
	case 0x5346414f, 0x6b414653:
		return "AFS"
	case 0x73757245:
		return "Coda"
	case 0x01021997:
		return "9P"
	case 0x7461636f:
		return "OCFS2"
	case 0x01161970:
		return "GFS2"
	case 0xaad7aaea:
		return "PanFS"
	case 0x20030528:
		return "OrangeFS"
	case 0x65735546:
		return "FUSE"
	}
	return ""
}
