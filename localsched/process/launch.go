package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/switchyard-hpc/switchyard/localsched/spool"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// launch starts a shim for the job and waits for what it says. It takes hold of
// the shim that has won the job, this one or an earlier one; the results are
// those of adopt.
func (s *Scheduler) launch(ctx context.Context, j *job) (*handle, error) {
	if err := s.notePlace(j); err != nil {
		return nil, err
	}
	said, pipe, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer said.Close() //nolint:errcheck // it was only read
	shim, err := s.spawn(j, pipe)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = said.Close() }) // so that the reading ends
	defer stop()
	answer, err := readAnswer(said)
	if err != nil && ctx.Err() == nil {
		err = errors.Join(err, shim.wait()) // it has closed the pipe by ending
	}
	if err != nil {
		return nil, errors.Join(err, shim.Close())
	}
	if answer.Error != "" {
		return nil, errors.Join(errors.New(answer.Error), shim.wait(), shim.Close())
	}
	if answer.Lost {
		// Another one has it, and this one ends.
		if err = errors.Join(shim.wait(), shim.Close()); err != nil {
			return nil, err
		}
		return s.adopt(j)
	}
	s.mu.Lock()
	j.shim, j.started, j.launched, j.group = answer.processID, answer.Started, answer.Launched, answer.Group
	s.mu.Unlock()
	s.noteUncontained(j, answer.Uncontained)
	return shim, nil
}

// notePlace writes down where the job is to run and with which devices, for its shim.
func (s *Scheduler) notePlace(j *job) (err error) {
	s.mu.Lock()
	missing := s.giveDevices(j)
	where := placeRecord{Place: j.Place, Limit: j.Limit, Devices: j.devices, Others: s.otherDevices(j)}
	if j.Exclusive && s.config.Capacity.Nodes <= 1 && (s.config.Capacity.Exclusive || s.config.Capacity.WholeNode) {
		where.NodeCPUs = s.config.Capacity.CPUs
	}
	s.mu.Unlock()
	switch {
	case missing != "":
		return errors.New(missing)
	case where.Place == "" && where.Limit == 0 && where.NodeCPUs == 0 && len(s.config.Devices) == 0:
		return nil
	case len(where.Devices) > 0:
		if where.Claim, err = makeClaim(j.dir); err != nil {
			return err
		}
	}
	return spool.ReplaceRecord(j.dir, placedFile, where)
}

// shimAnswer is what a shim says on its pipe, once, when it has started the job.
type shimAnswer struct {
	startedRecord
	Uncontained string `json:"uncontained,omitempty"` // how the job is not contained as it should be
	Lost        bool   `json:"lost,omitempty"`        // another one was first
	Error       string `json:"error,omitempty"`       // it may be tried again
}

func readAnswer(from io.Reader) (answer shimAnswer, err error) {
	data, err := io.ReadAll(from)
	if err == nil {
		err = json.Unmarshal(data, &answer)
	}
	if err != nil {
		return shimAnswer{}, fmt.Errorf("the shim did not say whether it started the job: %w", err)
	}
	return answer, nil
}

// answerFD is the shim's end of the pipe.
const answerFD = 3

// spawn starts a shim, in a session of its own and with nothing of the peer's
// environment, and closes the pipe here.
func (s *Scheduler) spawn(j *job, pipe *os.File) (*handle, error) {
	defer pipe.Close() //nolint:errcheck // the shim's end
	null, err := devNull()
	if err != nil {
		return nil, err
	}
	defer null.Close() //nolint:errcheck // nothing was written
	log, err := os.OpenFile(filepath.Join(j.dir, logFile), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close() //nolint:errcheck // the shim's end
	fd := -1
	child, err := os.StartProcess(s.config.Shim[0], append(slices.Clone(s.config.Shim), j.dir), &os.ProcAttr{
		Dir:   "/",
		Env:   append(shimEnv(), groupVariable(s.groups.Parent), s.beganVariable(j)),
		Files: []*os.File{null, null, log, pipe},
		Sys:   &syscall.SysProcAttr{Setsid: true, PidFD: &fd},
	})
	if err != nil {
		return nil, fmt.Errorf("start the shim: %w", err)
	}
	if err = child.Release(); err != nil {
		return nil, err
	}
	if fd < 0 {
		return nil, errors.New("the kernel gives no pidfd; Linux 5.4 or later is needed")
	}
	return newHandle(fd)
}

// beganName is the variable of a shim's environment that says when the engine started its job,
// in milliseconds of the steady clock. Jobs do not inherit it.
const beganName = "SWITCHYARD_BEGAN"

// beganVariable tells a shim when the engine started its job.
func (s *Scheduler) beganVariable(j *job) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return beganName + "=" + strconv.FormatInt(int64(s.driver.Steady(j.Began)), 10)
}

// whenBegan is when the engine started the job of this shim; 0: the peer does not say.
func whenBegan() protocol.Duration {
	began, _ := strconv.ParseInt(os.Getenv(beganName), 10, 64)
	return protocol.Duration(max(0, began))
}

// shimEnv is the environment of both stages of a shim. They need next to nothing,
// and one processor is enough for them. A shim that is built with the race detector has its
// options, without which it sleeps for a second before it ends.
func shimEnv() []string {
	env := []string{"PATH=" + defaultPath, "GOMAXPROCS=1"}
	if options, ok := os.LookupEnv("GORACE"); ok {
		env = append(env, "GORACE="+options)
	}
	return env
}
