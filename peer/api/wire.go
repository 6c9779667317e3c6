package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Limits of a submission.
const (
	MaxJobs   = 1000     // jobs
	MaxBody   = 32 << 20 // bytes of JSON
	MaxScript = 4 << 20  // bytes of a script
	maxRest   = 2 << 20  // bytes of a job's arguments and environment together
	maxName   = 256      // bytes of a job's name
	maxPath   = 4096     // bytes of a path
)

// Submission is the body of a request to submit jobs, or to get quotes for them.
type Submission struct {
	Key         string       `json:"key,omitempty"` // makes a repetition harmless
	Jobs        []Job        `json:"jobs"`
	Application *Application `json:"application,omitempty"` // what is wanted of all jobs together; nil: nothing is
	Front       bool         `json:"front,omitempty"`       // of quotes: also the choices between cost and time
}

// Job is one job of a [Submission].
type Job struct {
	Name     string              `json:"name,omitempty"`
	CPUs     int                 `json:"cpus"`
	Nodes    int                 `json:"nodes,omitempty"`     // 0: any
	Layout   protocol.Layout     `json:"layout,omitzero"`     // of the CPUs
	MemoryMB int64               `json:"memory_mb,omitempty"` // per node; 0: any
	WallTime protocol.Duration   `json:"wall_time_ms"`
	Sites    []protocol.SiteName `json:"sites,omitempty"` // empty: anywhere
	Requeue  bool                `json:"requeue,omitempty"`
	Power    int                 `json:"power_ppm,omitempty"`  // of what sites state for busy CPUs; 0: as much
	Data     int64               `json:"data_bytes,omitempty"` // that travel when the job runs elsewhere

	DataOut   int64               `json:"data_out_bytes,omitempty"` // that travel back then
	Licences  []protocol.Licence  `json:"licences,omitempty"`       // that it uses while it runs, sorted by name
	Priority  string              `json:"priority,omitempty"`       // class of service; empty: the usual one
	Component *protocol.Component `json:"component,omitempty"`      // nil: the job has one shape, and nothing is known of it

	Script  []byte           `json:"script,omitempty"` // not needed for quotes
	Args    []string         `json:"args,omitempty"`
	Env     []string         `json:"env,omitempty"`      // NAME=value
	Export  *protocol.Export `json:"export,omitempty"`   // which of these may leave the site; nil: those of the site's list
	WorkDir string           `json:"work_dir,omitempty"` // absolute
	Stdout  string           `json:"stdout,omitempty"`   // absolute
	Stderr  string           `json:"stderr,omitempty"`   // absolute
}

// Quoted answers a request for quotes.
type Quoted struct {
	view.TestSubmitResult

	Exports []Exported `json:"exports,omitempty"` // one for each job; nil: none has variables
}

// Exported lists a job's variables by whether they leave the site when another one runs it.
type Exported struct {
	Leave []string `json:"leave,omitempty"`
	Stay  []string `json:"stay,omitempty"`
}

// Explanation is what happened to a job, in order.
type Explanation struct {
	Facts []peer.Fact `json:"facts"`
}

// Info says what peer answers.
type Info struct {
	Site    protocol.SiteName   `json:"site"`
	Number  protocol.SiteNumber `json:"number"`
	Version string              `json:"version"`
	Uptime  protocol.Duration   `json:"uptime_ms"`
	Rules   Rules               `json:"rules"`
	Power   *Power              `json:"power,omitempty"`  // nil: the site has no power budget
	Alarms  []string            `json:"alarms,omitempty"` // what the site's operator should look at now
	Notes   []string            `json:"notes,omitempty"`  // what the site's operator should know
}

