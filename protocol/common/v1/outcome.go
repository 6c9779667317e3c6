package commonv1

import (
	"slices"

	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// EncodeState converts by number: both lists are in one order, which a test pins.
func EncodeState(s protocol.State) JobState { return JobState(s) }

// DecodeState converts a state; one that is not known becomes none.
func DecodeState(m JobState) protocol.State {
	if m < JobState_JOB_STATE_PENDING || m > JobState_JOB_STATE_NODE_FAIL {
		return 0
	}
	return protocol.State(m)
}

// CheckState checks that a state is one.
func CheckState(s protocol.State) error {
	if s < protocol.Pending || s > protocol.NodeFail {
		return wire.Wrong("state", "%d is unknown or missing", uint8(s))
	}
	return nil
}

// EncodeStream converts by number: both lists are in one order, which a test pins.
func EncodeStream(s protocol.Stream) Stream { return Stream(s) }

// DecodeStream converts a stream; one that is not known becomes none.
func DecodeStream(m Stream) protocol.Stream {
	if m < Stream_STREAM_STDOUT || m > Stream_STREAM_STAGE_IN {
		return 0
	}
	return protocol.Stream(m)
}

// CheckStream checks that a stream is one.
func CheckStream(s protocol.Stream) error {
	if !slices.Contains(protocol.Streams(), s) {
		return wire.Wrong("stream", "%d is unknown or missing", uint8(s))
	}
	return nil
}

// EncodeOutcome converts how a job ended.
func EncodeOutcome(o protocol.Outcome) *Outcome {
	return &Outcome{
		State: EncodeState(o.State), ExitCode: int64(o.ExitCode), Signal: int64(o.Signal), Reason: o.Reason,
		WaitedMs: int64(o.Waited), RanMs: int64(o.Ran), Files: wire.Convert(o.Files, encodeFile),
		Usage: encodeUsage(o.Usage), Bill: encodeBill(o.Bill),
	}
}

// DecodeOutcome converts how a job ended. The error is about a checksum of another length.
func DecodeOutcome(m *Outcome) (protocol.Outcome, error) {
	files, err := wire.Decode("files", m.GetFiles(), decodeFile)
	return protocol.Outcome{
		State: DecodeState(m.GetState()), ExitCode: wire.Narrow(m.GetExitCode()), Signal: wire.Narrow(m.GetSignal()), Reason: m.GetReason(),
		Waited: protocol.Duration(m.GetWaitedMs()), Ran: protocol.Duration(m.GetRanMs()), Files: files,
		Usage: decodeUsage(m.GetUsage()), Bill: decodeBill(m.GetBill()),
	}, wire.In("outcome", err)
}

// CheckOutcome checks how a job ended.
func CheckOutcome(o protocol.Outcome) error {
	if err := CheckState(o.State); err != nil {
		return wire.In("outcome", err)
	}
	return wire.In("outcome", wire.First(
		checkLast(o.State),
		CheckEnd(o.ExitCode, o.Signal),
		wire.Text("reason", o.Reason, protocol.MaxReason),
		wire.Amount("waited_ms", o.Waited),
		wire.Amount("ran_ms", o.Ran),
		checkFiles(o.Files),
		checkUsage(o.Usage),
		checkBill(o.Bill),
	))
}

func checkLast(s protocol.State) error {
	if !s.Terminal() {
		return wire.Wrong("state", "%v is not a last state", s)
	}
	return nil
}

// CheckEnd checks that a process can have ended with an exit code and a signal.
func CheckEnd(exitCode, signal int) error {
	switch {
	case signal < 0 || signal > 127:
		return wire.Wrong("signal", "%d is outside 0 to 127", signal)
	case exitCode < 0 || exitCode > 255:
		return wire.Wrong("exit_code", "%d is outside 0 to 255", exitCode)
	case signal != 0 && exitCode != 0:
		return wire.Wrong("exit_code", "is %d, but signal %d ended the job", exitCode, signal)
	}
	return nil
}

func encodeFile(f protocol.File) *File {
	return &File{Stream: EncodeStream(f.Stream), Size: f.Size, Sha256: f.SHA256[:]}
}

func decodeFile(m *File) (protocol.File, error) {
	f := protocol.File{Stream: DecodeStream(m.GetStream()), Size: m.GetSize()}
	copy(f.SHA256[:], m.GetSha256())
	return f, wire.Bytes("sha256", m.GetSha256(), len(f.SHA256))
}

func checkFiles(files []protocol.File) error {
	seen := map[protocol.Stream]bool{}
	for i, f := range files {
		if err := wire.First(CheckStream(f.Stream), wire.Amount("size", f.Size)); err != nil {
			return wire.In(wire.Entry("files", i), err)
		}
		if f.Stream == protocol.StageInArchive {
			return wire.In(wire.Entry("files", i), wire.Wrong("stream", "%v is none of a result", f.Stream))
		}
		if seen[f.Stream] {
			return wire.In(wire.Entry("files", i), wire.Wrong("stream", "duplicate %v", f.Stream))
		}
		seen[f.Stream] = true
	}
	return nil
}

func encodeUsage(u protocol.Usage) *Usage {
	if u == (protocol.Usage{}) {
		return nil
	}
	return &Usage{
		CpuMs: int64(u.CPU), MemoryMb: u.MemoryMB, EnergyMj: u.Energy, Mflop: u.Mflop, Mwords: u.Mwords,
		Sent: u.Sent, Messages: u.Messages, Mhz: int64(u.MHz), PowerPpm: int64(u.Power),
	}
}

func decodeUsage(m *Usage) protocol.Usage {
	return protocol.Usage{
		CPU: protocol.Duration(m.GetCpuMs()), MemoryMB: m.GetMemoryMb(), Energy: m.GetEnergyMj(),
		Mflop: m.GetMflop(), Mwords: m.GetMwords(), Sent: m.GetSent(), Messages: m.GetMessages(), MHz: wire.Narrow(m.GetMhz()),
		Power: wire.Narrow(m.GetPowerPpm()),
	}
}

func checkUsage(u protocol.Usage) error {
	return wire.In("usage", wire.First(
		wire.Amount("cpu_ms", u.CPU),
		wire.Amount("memory_mb", u.MemoryMB),
		wire.Amount("energy_mj", u.Energy),
		wire.Amount("mflop", u.Mflop),
		wire.Amount("mwords", u.Mwords),
		wire.Amount("sent", u.Sent),
		wire.Amount("messages", u.Messages),
		wire.Count("mhz", u.MHz),
		checkPower("power_ppm", u.Power),
	))
}
