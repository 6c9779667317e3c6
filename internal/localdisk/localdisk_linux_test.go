package localdisk

import "testing"

func TestNetworkFileSystems(t *testing.T) {
	t.Parallel()
	for magic, want := range map[int64]string{
		0x6969: "NFS", 0x0bd00bd0: "Lustre", 0x47504653: "GPFS", 0x65735546: "FUSE", 0xfe534d42: "SMB",
		0xef53: "", 0x58465342: "", 0x9123683e: "", 0x01021994: "", 0x794c7630: "", 0x2fc12fc1: "", // ext4 xfs btrfs tmpfs overlay zfs
	} {
		if got := nameOf(magic); got != want {
			t.Errorf("%#x is %q, want %q", magic, got, want)
		}
	}
}
