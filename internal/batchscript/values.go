package batchscript

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/decimal"
	"github.com/switchyard-hpc/switchyard/internal/quantity"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// MaxCount is the most tasks, nodes or CPUs that an option may ask for.
const MaxCount = 1_000_000

// DefaultWallTime is the limit of a job that names none.
const DefaultWallTime = protocol.Hour

// jobOptions are the values of the options. A zero field was not set.
type jobOptions struct {
	spec protocol.Spec // of the job, but for what its size and its times come to

	tasks        int
	nodes        int
	maxNodes     int
	tasksPerNode int
	cpusPerTask  int
	memoryMB     int64 // per node
	cpuMemoryMB  int64 // per CPU; see alternatives

	gres        []protocol.Resource // on each node
	gpus        []protocol.Resource
	licenses    []protocol.Resource
	cpusPerGPU  int
	gpuMemoryMB int64 // per GPU; 0: not said

	// One for each shape of the job, or one for all of them.
	cpus      []int // in all; none: by tasks
	limits    []protocol.Duration
	estimates []protocol.Duration

	behavior protocol.Behavior

	weighing weighing
	maxCost  *Money
	maxTime  protocol.Duration // 0: none

	startTolerance protocol.Duration // Zero means the default.
	startMissed    string            // empty: as usual

	waiting string

	stdin, stdout, stderr, dir string

	stageIn, stageOut []string // each once

	appendOutput bool
	limitSignal  protocol.LimitSignal

	export, exportRemote string

	propagate []string // names of limits; nil: all

	now        time.Time // when the job is submitted; zero: in a simulation
	conditions protocol.Conditions
	noRequeue  bool
	array      *protocol.Array // nil: one job

	killInvalid bool // the job ends if what it depends on never comes

	mail     protocol.Mail
	mailLeft []string // types of mail that are not sent

	wait, parsable, testOnly, quiet bool

	refused []refusal       // options so far that are refused
	ignored map[string]bool // names of those to do without

	source int             // of what is being said: a later one beats an earlier one
	scope  int             // added to the source of directives: 0, or ofComponent
	whole  string          // where options about the whole application belong; empty: here
	spots  map[string]spot // where each option was said last, by its long name
}

// clone is a copy that may be changed.
func (w *jobOptions) clone() jobOptions {
	c := *w
	c.spots, c.refused, c.ignored = maps.Clone(w.spots), slices.Clone(w.refused), maps.Clone(w.ignored)
	return c
}

func setName(w *jobOptions, value string) error {
	switch {
	case value == "":
		return errors.New("the job's name is empty; leave the option out to take the script's")
	case len(value) > protocol.MaxJobName:
		return fmt.Errorf("the job's name has %d bytes; use at most %d", len(value), protocol.MaxJobName)
	}
	if err := protocol.CheckText(value); err != nil {
		return fmt.Errorf("the job's name %+q: %w", value, err)
	}
	w.spec.Name = value
	return nil
}

// counter takes a count of tasks, nodes or CPUs.
func counter(field func(*jobOptions) *int) func(*jobOptions, string) error {
	return func(w *jobOptions, value string) error {
		n, err := ParseCount(value)
		if err != nil {
			return err
		}
		*field(w) = n
		return nil
	}
}

// ParseCount reads a count of CPUs, nodes, tasks or licenses, from 1 to [MaxCount].
func ParseCount(value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > MaxCount {
		return 0, fmt.Errorf("%q is not a whole number from 1 to %d", value, MaxCount)
	}
	return n, nil
}

// setNodes takes "count", or "min-max".
func setNodes(w *jobOptions, value string) error {
	low, high, isRange := strings.Cut(value, "-")
	least, err := ParseCount(low)
	if err != nil {
		return err
	}
	most := least
	if isRange {
		if most, err = ParseCount(high); err != nil {
			return err
		}
		if most < least {
			return fmt.Errorf("%q ends below its beginning", value)
		}
	}
	w.nodes, w.maxNodes = least, most
	return nil
}

func setMemory(w *jobOptions, value string) error {
	mb, err := ParseMemory(value)
	if err != nil {
		return err
	}
	if mb == 0 {
		return &refusalError{why: "0 asks for all the memory of the nodes, which a job cannot do yet", do: "name an amount"}
	}
	w.memoryMB = mb
	return nil
}

func setMemoryPerCPU(w *jobOptions, value string) error {
	mb, err := ParseMemory(value)
	if err != nil {
		return err
	}
	w.cpuMemoryMB = mb
	return nil
}

