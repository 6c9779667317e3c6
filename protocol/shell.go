package protocol

import (
	"math"
	"slices"
)

// Shell is what a job takes over from the shell that submits it, beside its environment.
type Shell struct {
	Host   string          `json:"host,omitempty"` // short name of its machine; empty: not stated
	Umask  int             `json:"umask"`
	Limits []ResourceLimit `json:"limits,omitempty"` // those that travel, sorted by name, each once
}

// ResourceLimit is a soft limit of what a process may use. See setrlimit(2).
type ResourceLimit struct {
	Name string `json:"name"` // one of [ResourceLimits]
	Soft uint64 `json:"soft"` // in its own unit; [NoSoftLimit]: none
}

// NoSoftLimit is the limit of a resource that is not limited.
const NoSoftLimit uint64 = math.MaxUint64

// DefaultUmask is the umask of a job whose submission states none.
const DefaultUmask = 0o022

// ResourceLimits lists the names of limits, as --propagate of sbatch(1) has them, sorted.
func ResourceLimits() []string {
	return []string{"AS", "CORE", "CPU", "DATA", "FSIZE", "MEMLOCK", "NOFILE", "NPROC", "RSS", "STACK"}
}

// GuestLimits lists those that a job also takes over at another site, sorted: the others say what the machine of
// its submission can bear.
func GuestLimits() []string { return []string{"CORE", "NOFILE", "STACK"} }

// Equal says whether two shells are the same.
func (s *Shell) Equal(other *Shell) bool {
	if s == nil || other == nil {
		return s == other
	}
	return s.Host == other.Host && s.Umask == other.Umask && slices.Equal(s.Limits, other.Limits)
}

// JobUmask is the umask of the job.
func (p *Payload) JobUmask() int {
	if p.Shell == nil {
		return DefaultUmask
	}
	return p.Shell.Umask
}

// LimitsAt are the limits that the job takes over, at its own site or as a guest.
func (p *Payload) LimitsAt(guest bool) []ResourceLimit {
	if p.Shell == nil {
		return nil
	}
	if !guest {
		return p.Shell.Limits
	}
	return slices.DeleteFunc(slices.Clone(p.Shell.Limits), func(one ResourceLimit) bool { return !slices.Contains(GuestLimits(), one.Name) })
}

// CheckShell says what is wrong with what the job takes over from the shell of its submission, if anything.
func (p *Payload) CheckShell() error {
	if err := p.Shell.check(); err != nil {
		return &FieldError{"shell", err}
	}
	return nil
}

func (s *Shell) check() error {
	const mostUmask, mostHost = 0o777, 255
	switch {
	case s == nil:
		return nil
	case s.Umask < 0 || s.Umask > mostUmask:
		return wrongField("umask", "%#o is outside 0 to %#o", s.Umask, mostUmask)
	case len(s.Host) > mostHost:
		return wrongField("host", "has %d bytes, at most %d are allowed", len(s.Host), mostHost)
	}
	if err := CheckText(s.Host); err != nil {
		return &FieldError{"host", err}
	}
	for i, one := range s.Limits {
		switch {
		case !slices.Contains(ResourceLimits(), one.Name):
			return wrongField("limits", "%.20q is no limit", one.Name)
		case i > 0 && s.Limits[i-1].Name >= one.Name:
			return wrongField("limits", "%s does not sort after %s", one.Name, s.Limits[i-1].Name)
		}
	}
	return nil
}
