package localschedv1

import (
	"errors"
	"fmt"
	"math"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// EncodeWatched converts what has happened. Native texts that are not UTF-8, or
// longer than [MaxReason], are mended and cut.
func EncodeWatched(w localsched.Watched) *WatchResponse {
	m := &WatchResponse{Cursor: string(w.Cursor), Load: EncodeLoad(w.Load)}
	for i := range w.Changes {
		m.Changes = append(m.Changes, wireChange(&w.Changes[i]))
	}
	return m
}

// DecodeWatched checks and converts what has happened. The error names the change
// and the field.
func DecodeWatched(m *WatchResponse) (localsched.Watched, error) {
	load, err := DecodeLoad(m.GetLoad())
	if err = wire.First(
		err,
		wire.AtMost("cursor", len(m.GetCursor()), maxCursor),
		wire.AtMost("changes", len(m.GetChanges()), MaxJobs),
	); err != nil {
		return localsched.Watched{}, err
	}
	changes, err := wire.Decode("changes", m.GetChanges(), readChange)
	if err != nil {
		return localsched.Watched{}, err
	}
	return localsched.Watched{Changes: changes, Cursor: localsched.Cursor(m.GetCursor()), Load: load}, nil
}

// EncodeStream converts by number: both lists are in one order, which a test pins.
func EncodeStream(s protocol.Stream) Stream { return Stream(s) }

// DecodeStream converts a stream and refuses unknown ones.
func DecodeStream(m Stream) (protocol.Stream, error) {
	if m < Stream_STREAM_STDOUT || m > Stream_STREAM_STDERR {
		return 0, fmt.Errorf("stream: %d is unknown or missing", int32(m))
	}
	return protocol.Stream(m), nil
}

func wireChange(c *localsched.Change) *Change {
	m := &Change{
		Tag: EncodeTag(c.Tag), State: State(c.State), Reason: wire.Clip(c.Reason, MaxReason), Started: int64(c.Started),
	}
	if c.State.Terminal() {
		m.Outcome = wireOutcome(&c.Outcome)
	}
	return m
}

func readChange(m *Change) (localsched.Change, error) {
	tag, err := DecodeTag(m.GetTag())
	if err != nil {
		return localsched.Change{}, err
	}
	state, err := readState(m.GetState())
	if err = wire.First(
		err,
		wire.AtMost("reason", len(m.GetReason()), MaxReason),
		wire.Amount("started", m.GetStarted()),
	); err != nil {
		return localsched.Change{}, err
	}
	change := localsched.Change{
		Tag: tag, State: state, Reason: m.GetReason(), Started: protocol.Instant(m.GetStarted()),
	}
	switch {
	case state.Terminal() && m.GetOutcome() == nil:
		return localsched.Change{}, fmt.Errorf("outcome: is missing, though %v is a last state", state)
	case !state.Terminal() && m.GetOutcome() != nil:
		return localsched.Change{}, fmt.Errorf("outcome: is there, though %v is not a last state", state)
	case state.Terminal():
		change.Outcome, err = readOutcome(m.GetOutcome(), state)
	}
	return change, wire.In("outcome", err)
}

func wireOutcome(o *protocol.Outcome) *Outcome {
	m := &Outcome{
		State: State(o.State), ExitCode: wireCode(o.ExitCode), Signal: wireCode(o.Signal),
		Reason: wire.Clip(o.Reason, MaxReason), Waited: int64(o.Waited), Ran: int64(o.Ran),
		Usage: wireUsage(o.Usage),
	}
	for i := range o.Files {
		f := &o.Files[i]
		m.Files = append(m.Files, &File{Stream: EncodeStream(f.Stream), Size: f.Size, Sha256: f.SHA256[:]})
	}
	return m
}

func readOutcome(m *Outcome, of protocol.State) (protocol.Outcome, error) {
	state, err := readState(m.GetState())
	if err == nil && state != of {
		err = fmt.Errorf("state: is %v, but the change's is %v", state, of)
	}
	if err = wire.First(
		err,
		checkEnd(m.GetExitCode(), m.GetSignal()),
		wire.AtMost("reason", len(m.GetReason()), MaxReason),
		wire.Amount("waited", m.GetWaited()),
		wire.Amount("ran", m.GetRan()),
	); err != nil {
		return protocol.Outcome{}, err
	}
	files, err := readFiles(m.GetFiles())
	if err != nil {
		return protocol.Outcome{}, err
	}
	usage, err := readUsage(m.GetUsage())
	return protocol.Outcome{
		State: state, ExitCode: int(m.GetExitCode()), Signal: int(m.GetSignal()), Reason: m.GetReason(),
		Waited: protocol.Duration(m.GetWaited()), Ran: protocol.Duration(m.GetRan()), Files: files,
		Usage: usage,
	}, err
}

// wireUsage leaves out what says nothing.
func wireUsage(u protocol.Usage) *Usage {
	if u == (protocol.Usage{}) {
		return nil
	}
	return &Usage{
		CpuMs: int64(u.CPU), MemoryMb: u.MemoryMB, EnergyMj: u.Energy, Mflop: u.Mflop, Mwords: u.Mwords,
		Sent: u.Sent, Messages: u.Messages, Mhz: int64(u.MHz), PowerPpm: int64(u.Power),
	}
}

func readUsage(m *Usage) (protocol.Usage, error) {
	if err := wire.In("usage", wire.First(wire.Count("mhz", m.GetMhz()), wire.Power("power_ppm", m.GetPowerPpm()))); err != nil {
		return protocol.Usage{}, err
	}
	u := protocol.Usage{
		CPU: protocol.Duration(m.GetCpuMs()), MemoryMB: m.GetMemoryMb(), Energy: m.GetEnergyMj(),
		Mflop: m.GetMflop(), Mwords: m.GetMwords(), Sent: m.GetSent(), Messages: m.GetMessages(), MHz: int(m.GetMhz()),
		Power: int(m.GetPowerPpm()),
	}
	return u, wire.Usage("usage", u)
}

func checkEnd(exitCode, signal int32) error {
	switch {
	case exitCode < 0:
		return fmt.Errorf("exit_code: %d is negative", exitCode)
	case signal < 0 || signal > 127:
		return fmt.Errorf("signal: %d is outside 0 to 127", signal)
	case signal != 0 && exitCode != 0:
		return fmt.Errorf("exit_code: is %d, but signal %d ended the job", exitCode, signal)
	}
	return nil
}

func readFiles(ms []*File) ([]protocol.File, error) {
	if len(ms) > int(protocol.Stderr) {
		return nil, errors.New("files: has more than one for each stream")
	}
	var files []protocol.File
	for i, m := range ms {
		stream, err := DecodeStream(m.GetStream())
		f := protocol.File{Stream: stream, Size: m.GetSize()}
		if err = wire.First(
			err,
			wire.Amount("size", m.GetSize()),
			wire.Length("sha256", len(m.GetSha256()), len(f.SHA256)),
		); err != nil {
			return nil, fmt.Errorf("files[%d]: %w", i, err)
		}
		if i > 0 && files[0].Stream == stream {
			return nil, fmt.Errorf("files[%d]: stream: %v is there twice", i, stream)
		}
		copy(f.SHA256[:], m.GetSha256())
		files = append(files, f)
	}
	return files, nil
}

// readState converts by number: both lists are in one order, which a test pins.
func readState(m State) (protocol.State, error) {
	if m < State_STATE_PENDING || m > State_STATE_NODE_FAIL {
		return 0, fmt.Errorf("state: %d is unknown or missing", int32(m))
	}
	return protocol.State(m), nil
}

// wireCode is an exit code or a signal; one that cannot be is one that no check
// passes.
func wireCode(n int) int32 {
	if n < 0 || n > math.MaxInt32 {
		return -1
	}
	return int32(n)
}
