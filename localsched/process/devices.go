package process

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Device is a device of this machine, such as a GPU, that one job has at a time.
type Device struct {
	Name  string `json:"name"`           // of the resource that jobs ask for
	Type  string `json:"type,omitempty"` // empty: none
	Index int    `json:"index"`          // among those of the name
	File  string `json:"file,omitempty"` // empty: it has none
}

// deviceKey identifies a device.
type deviceKey struct {
	name  string
	index int
}

func (d Device) key() deviceKey { return deviceKey{d.Name, d.Index} }

func compareDevices(a, b Device) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Index, b.Index))
}

// checkDevices says whether the capacity states the devices, which the engine counts by it.
func (c Config) checkDevices() error {
	if len(c.Devices) == 0 {
		return nil
	}
	if c.Capacity.Nodes != 1 || len(c.Capacity.Groups) != 1 {
		return errors.New("the process scheduler gives devices on a machine with one node only")
	}
	node, known := &c.Capacity.Groups[0], map[deviceKey]bool{}
	stated := 0
	for _, one := range node.Resources {
		stated += one.Count
	}
	for _, d := range c.Devices {
		if known[d.key()] {
			return fmt.Errorf("the process scheduler has the device %s %d twice", d.Name, d.Index)
		}
		known[d.key()] = true
	}
	if stated != len(c.Devices) {
		return fmt.Errorf("the process scheduler has %d devices, and its capacity states %d", len(c.Devices), stated)
	}
	return nil
}

// warnOfDevices logs the device files that are not there.
func (s *Scheduler) warnOfDevices() {
	for _, d := range s.config.Devices {
		if reason := MissingDevice(d.File); reason != "" {
			s.config.Log.Warn("device_missing", "device", d.Name, "index", d.Index, "why", reason,
				"advice", "load its driver, or remove it from [localsched.devices]; jobs are given it all the same")
		}
	}
}

// MissingDevice says why a path is no device file; empty: it is one, or the path is empty.
func MissingDevice(path string) (reason string) {
	if path == "" {
		return ""
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path + " does not exist"
	case err != nil:
		return err.Error()
	case info.Mode()&fs.ModeDevice == 0:
		return path + " is not a device file"
	}
	return ""
}

// giveDevices gives a job that the engine has started the free devices with the lowest indexes,
// unless it has them already. It returns what is missing, if anything. The lock is held.
//
// Invariant: a device is given to one job at a time, from before the file place names it until after
// the job's processes have ended, over restarts of the peer. TestDevicesOverKills checks it.
//
// The engine never starts more jobs than there are devices. Nevertheless one may be missing: a job that
// an earlier configuration has given it runs outside the plan.
func (s *Scheduler) giveDevices(j *job) (missing string) {
	if j.hasDevices || j.state != starting { // one that was withdrawn meanwhile needs none, and nothing would take them back
		return ""
	}
	var given []Device
	for _, asked := range j.Resources {
		left := asked.Count
		for _, d := range s.config.Devices {
			if d.Name != asked.Name || d.Type != asked.Type || left == 0 || s.devices[d.key()] != nil {
				continue
			}
			given = append(given, d)
			left--
		}
		if left > 0 && s.namesDevice(asked) {
			return fmt.Sprintf("%d of its devices %s are in use by jobs that no longer fit the configuration", left, asked.Kind())
		}
	}
	if j.Exclusive { // no other job runs beside it
		given = slices.DeleteFunc(slices.Clone(s.config.Devices), func(d Device) bool { return s.devices[d.key()] != nil })
	}
	slices.SortFunc(given, compareDevices)
	s.holdDevices(j, given)
	return ""
}

// namesDevice says whether a resource is of devices, and not of something that is only counted.
func (s *Scheduler) namesDevice(r protocol.Resource) bool {
	return slices.ContainsFunc(s.config.Devices, func(d Device) bool { return d.Name == r.Name && d.Type == r.Type })
}