// memory is the form of amounts of memory, as sbatch has it but for P. A part of a MB counts as a whole one.
func memory() quantity.Size {
	return quantity.Size{Bare: quantity.Mega, In: quantity.Mega, Max: 1 << 50, Rounding: decimal.AwayFromZero}
}

// ParseMemory reads an amount of memory in MB, or with one of the letters K, M,
// G, T, P (powers of 1024); 0 asks for no particular amount.
func ParseMemory(value string) (mb int64, err error) {
	if mb, err = memory().Parse(value); err != nil {
		return 0, fmt.Errorf("%q %w", value, err)
	}
	return mb, nil
}

// ParseTime reads a wall-time limit as sbatch does: "min", "min:s", "h:min:s",
// "d-h", "d-h:min" or "d-h:min:s", or with units, as "1h30m". It must be above zero
// and bounded, because the grid plans by it.
func ParseTime(value string) (protocol.Duration, error) {
	limit, err := quantity.ParseTimeLimit(value)
	if errors.Is(err, quantity.ErrTime) {
		withUnits, wrong := settings.ParseDuration(value)
		if errors.Is(wrong, settings.ErrTooLong) {
			return 0, fmt.Errorf("%q %w", value, wrong)
		}
		if wrong == nil {
			limit, err = withUnits, nil
		}
	}
	switch {
	case errors.Is(err, quantity.ErrTime):
		return 0, fmt.Errorf("%q %w, or as 1h30m", value, err)
	case err != nil:
		return 0, fmt.Errorf("%q %w; give a shorter one", value, err)
	case limit == protocol.Never || value == "0":
		return 0, fmt.Errorf("%q sets no limit, and the grid plans by limits; give the longest time that the job may take", value)
	case limit <= 0:
		return 0, fmt.Errorf("%q is no time at all; give more than 0", value)
	}
	return limit, nil
}

func setMinTime(w *jobOptions, value string) (err error) {
	w.spec.MinTime, err = ParseTime(value)
	return err
}

// setRequeue says whether the job may start again.
func setRequeue(may bool) func(*jobOptions, string) error {
	return func(w *jobOptions, _ string) error {
		w.spec.Requeue, w.noRequeue = may, !may
		return nil
	}
}

// setSites takes names of sites; none takes back those of a script.
func setSites(w *jobOptions, value string) error {
	var sites []protocol.SiteName
	if value == "" {
		w.spec.Sites = nil
		return nil
	}
	for name := range strings.SplitSeq(value, ",") {
		site := protocol.SiteName(strings.TrimSpace(name))
		if err := site.Validate(); err != nil {
			return err
		}
		sites = append(sites, site)
	}
	w.spec.Sites = sites
	return nil
}

func setContainer(w *jobOptions, value string) error {
	if value == "" {
		return errors.New("the image is empty; leave the option out to run without a container")
	}
	w.spec.Container = value
	return protocol.CheckContainer(value)
}

func setPowerShare(w *jobOptions, value string) error {
	share, err := parsePercent(value)
	if err != nil {
		return err
	}
	w.spec.Power = share
	return nil
}

// parsePercent reads a percentage above 0 in parts per million, with up to four
// decimals.
func parsePercent(value string) (ppm int, err error) {
	number, marked := strings.CutSuffix(value, "%")
	form := decimal.Form{Scale: 4, Max: protocol.MaxPower} // a ten-thousandth of a percent is one part per million
	read, err := form.Parse(number)
	if err != nil || read == 0 || !marked {
		return 0, fmt.Errorf("%q is not a percentage above 0%%, up to %d%%; write for instance 80%% or 112.5%%",
			value, protocol.MaxPower*100/protocol.PPM)
	}
	return int(read), nil
}

// setData takes an amount of data.
func setData(field func(*jobOptions) *int64) func(*jobOptions, string) error {
	form := quantity.Size{Bare: quantity.Mega, In: quantity.Byte}
	return func(w *jobOptions, value string) error {
		size, err := form.Parse(value)
		if err != nil {
			return fmt.Errorf("%q %w", value, err)
		}
		*field(w) = size
		return nil
	}
}

func path(field func(*jobOptions) *string) func(*jobOptions, string) error {
	return func(w *jobOptions, value string) error {
		if value == "" {
			return errors.New("the path is empty")
		}
		if strings.IndexByte(value, 0) >= 0 {
			return fmt.Errorf("the path %q has a NUL byte", value)
		}
		*field(w) = value
		return nil
	}
}
