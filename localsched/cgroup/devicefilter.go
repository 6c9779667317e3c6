package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// cgroup v2 has no controller devices. The kernel instead asks the programs that are attached to a group
// whether its processes may open a device. A program stays with its group until that is removed, and needs
// no process to keep it.

// openFilter finds or makes the group below which jobs get those that close devices in cgroup v2, and attaches
// to it for a moment a program that closes nothing that there is, to see whether it can be done.
func openFilter(mounts []mount, own map[string]string, parent Group, where, name string) (dir string, err error) {
	if dir = parent.Unified; dir == "" {
		m, ok := hierarchy(mounts, unified)
		if dir = m.dir(groupAt(where, own[unified])); !ok || dir == "" {
			return "", errors.New("the machine has no hierarchy of cgroup v2")
		}
		dir = filepath.Join(dir, name)
		if err = os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // as all groups are
			return "", err
		}
	}
	program, err := attachFilter(dir, []device{{}}) // no device has these numbers
	if err == nil {
		err = errors.Join(detachFilter(dir, program), program.Close())
	}
	if err != nil && dir != parent.Unified {
		_ = unix.Rmdir(dir)
	}
	return dir, err
}

// attachFilter closes devices to the processes of a group of cgroup v2, and of those below it. The program that
// it returns may be closed.
func attachFilter(dir string, closed []device) (*ebpf.Program, error) {
	group, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer group.Close() //nolint:errcheck // it was only read
	program, err := loadFilter(closed)
	if err != nil {
		return nil, fmt.Errorf("load a program that closes devices: %w", err)
	}
	on := link.RawAttachProgramOptions{
		Target: int(group.Fd()), Program: program, Attach: ebpf.AttachCGroupDevice,
		Flags: unix.BPF_F_ALLOW_MULTI, // those of systemd and of containers hold as well
	}
	if err = link.RawAttachProgram(on); err != nil {
		return nil, errors.Join(fmt.Errorf("attach a program that closes devices to %s: %w", dir, err), program.Close())
	}
	return program, nil
}

// detachFilter opens what [attachFilter] has closed.
func detachFilter(dir string, program *ebpf.Program) error {
	group, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer group.Close() //nolint:errcheck // it was only read
	return link.RawDetachProgram(link.RawDetachProgramOptions{Target: int(group.Fd()), Program: program, Attach: ebpf.AttachCGroupDevice})
}

// loadFilter gives a filter to the kernel. Kernels before 5.11 count programs as locked memory.
func loadFilter(closed []device) (*ebpf.Program, error) {
	spec := &ebpf.ProgramSpec{Name: "switchyard_dev", Type: ebpf.CGroupDevice, Instructions: filter(closed), License: "Apache-2.0"}
	program, err := ebpf.NewProgram(spec)
	if !errors.Is(err, unix.EPERM) {
		return program, err
	}
	unlimited := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	if unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unlimited) != nil {
		return nil, err
	}
	return ebpf.NewProgram(spec)
}

// filter is a program that returns 0 for the devices that are closed, whatever is to be done with them, and 1
// for all others. It reads a struct bpf_cgroup_dev_ctx.
func filter(closed []device) asm.Instructions {
	const refused = "refused"
	program := asm.Instructions{
		asm.LoadMem(asm.R2, asm.R1, 0, asm.Word), // kind, and above it what is to be done
		asm.And.Imm(asm.R2, 0xffff),
		asm.LoadMem(asm.R3, asm.R1, 4, asm.Word), // major
		asm.LoadMem(asm.R4, asm.R1, 8, asm.Word), // minor
	}
	label := func(i int) string { return fmt.Sprintf("device%d", i) }
	for i, one := range closed {
		kind := int32(unix.BPF_DEVCG_DEV_CHAR)
		if one.block {
			kind = unix.BPF_DEVCG_DEV_BLOCK
		}
		program = append(program,
			asm.JNE.Imm(asm.R2, kind, label(i+1)).WithSymbol(label(i)),
			asm.JNE.Imm(asm.R3, int32(one.major), label(i+1)), //nolint:gosec // of 12 bits
			asm.JEq.Imm(asm.R4, int32(one.minor), refused),    //nolint:gosec // of 20 bits
		)
	}
	return append(program,
		asm.Mov.Imm(asm.R0, 1).WithSymbol(label(len(closed))), asm.Return(),
		asm.Mov.Imm(asm.R0, 0).WithSymbol(refused), asm.Return(),
	)
}
