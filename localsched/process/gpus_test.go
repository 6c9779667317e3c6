package process

import (
	"slices"
	"testing"
)

// TestGPUNumbers: programs find a job's GPUs by the numbers that drivers give to those that the job can open.
func TestGPUNumbers(t *testing.T) {
	t.Parallel()
	gpu := func(index int, file string) Device { return Device{Name: "gpu", Index: index, File: file} }
	zero, one, two := gpu(0, "/dev/nvidia0"), gpu(1, "/dev/nvidia1"), gpu(2, "/dev/nvidia2")
	cases := map[string]struct {
		given, others []Device
		closed        []string
		visible       string
	}{
		"all others are closed":      {[]Device{one}, []Device{zero, two}, []string{"/dev/nvidia0", "/dev/nvidia2"}, "0"},
		"nothing is closed":          {[]Device{one}, []Device{zero, two}, nil, "1"},
		"one of two before is":       {[]Device{two}, []Device{zero, one}, []string{"/dev/nvidia1"}, "1"},
		"the site keeps one for it":  {[]Device{two}, []Device{one}, []string{"/dev/nvidia1"}, "1"},
		"counted, beside other kind": {[]Device{gpu(1, "")}, []Device{gpu(0, ""), {Name: "fpga", File: "/dev/xdma0"}}, []string{"/dev/xdma0"}, "1"},
		"two":                        {[]Device{zero, two}, []Device{one}, []string{"/dev/nvidia1"}, "0,1"},
	}
	for name, c := range cases {
		env := placeRecord{Devices: c.given, Others: c.others}.gpuVariables(c.closed)
		if !slices.Contains(env, "CUDA_VISIBLE_DEVICES="+c.visible) || !slices.Contains(env, "CUDA_DEVICE_ORDER=PCI_BUS_ID") {
			t.Errorf("%s: %q, want %s", name, env, c.visible)
		}
	}
}