// Power is what the jobs of the site draw together and may draw, in milliwatts.
type Power struct {
	Draw    int64            `json:"draw_mw"`              // of jobs that run
	Pending int64            `json:"pending_mw,omitempty"` // kept for jobs that another batch system was given and has not started
	Budget  *int64           `json:"budget_mw,omitempty"`  // nil: none holds now
	Until   protocol.Instant `json:"until_ms,omitempty"`   // when it is another; 0: not in the time ahead that is known
	Next    *int64           `json:"next_mw,omitempty"`    // the budget from then on; nil: none
}

// Rules are by what jobs are placed at this site.
type Rules struct {
	Initiation  string `json:"initiation"`   // of rounds: "sender", "receiver", "symmetric" or "cycle"
	Policy      string `json:"policy"`       // that decides rounds
	LocalPolicy string `json:"local_policy"` // of the local queue
}

// Plugins are the plugins that the peer has started.
type Plugins struct {
	Plugins []Plugin `json:"plugins"` // sorted by name
}

// Plugin is a plugin and how it is.
type Plugin struct {
	Name     string           `json:"name"` // as it is configured
	Kind     string           `json:"kind"`
	Path     string           `json:"path"`
	Version  string           `json:"version,omitempty"` // its own; empty: it has not said yet
	State    string           `json:"state"`             // "starting", "up", "down" or "closed"
	Since    protocol.Instant `json:"since_ms"`          // of the state
	Restarts int              `json:"restarts"`
	Failure  string           `json:"failure,omitempty"` // the last
	RetryAt  protocol.Instant `json:"retry_at_ms,omitempty"`
	PID      int              `json:"pid,omitempty"`
}

// Reloaded says what reading the configuration again has done: with Problems,
// nothing.
type Reloaded struct {
	Problems []string `json:"problems,omitempty"` // "file:line: key: text"
	Warnings []string `json:"warnings,omitempty"`
	Changed  []Change `json:"changed"` // in force now
	Restart  []Change `json:"restart"` // in force when the peer is started again
	Rules    Rules    `json:"rules"`

	// Partners that there are now, and that there are no more; their keys are not in Changed.
	Added   []protocol.SiteName `json:"added_partners,omitempty"`
	Removed []protocol.SiteName `json:"removed_partners,omitempty"`
}

