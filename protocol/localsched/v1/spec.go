package localschedv1

import (
	"math"

	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

func wireSpec(s *protocol.Spec) *Spec {
	r := shapeOf(&s.Request)
	return &Spec{
		Job: r.job, Cpus: r.cpus, Nodes: r.nodes, MemoryMb: r.memoryMB, WallTime: r.wallTime,
		Name: s.Name, User: s.User, Requeue: s.Requeue, Submitted: int64(s.Submitted), Mhz: int64(s.MHz),
		Mflops: int64(s.Mflops), Power: r.power, Data: s.Data, Like: r.like,
		DataOut: s.DataOut, Priority: s.Priority, ExpectedMs: int64(s.Expected),
		IntensityPpm: int64(s.Intensity), ComputingPpm: int64(s.Computing), DrawsPpm: int64(s.Draws), Layout: r.layout,
		Licences: wire.Convert(s.Licences, func(l protocol.Licence) *Licence {
			return &Licence{Name: l.Name, Count: int64(l.Count)}
		}),
		Sites: wire.Convert(s.Sites, func(site protocol.SiteName) string { return string(site) }),
	}
}

func readSpec(m *Spec) (protocol.Spec, error) {
	request, err := readRequest(shape{
		m.GetJob(), m.GetCpus(), m.GetNodes(), m.GetMemoryMb(), m.GetWallTime(), m.GetPower(), m.GetLike(),
		m.GetLayout(),
	})
	if err = wire.First(
		err,
		wire.AtMost("name", len(m.GetName()), wire.MaxJobName),
		wire.AtMost("user", len(m.GetUser()), wire.MaxUser),
		wire.AtMost("sites", len(m.GetSites()), wire.MaxJobSites),
		wire.Amount("submitted", m.GetSubmitted()),
		wire.Count("mhz", m.GetMhz()),
		wire.Count("mflops", m.GetMflops()),
		wire.Amount("data", m.GetData()),
		wire.Amount("data_out", m.GetDataOut()),
		wire.AtMost("priority", len(m.GetPriority()), wire.MaxPriority),
		wire.AtMost("licences", len(m.GetLicences()), wire.MaxLicences),
		wire.Share("intensity_ppm", m.GetIntensityPpm()),
		wire.Share("computing_ppm", m.GetComputingPpm()),
		wire.Power("draws_ppm", m.GetDrawsPpm()),
	); err != nil {
		return protocol.Spec{}, err
	}
	sites, err := wire.Decode("sites", m.GetSites(), func(name string) (protocol.SiteName, error) {
		return protocol.SiteName(name), protocol.SiteName(name).Validate()
	})
	if err != nil {
		return protocol.Spec{}, err
	}
	spec := protocol.Spec{
		Request: request, Name: m.GetName(), User: m.GetUser(), Sites: sites, Requeue: m.GetRequeue(),
		Submitted: protocol.Instant(m.GetSubmitted()), MHz: int(m.GetMhz()),
		Mflops: int(m.GetMflops()), Data: m.GetData(),
		DataOut: m.GetDataOut(), Licences: wire.Convert(m.GetLicences(), readLicence), Priority: m.GetPriority(),
		Expected: protocol.Duration(m.GetExpectedMs()), Intensity: int(m.GetIntensityPpm()), Computing: int(m.GetComputingPpm()),
		Draws: int(m.GetDrawsPpm()),
	}
	return spec, wire.First(wire.Licences("licences", spec.Licences), wire.Foreseen(&spec))
}

// readLicence keeps a count that does not fit as one that no check passes.
func readLicence(m *Licence) protocol.Licence {
	n := m.GetCount()
	if n > math.MaxInt32 {
		n = 0
	}
	return protocol.Licence{Name: m.GetName(), Count: int(n)}
}

func wirePayload(p *protocol.Payload) *Payload {
	if p == nil {
		return nil
	}
	return &Payload{
		Script: p.Script, Args: wire.Blobs(p.Args), Env: wire.Blobs(p.Env),
		WorkDir: []byte(p.WorkDir), Stdout: []byte(p.Stdout), Stderr: []byte(p.Stderr),
	}
}

func checkPayload(m *Payload) error {
	return wire.First(
		wire.AtMost("script", len(m.GetScript()), wire.MaxScript),
		wire.AtMost("args", len(m.GetArgs()), wire.MaxArgs),
		wire.AtMost("env", len(m.GetEnv()), wire.MaxArgs),
		wire.UnixString("work_dir", string(m.GetWorkDir()), wire.MaxPath),
		wire.UnixString("stdout", string(m.GetStdout()), wire.MaxPath),
		wire.UnixString("stderr", string(m.GetStderr()), wire.MaxPath),
		wire.Each("args", m.GetArgs(), func(arg []byte) error {
			return wire.UnixString("argument", string(arg), math.MaxInt)
		}),
		wire.Each("env", m.GetEnv(), func(pair []byte) error { return wire.Env(string(pair), math.MaxInt) }),
	)
}
