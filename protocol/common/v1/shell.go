package commonv1

import (
	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

func encodeShell(s *protocol.Shell) *Shell {
	if s == nil {
		return nil
	}
	return &Shell{
		Host: s.Host, Umask: int64(s.Umask),
		Limits: wire.Convert(s.Limits, func(one protocol.ResourceLimit) *ResourceLimit {
			return &ResourceLimit{Name: one.Name, Soft: one.Soft}
		}),
	}
}

func decodeShell(m *Shell) *protocol.Shell {
	if m == nil {
		return nil
	}
	return &protocol.Shell{
		Host: m.GetHost(), Umask: wire.Narrow(m.GetUmask()),
		Limits: wire.Convert(m.GetLimits(), func(one *ResourceLimit) protocol.ResourceLimit {
			return protocol.ResourceLimit{Name: one.GetName(), Soft: one.GetSoft()}
		}),
	}
}
