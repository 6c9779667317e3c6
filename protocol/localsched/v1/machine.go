package localschedv1

import (
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// DecodeCapacity checks and converts a capacity, which has CPUs. The error names the field.
func DecodeCapacity(m *commonv1.Capacity) (protocol.Capacity, error) {
	c := commonv1.DecodeCapacity(m)
	return c, wire.First(wire.Present("capacity", m != nil), wire.Present("capacity.cpus", c.CPUs != 0), commonv1.CheckCapacity(c))
}

// EncodeLoad converts a load.
func EncodeLoad(l protocol.Load) *LoadResponse { return &LoadResponse{Load: commonv1.EncodeLoad(l)} }

// DecodeLoad checks and converts a load. The error names the field.
func DecodeLoad(m *LoadResponse) (protocol.Load, error) { return decodeLoad(m.GetLoad()) }

func decodeLoad(m *commonv1.Load) (protocol.Load, error) {
	load, err := commonv1.DecodeLoad(m)
	return load, wire.First(err, commonv1.CheckLoad(load))
}

// EncodeDescription converts what a scheduler says of itself.
func EncodeDescription(d localsched.Description) *DescribeResponse {
	return &DescribeResponse{Name: d.Name, Capacity: commonv1.EncodeCapacity(d.Capacity), Capabilities: d.Capabilities}
}

// DecodeDescription checks and converts what a scheduler says of itself. The error
// names the field.
func DecodeDescription(m *DescribeResponse) (localsched.Description, error) {
	capacity, err := DecodeCapacity(m.GetCapacity())
	if err = wire.First(wire.Required("name", m.GetName(), protocol.MaxName), err, checkCapabilities(m.GetCapabilities())); err != nil {
		return localsched.Description{}, wire.In("description", err)
	}
	return localsched.Description{Name: m.GetName(), Capacity: capacity, Capabilities: m.GetCapabilities()}, nil
}

func checkCapabilities(list []string) error {
	if err := wire.AtMost("capabilities", len(list), maxList); err != nil {
		return err
	}
	for i, one := range list {
		if err := wire.Required("name", one, protocol.MaxName); err != nil {
			return wire.In(wire.Entry("capabilities", i), err)
		}
		if i > 0 && list[i-1] >= one {
			return wire.Wrong(wire.Entry("capabilities", i), "%q does not sort after %q", one, list[i-1])
		}
	}
	return nil
}