// holdDevices enters that a job has devices. The lock is held.
func (s *Scheduler) holdDevices(j *job, devices []Device) {
	j.devices, j.hasDevices = devices, true
	for _, d := range devices {
		s.devices[d.key()] = j
	}
}

// freeDevices takes back what a job has that is over. The lock is held.
func (s *Scheduler) freeDevices(j *job) {
	for _, d := range j.devices {
		if s.devices[d.key()] == j {
			delete(s.devices, d.key())
		}
	}
	j.devices, j.hasDevices = nil, false
}

// claimPrefix begins the name of the directory in which a shim writes the file started of a job
// with devices, before it links that into the job's directory.
const claimPrefix = "claim."

// makeClaim makes that directory, with a name of its own for each start.
func makeClaim(jobDir string) (name string, err error) {
	name = claimPrefix + rand.Text()
	if err = os.Mkdir(filepath.Join(jobDir, name), 0o700); err != nil {
		return "", fmt.Errorf("prepare the start of a job with devices: %w", err)
	}
	return name, nil
}

// withdrawClaim keeps a shim that an earlier peer has started, and that has not claimed its job
// yet, from doing so ever: it can no longer write what it would link. Otherwise it could start the
// job with devices that another job has been given meanwhile. If the shim was faster, the file
// started is there afterwards.
func withdrawClaim(jobDir string) error {
	where, err := spool.ReadRecord[placeRecord](jobDir, placedFile)
	if errors.Is(err, fs.ErrNotExist) || err == nil && where.Claim == "" {
		return nil
	}
	if err != nil {
		return err
	}
	// Renamed first, since a directory in which the shim has just written would not be removed.
	claim := filepath.Join(jobDir, where.Claim)
	gone := filepath.Join(jobDir, "."+where.Claim)
	if err = os.Rename(claim, gone); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// A link that the shim is about to make fails only when what it would link is gone.
	return os.RemoveAll(gone)
}

// gpuVariables are the variables in which programs look for their GPUs, on a machine with GPUs. Drivers
// number from 0 those that the job can open: all but the files that are closed to it. A job without GPUs
// sees none.
func (p placeRecord) gpuVariables(closed []string) []string {
	isGPU := func(d Device) bool { return d.Name == protocol.GPU }
	if !slices.ContainsFunc(p.Devices, isGPU) && !slices.ContainsFunc(p.Others, isGPU) {
		return nil
	}
	var indexes, visible []string
	for _, d := range p.Devices {
		if !isGPU(d) {
			continue
		}
		hidden := 0
		for _, other := range p.Others {
			if isGPU(other) && other.Index < d.Index && slices.Contains(closed, other.File) {
				hidden++
			}
		}
		visible = append(visible, strconv.Itoa(d.Index-hidden))
		indexes = append(indexes, strconv.Itoa(d.Index))
	}
	list := strings.Join(visible, ",")
	// The order of CUDA is otherwise that of the devices' speed, and not that of their files.
	env := []string{"CUDA_DEVICE_ORDER=PCI_BUS_ID", "CUDA_VISIBLE_DEVICES=" + list, "ROCR_VISIBLE_DEVICES=" + list}
	if len(indexes) > 0 {
		env = append(env, "SLURM_JOB_GPUS="+strings.Join(indexes, ","), "SLURM_GPUS_ON_NODE="+strconv.Itoa(len(indexes)))
	}
	return env
}

// toClose lists the files of devices that a job must not open.
func (p placeRecord) toClose() (files []string) {
	for _, d := range p.Others {
		if d.File != "" {
			files = append(files, d.File)
		}
	}
	return files
}

// otherDevices are those that a job has not been given. The lock is held.
func (s *Scheduler) otherDevices(j *job) []Device {
	return slices.DeleteFunc(slices.Clone(s.config.Devices), func(d Device) bool { return s.devices[d.key()] == j })
}
