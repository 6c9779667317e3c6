package testbed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/daemon"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Site is one site of a [Grid]: its files and its peer, if that runs. Its
// methods must not be called at once.
type Site struct {
	Name   protocol.SiteName
	Number protocol.SiteNumber
	CPUs   int
	Dir    string
	Socket string
	Config string // the configuration file
	Log    string // what the peers of this site have logged
	Bus    string // host:port of its NATS server

	// Under is a command, with its arguments, which runs the peer: nsenter, say. It must become
	// the peer, or signals would not come through. Empty: none.
	Under []string

	machine   Machine
	binary    string
	env       []string
	publicKey string
	gossip    string // host:port
	process   *process
}

// process is a running peer.
type process struct {
	cmd   *exec.Cmd
	asked bool          // to stop
	ended chan struct{} // closed when it has; err is set then
	err   error
}

// newSite makes a site that has its NATS server and its gossip at the addresses.
func newSite(cfg Config, machine Machine, number protocol.SiteNumber, bus, gossip string) (*Site, error) {
	dir := filepath.Join(cfg.Dir, string(machine.Name))
	if err := os.Mkdir(dir, 0o711); err != nil { //nolint:gosec // jobs of other accounts pass through
		return nil, fmt.Errorf("make the directory of %s: %w", machine.Name, err)
	}
	seed, public, err := identity.GenerateKey()
	if err != nil {
		return nil, fmt.Errorf("make the key of %s: %w", machine.Name, err)
	}
	if err = identity.SaveKey(filepath.Join(dir, "site.key"), seed); err != nil {
		return nil, err
	}
	site := &Site{
		Name: machine.Name, Number: number, CPUs: machine.CPUs, Dir: dir,
		Socket:  filepath.Join(dir, "s.sock"),
		Config:  filepath.Join(dir, "site.toml"),
		Log:     filepath.Join(dir, "peer.log"),
		machine: machine, binary: cfg.Binary, env: cfg.Env, publicKey: public, Bus: bus, gossip: gossip,
	}
	return site, nil
}

// Client talks to the site's peer.
func (s *Site) Client() *api.Client { return api.Dial(s.Socket) }

// Start starts the site's peer, which must not run.
func (s *Site) Start() error {
	log, err := os.OpenFile(s.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the log of %s: %w", s.Name, err)
	}
	defer log.Close() //nolint:errcheck // the peer has its own
	// Neither a context nor the terminal's Ctrl-C ends the peer: Stop does.
	command := append(slices.Clone(s.Under), s.binary, "peer", "--config", s.Config)
	if s.machine.Recording != "" {
		command = append(command, "--record", s.machine.Recording)
	}
	cmd := exec.Command(command[0], command[1:]...) //nolint:gosec,noctx // see above; our own binary
	cmd.Env = append(os.Environ(), s.env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Dir = s.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the peer of %s: %w", s.Name, err)
	}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	s.process = p
	return nil
}

// Daemon makes the site's peer as a part of this process, which can not be killed, but looked into
// and run under the race detector. It logs to w. It must not run beside the site's process.
func (s *Site) Daemon(build daemon.Build, w io.Writer) (*daemon.Daemon, error) {
	cfg, err := config.Load(s.Config)
	if err != nil {
		return nil, err
	}
	return daemon.New(daemon.Options{Config: cfg, Paths: []string{s.Config}, Build: build, Log: w}), nil
}

// Pid is the process id of the peer, 0 when none was started.
func (s *Site) Pid() int {
	if s.process == nil {
		return 0
	}
	return s.process.cmd.Process.Pid
}

// Kill ends the peer as a power cut would, and waits until it is gone.
func (s *Site) Kill() error {
	if s.process == nil {
		return nil
	}
	err := s.process.cmd.Process.Kill()
	<-s.process.ended
	s.process = nil
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// ask asks the peer to stop, without waiting.
func (s *Site) ask() {
	if s.process != nil && !s.process.asked {
		s.process.asked = true
		_ = s.process.cmd.Process.Signal(syscall.SIGTERM) // one that is gone needs no asking
	}
}

// Stop asks the peer to stop and waits for it; after patience it is killed. The
// error says that it did not stop by itself, or not well.
func (s *Site) Stop(patience time.Duration) error {
	if s.process == nil {
		return nil
	}
	s.ask()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-s.process.ended:
	case <-timer.C:
		return errors.Join(fmt.Errorf("the peer of %s did not stop within %v and was killed; see %s", s.Name, patience, s.Log),
			s.Kill())
	}
	err := s.process.err
	s.process = nil
	if err != nil {
		return fmt.Errorf("the peer of %s stopped badly: %w; see %s", s.Name, err, s.Log)
	}
	return nil
}

// linked waits until the peer answers and is linked to this number of others.
func (s *Site) linked(ctx context.Context, others int) error {
	for {
		sites, err := s.Client().Sites(ctx)
		up := 0
		for _, other := range sites.Sites {
			if other.Link == "up" {
				up++
			}
		}
		if err == nil && up >= others {
			return nil
		}
		select {
		case <-s.process.ended:
			return fmt.Errorf("the peer of %s has stopped: %w\n%s", s.Name, s.process.err, tail(s.Log))
		case <-ctx.Done():
			return fmt.Errorf("%s has %d of %d links: %w\n%s", s.Name, up, others, errors.Join(ctx.Err(), err), tail(s.Log))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// tail is the end of a log, for messages.
func tail(path string) string {
	const most = 2000
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(text[max(0, len(text)-most):])
}