// Change is a key that has another value; its values are in TOML, or empty when
// its table was not there.
type Change struct {
	Key  string `json:"key"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Text is the change in a line; a value that is empty is "-".
func (c Change) Text() string {
	return fmt.Sprintf("%s: %s → %s", c.Key, valueText(c.From), valueText(c.To))
}

func valueText(value string) string {
	if value == "" {
		return "-"
	}
	return protocol.EscapeText(value)
}

// where says where the output of a job is, if not on the way: the caller reads it
// there with its own rights.
type where struct {
	Path string `json:"path"`
}

// DecodeSubmission reads a [Submission]. Fields that it does not know are errors,
// so that a wish is never passed over in silence.
func DecodeSubmission(body io.Reader) (Submission, error) {
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()
	var s Submission
	if err := decoder.Decode(&s); err != nil {
		return Submission{}, fmt.Errorf("the body is not a submission: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Submission{}, errors.New("the body goes on after the submission")
	}
	if len(s.Jobs) == 0 || len(s.Jobs) > MaxJobs {
		return Submission{}, fmt.Errorf("the submission has %d jobs; send 1 to %d", len(s.Jobs), MaxJobs)
	}
	if err := text("key", s.Key, maxName); err != nil {
		return Submission{}, err
	}
	for i := range s.Jobs {
		err := s.Jobs[i].check()
		if err == nil {
			err = s.checkComponent(&s.Jobs[i])
		}
		if err != nil {
			return Submission{}, fmt.Errorf("job %d of %d: %w", i+1, len(s.Jobs), err)
		}
	}
	if s.Application != nil {
		if err := s.Application.check(); err != nil {
			return Submission{}, fmt.Errorf("application: %w", err)
		}
	}
	return s, nil
}

// check looks at what the peer does not: it checks sizes and sites itself.
func (j *Job) check() error {
	if len(j.Script) > MaxScript {
		return fmt.Errorf("the script has %d bytes, at most %d are allowed; "+
			"let it read large data from a file", len(j.Script), MaxScript)
	}
	if err := text("name", j.Name, maxName); err != nil {
		return err
	}
	if err := j.checkPaths(); err != nil {
		return err
	}
	if err := j.checkNeeds(); err != nil {
		return err
	}
	return j.checkStrings()
}

func (j *Job) checkPaths() error {
	for field, path := range map[string]string{"work_dir": j.WorkDir, "stdout": j.Stdout, "stderr": j.Stderr} {
		switch {
		case path == "":
		case !filepath.IsAbs(path):
			return fmt.Errorf("%s %q is not an absolute path", field, path)
		case len(path) > maxPath || strings.ContainsRune(path, 0):
			return fmt.Errorf("%s has a NUL byte or more than %d bytes", field, maxPath)
		}
	}
	return nil
}

func (j *Job) checkStrings() error {
	size := 0
	for _, arg := range j.Args {
		size += len(arg)
		if strings.ContainsRune(arg, 0) {
			return fmt.Errorf("args: %q has a NUL byte", arg)
		}
	}
	for _, pair := range j.Env {
		size += len(pair)
		if strings.IndexByte(pair, '=') < 1 || strings.ContainsRune(pair, 0) {
			return fmt.Errorf("env: %.80q is not NAME=value", pair)
		}
	}
	if size > maxRest || len(j.Args)+len(j.Env) > 1<<16 {
		return fmt.Errorf("%d arguments and variables with %d bytes; at most %d with %d bytes are allowed",
			len(j.Args)+len(j.Env), size, 1<<16, maxRest)
	}
	return nil
}

// text checks what is printed in lists.
func text(field, s string, most int) error {
	if len(s) > most {
		return fmt.Errorf("%s %.80q must be at most %d bytes of printable text", field, s, most)
	}
	if err := protocol.CheckText(s); err != nil {
		return fmt.Errorf("%s %+.80q: %w", field, s, err)
	}
	return nil
}

// spec is the job as quotes see it.
func (j *Job) spec() protocol.Spec {
	return protocol.Spec{
		Request:  protocol.Request{CPUs: j.CPUs, Nodes: j.Nodes, MemoryMB: j.MemoryMB, WallTime: j.WallTime, Power: j.Power, Layout: j.Layout},
		Name:     j.Name,
		Sites:    j.Sites,
		Requeue:  j.Requeue,
		Data:     j.Data,
		DataOut:  j.DataOut,
		Licences: j.Licences,
		Priority: j.Priority,
	}
}

// asked is the job as quotes are asked for it.
func (j *Job) asked() protocol.Job {
	asked := protocol.Job{Spec: j.spec()}
	if j.Component != nil {
		asked.Component = *j.Component
	}
	if j.Export != nil {
		asked.Export = *j.Export
	}
	return asked
}

// newJob is the job as it is submitted.
func (j *Job) newJob() (protocol.Job, error) {
	switch {
	case len(bytes.TrimSpace(j.Script)) == 0:
		return protocol.Job{}, errors.New("has no script")
	case j.WorkDir == "" || j.Stdout == "" || j.Stderr == "":
		return protocol.Job{}, errors.New("must name work_dir, stdout and stderr")
	}
	job := j.asked()
	job.Payload = &protocol.Payload{
		Script: j.Script, Args: j.Args, Env: j.Env, WorkDir: j.WorkDir, Stdout: j.Stdout, Stderr: j.Stderr,
	}
	return job, nil
}

func (s *Submission) newJobs() ([]protocol.Job, error) {
	jobs := make([]protocol.Job, len(s.Jobs))
	for i := range s.Jobs {
		var err error
		if jobs[i], err = s.Jobs[i].newJob(); err != nil {
			return nil, fmt.Errorf("job %d of %d %w", i+1, len(s.Jobs), err)
		}
	}
	return jobs, nil
}
