package commonv1

import (
	"math"

	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// EncodeTag converts a tag.
func EncodeTag(t protocol.Tag) *Tag { return &Tag{Job: uint64(t.Job), Epoch: uint32(t.Epoch)} }

// DecodeTag converts a tag; an absent one becomes one that [CheckTag] refuses.
func DecodeTag(m *Tag) protocol.Tag {
	return protocol.Tag{Job: protocol.JobID(m.GetJob()), Epoch: protocol.Epoch(m.GetEpoch())}
}

// CheckTag checks that a tag names a placement. Whether its job is one of a site that can
// exist is not looked at: schedulers are also tried with others.
func CheckTag(t protocol.Tag) error {
	switch {
	case t == (protocol.Tag{}):
		return wire.Present("tag", false)
	case t.Job == 0:
		return wire.Wrong("tag.job", "is 0, which is no job's number")
	case t.Epoch == 0:
		return wire.Wrong("tag.epoch", "is 0; epochs start at 1")
	}
	return nil
}

// EncodeRequest converts the shape of a job.
func EncodeRequest(r protocol.Request) *Request {
	return &Request{
		Job: uint64(r.Job), Cpus: int64(r.CPUs), Nodes: int64(r.Nodes), MemoryMb: r.MemoryMB,
		WallTimeMs: wire.EncodeSpan(r.WallTime), PowerPpm: int64(r.Power), PowerClass: r.PowerClass, Layout: encodeLayout(r.Layout),
		Resources: wire.Convert(r.Resources, encodeResource), Features: r.Features, Exclusive: r.Exclusive,
		MinTimeMs: wire.EncodeSpan(r.MinTime), Priority: r.Priority,
	}
}

// DecodeRequest converts the shape of a job.
func DecodeRequest(m *Request) protocol.Request {
	return protocol.Request{
		Job: protocol.JobID(m.GetJob()), CPUs: wire.Narrow(m.GetCpus()), Nodes: wire.Narrow(m.GetNodes()),
		MemoryMB: m.GetMemoryMb(), WallTime: wire.DecodeSpan(m.GetWallTimeMs()),
		Power: wire.Narrow(m.GetPowerPpm()), PowerClass: m.GetPowerClass(), Layout: decodeLayout(m.GetLayout()),
		Resources: wire.Convert(m.GetResources(), decodeResource), Features: m.GetFeatures(), Exclusive: m.GetExclusive(),
		MinTime: wire.DecodeSpan(m.GetMinTimeMs()), Priority: m.GetPriority(),
	}
}

// CheckRequest checks the shape of a job. That it asks for too little, such as no CPUs, is left
// to the scheduler.
func CheckRequest(r protocol.Request) error {
	return wire.First(
		wire.Count("cpus", r.CPUs),
		wire.Count("nodes", r.Nodes),
		wire.Amount("memory_mb", r.MemoryMB),
		wire.Amount("wall_time_ms", r.WallTime),
		wire.Amount("min_time_ms", r.MinTime),
		wire.Amount("priority", r.Priority),
		checkMinTime(&r),
		checkPower("power_ppm", r.Power),
		wire.In("layout", r.CheckLayout()),
		r.CheckExtras(),
	)
}

func checkMinTime(r *protocol.Request) error {
	if r.MinTime > r.WallTime {
		return wire.Wrong("min_time_ms", "is %d, more than the wall-time limit of %d", r.MinTime, r.WallTime)
	}
	return nil
}

func encodeLayout(l protocol.Layout) *Layout {
	if l == (protocol.Layout{}) {
		return nil
	}
	return &Layout{
		Tasks: int64(l.Tasks), TasksPerNode: int64(l.TasksPerNode), CpusPerTask: int64(l.CPUsPerTask), MaxNodes: int64(l.MaxNodes),
		MemoryPerCpuMb: l.MemoryPerCPU, MemoryPerGpuMb: l.MemoryPerGPU, CpusPerGpu: int64(l.CPUsPerGPU), GpusPerNode: l.GPUsPerNode,
	}
}

func decodeLayout(m *Layout) protocol.Layout {
	if m == nil {
		return protocol.Layout{}
	}
	return protocol.Layout{
		Tasks: wire.Narrow(m.GetTasks()), TasksPerNode: wire.Narrow(m.GetTasksPerNode()),
		CPUsPerTask: wire.Narrow(m.GetCpusPerTask()), MaxNodes: wire.Narrow(m.GetMaxNodes()),
		MemoryPerCPU: m.GetMemoryPerCpuMb(), MemoryPerGPU: m.GetMemoryPerGpuMb(), CPUsPerGPU: wire.Narrow(m.GetCpusPerGpu()), GPUsPerNode: m.GetGpusPerNode(),
	}
}

// EncodeSpec converts a job without what it runs.
func EncodeSpec(s protocol.Spec) *Spec {
	return &Spec{
		Request: EncodeRequest(s.Request), Name: s.Name, User: s.User,
		Sites:   wire.Convert(s.Sites, func(n protocol.SiteName) string { return string(n) }),
		Requeue: s.Requeue, SubmittedMs: int64(s.Submitted), Mhz: int64(s.MHz), Mflops: int64(s.Mflops),
		DataBytes: s.Data, DataOutBytes: s.DataOut, Account: s.Account, Partition: s.Partition, Qos: s.QOS,
		PredictedRunTimeMs: wire.EncodeSpan(s.PredictedRunTime), IntensityPpm: int64(s.Intensity), ComputingPpm: int64(s.Computing),
		MeasuredPowerPpm: int64(s.MeasuredPower), Comment: s.Comment, Container: s.Container,
		StageInBytes: s.StageIn, StageOut: s.StageOut, InPlace: s.InPlace, Restarts: int64(s.Restarts), Nice: s.Nice,
		Traceparent: string(s.Traceparent),
	}
}

// DecodeSpec converts a job without what it runs.
func DecodeSpec(m *Spec) protocol.Spec {
	return protocol.Spec{
		Request: DecodeRequest(m.GetRequest()), Name: m.GetName(), User: m.GetUser(),
		Sites:   wire.Convert(m.GetSites(), func(s string) protocol.SiteName { return protocol.SiteName(s) }),
		Requeue: m.GetRequeue(), Submitted: protocol.Instant(m.GetSubmittedMs()), MHz: wire.Narrow(m.GetMhz()), Mflops: wire.Narrow(m.GetMflops()),
		Data: m.GetDataBytes(), DataOut: m.GetDataOutBytes(),
		Association:      protocol.Association{Account: m.GetAccount(), Partition: m.GetPartition(), QOS: m.GetQos()},
		PredictedRunTime: wire.DecodeSpan(m.GetPredictedRunTimeMs()), Intensity: wire.Narrow(m.GetIntensityPpm()), Computing: wire.Narrow(m.GetComputingPpm()),
		MeasuredPower: wire.Narrow(m.GetMeasuredPowerPpm()), Comment: m.GetComment(), Container: m.GetContainer(),
		StageIn: m.GetStageInBytes(), StageOut: m.GetStageOut(), InPlace: m.GetInPlace(), Restarts: wire.Narrow(m.GetRestarts()), Nice: m.GetNice(),
		Traceparent: protocol.Traceparent(m.GetTraceparent()),
	}
}

// CheckSpec checks a job as [CheckRequest] does its shape.
func CheckSpec(s protocol.Spec) error {
	return wire.First(
		wire.In("request", CheckRequest(s.Request)),
		wire.Text("name", s.Name, protocol.MaxJobName),
		wire.Text("user", s.User, protocol.MaxUser),
		wire.AtMost("sites", len(s.Sites), protocol.MaxJobSites),
		wire.Each("sites", s.Sites, protocol.SiteName.Validate),
		wire.Amount("submitted_ms", s.Submitted),
		wire.Count("mhz", s.MHz),
		wire.Count("mflops", s.Mflops),
		wire.Amount("data_bytes", s.Data),
		wire.Amount("data_out_bytes", s.DataOut),
		s.CheckAssociation(),
		wire.Amount("predicted_run_time_ms", s.PredictedRunTime),
		checkShare("intensity_ppm", s.Intensity),
		checkShare("computing_ppm", s.Computing),
		checkPower("measured_power_ppm", s.MeasuredPower),
		wire.Text("comment", s.Comment, protocol.MaxComment),
		protocol.CheckContainer(s.Container),
		wire.Amount("stage_in_bytes", s.StageIn),
		checkInPlace(&s),
		wire.Count("restarts", s.Restarts),
		protocol.CheckNice(s.Nice),
		s.Traceparent.Check(),
	)
}

// checkInPlace checks that nothing travels of a job that runs where its files are.
func checkInPlace(s *protocol.Spec) error {
	if s.InPlace && (s.Stages() || s.Data > 0 || s.DataOut > 0) {
		return wire.Wrong("in_place", "is set, but something is to travel")
	}
	return nil
}

// EncodePayload converts what a job runs; nil stays nil.
func EncodePayload(p *protocol.Payload) *Payload {
	if p == nil {
		return nil
	}
	return &Payload{
		Script: p.Script, Args: encodeTexts(p.Args), Env: encodeTexts(p.Env),
		WorkDir: []byte(p.WorkDir), Stdout: []byte(p.Stdout), Stderr: []byte(p.Stderr),
		Input: []byte(p.Input), AppendOutput: p.AppendOutput, LimitSignal: encodeLimitSignal(p.LimitSignal),
		Staging: encodeStaging(p.Staging), Shell: encodeShell(p.Shell),
	}
}

// DecodePayload converts what a job runs; nil stays nil. No script is nil.
func DecodePayload(m *Payload) *protocol.Payload {
	if m == nil {
		return nil
	}
	text := func(b []byte) string { return string(b) }
	p := &protocol.Payload{
		Args: wire.Convert(m.GetArgs(), text), Env: wire.Convert(m.GetEnv(), text),
		WorkDir: text(m.GetWorkDir()), Stdout: text(m.GetStdout()), Stderr: text(m.GetStderr()),
		Input: text(m.GetInput()), AppendOutput: m.GetAppendOutput(), LimitSignal: decodeLimitSignal(m.GetLimitSignal()),
		Staging: decodeStaging(m.GetStaging()), Shell: decodeShell(m.GetShell()),
	}
	if len(m.GetScript()) > 0 {
		p.Script = m.GetScript()
	}
	return p
}

// CheckPayload checks what a job runs, which must be there.
func CheckPayload(p *protocol.Payload) error {
	if p == nil {
		return wire.Present("payload", false)
	}
	return wire.In("payload", wire.First(
		wire.AtMost("script", len(p.Script), protocol.MaxScript),
		wire.AtMost("args", len(p.Args), protocol.MaxArgs),
		wire.AtMost("env", len(p.Env), protocol.MaxArgs),
		wire.UnixString("work_dir", p.WorkDir, protocol.MaxPath),
		wire.UnixString("stdout", p.Stdout, protocol.MaxPath),
		wire.UnixString("stderr", p.Stderr, protocol.MaxPath),
		wire.UnixString("input", p.Input, protocol.MaxPath),
		p.CheckLimitSignal(),
		p.CheckStaging(),
		p.CheckShell(),
		wire.Each("args", p.Args, func(arg string) error { return wire.UnixString("arg", arg, math.MaxInt) }),
		wire.Each("env", p.Env, func(pair string) error { return wire.Env(pair, math.MaxInt) }),
	))
}

func encodeLimitSignal(s protocol.LimitSignal) *LimitSignal {
	if s == (protocol.LimitSignal{}) {
		return nil
	}
	return &LimitSignal{
		Signal: int64(s.Signal), BeforeMs: wire.EncodeSpan(s.Before), ScriptOnly: s.ScriptOnly, OverlapReservation: s.OverlapReservation,
	}
}

// encodeStaging converts what travels with a job. What is in the archive of its inputs is the archive's to
// say.
func encodeStaging(s *protocol.Staging) *Staging {
	if s == nil {
		return nil
	}
	m := &Staging{StageInBytes: s.Bytes, StageOut: s.Out, MaxStageOutBytes: s.MaxOut}
	if s.Bytes > 0 {
		m.StageInSha256 = s.SHA256[:]
	}
	return m
}

// decodeStaging converts what travels with a job. A checksum of another length becomes one that
// [protocol.Staging.Check] refuses.
func decodeStaging(m *Staging) *protocol.Staging {
	if m == nil {
		return nil
	}
	s := &protocol.Staging{Bytes: m.GetStageInBytes(), Out: m.GetStageOut(), MaxOut: m.GetMaxStageOutBytes()}
	if len(m.GetStageInSha256()) == len(s.SHA256) {
		copy(s.SHA256[:], m.GetStageInSha256())
	} else if len(m.GetStageInSha256()) > 0 {
		s.Bytes = -1
	}
	return s
}

func decodeLimitSignal(m *LimitSignal) protocol.LimitSignal {
	return protocol.LimitSignal{
		Signal: wire.Narrow(m.GetSignal()), Before: wire.DecodeSpan(m.GetBeforeMs()),
		ScriptOnly: m.GetScriptOnly(), OverlapReservation: m.GetOverlapReservation(),
	}
}

// encodeTexts converts texts that need not be UTF-8.
func encodeTexts(texts []string) [][]byte {
	return wire.Convert(texts, func(s string) []byte { return []byte(s) })
}

func checkShare(field string, ppm int) error {
	if ppm < 0 || ppm > protocol.PPM {
		return wire.Wrong(field, "%d is outside 0 to %d", ppm, protocol.PPM)
	}
	return nil
}

func checkPower(field string, ppm int) error {
	if ppm < 0 || ppm > protocol.MaxPower {
		return wire.Wrong(field, "%d is outside 0 to %d", ppm, protocol.MaxPower)
	}
	return nil
}

// EncodeAssociation converts what a job is at a site; nothing becomes an empty message.
func EncodeAssociation(a protocol.Association) *Association {
	return &Association{Account: a.Account, Partition: a.Partition, Qos: a.QOS}
}

// DecodeAssociation checks and converts what a job is at a site.
func DecodeAssociation(m *Association) (protocol.Association, error) {
	a := protocol.Association{Account: m.GetAccount(), Partition: m.GetPartition(), QOS: m.GetQos()}
	return a, a.CheckAssociation()
}
