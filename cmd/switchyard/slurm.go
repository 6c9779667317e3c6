package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/passwd"
	"github.com/switchyard-hpc/switchyard/internal/slurmlinks"
	"github.com/switchyard-hpc/switchyard/internal/slurmtext"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// slurmVersion is the release whose output the commands print, as tools ask for it.
const slurmVersion = "slurm 22.05.8"

// slurmError is an error in the words of Slurm, which are printed as they are.
type slurmError struct {
	lines []string
	code  int
}

func (e *slurmError) Error() string { return strings.Join(e.lines, "\n") }

// saying is a failure with exit code 1.
func saying(lines ...string) error { return &slurmError{lines: lines, code: exitFailed} }

// slurmCall is a call of one of the commands.
type slurmCall struct {
	*app

	given  []slurmtext.Given
	rest   []string
	clock  slurmtext.Clock
	users  map[string]passwd.Entry
	groups map[uint32]string // their names
	uid    int               // of the caller
}

// runAs executes a command line of a command of Slurm and returns the exit code, as that has it.
func (a *app) runAs(ctx context.Context, name string, args []string) int {
	a.name, a.socket = name, a.defaultSocket()
	call := &slurmCall{app: a, users: map[string]passwd.Entry{}, groups: map[uint32]string{}, uid: os.Getuid()}
	now := a.now()
	call.clock = slurmtext.Clock{Now: protocol.InstantOf(now), Zone: now.Location(), Style: a.getenv("SLURM_TIME_FORMAT")}
	return a.slurmExit(call.run(ctx, args))
}

func (c *slurmCall) run(ctx context.Context, args []string) error {
	switch c.name {
	case "sbatch":
		return c.sbatch(ctx, args)
	case "srun":
		return c.srun(args)
	}
	var err error
	c.given, c.rest, err = slurmtext.Parse(slurmtext.CommandFlags()[c.name], args, c.name == "scontrol")
	if err != nil {
		if c.name == "sacct" {
			return saying("sacct: " + err.Error())
		}
		return saying(c.name+": "+err.Error(), fmt.Sprintf("Try %q for more information", c.name+" --help"))
	}
	if stop, err := c.general(); stop || err != nil {
		return err
	}
	switch c.name {
	case "squeue":
		return c.repeat(ctx, c.squeue)
	case "sinfo":
		return c.repeat(ctx, c.sinfo)
	case "scancel":
		return c.scancel(ctx)
	case "sacct":
		return c.sacct(ctx)
	}
	return c.scontrol(ctx)
}

// general does what all commands have in common: help, the version, options that are not carried, and conditions without a value.
func (c *slurmCall) general() (stop bool, err error) {
	var refused []string
	for _, one := range c.given {
		switch {
		case one.Flag.Long == "help" || one.Flag.Long == "usage":
			c.printf("%s", slurmUsage(c.name))
			return true, nil
		case one.Flag.Long == "version":
			c.printVersion()
			return true, nil
		case one.Flag.Refused != "":
			refused = append(refused, fmt.Sprintf("%s: error: %s is not supported: %s", c.name, one.Typed, one.Flag.Refused))
		case one.SelectsNothing():
			refused = append(refused, fmt.Sprintf("%s: error: %s: the value is empty; give one, or leave the option out", c.name, one.Typed))
		case one.Flag.Noticed != "":
			c.notice("%s has no effect: %s", one.Typed, one.Flag.Noticed)
		}
	}
	if len(refused) > 0 {
		return true, saying(refused...)
	}
	return false, nil
}

func (c *slurmCall) printVersion() { c.printf("%s (Switchyard %s)\n", slurmVersion, version) }

// slurmUsage lists the options of a command.
func slurmUsage(name string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "Usage: %s [options]\nThis is Switchyard's %s; see docs/slurm-commands.md. Options:\n", name, name)
	for _, flag := range slurmtext.CommandFlags()[name] {
		if flag.Refused != "" || flag.Noticed != "" || flag.Moot != "" {
			continue
		}
		text := "--" + flag.Long
		if flag.Letter != 0 {
			text = "-" + string(flag.Letter) + ", " + text
		}
		if flag.Argument == slurmtext.WithValue {
			text += "=VALUE"
		}
		fmt.Fprintf(&out, "  %s\n", text)
	}
	return out.String()
}

// value is that of an option, of several the last; set says whether it was given.
func (c *slurmCall) value(long string) (value string, set bool) {
	for _, one := range c.given {
		if one.Flag.Long == long {
			value, set = one.Value, true
		}
	}
	return value, set
}

func (c *slurmCall) has(long string) bool {
	_, set := c.value(long)
	return set
}

// list is the value of an option, or else of a variable, split at commas; nil: nothing is asked for.
func (c *slurmCall) list(long, variable string) []string {
	value, set := c.value(long)
	if !set && variable != "" {
		value = c.getenv(variable)
	}
	return fieldsOf(value)
}

// fieldsOf splits a list at commas; nil: it is empty.
func fieldsOf(list string) []string {
	if strings.Trim(list, ",") == "" {
		return nil
	}
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

// repeat lists once, or with --iterate again and again until it is interrupted.
func (c *slurmCall) repeat(ctx context.Context, show func(context.Context) error) error {
	text, set := c.value("iterate")
	if !set {
		return show(ctx)
	}
	every, err := strconv.Atoi(text)
	if err != nil || every <= 0 {
		if c.name == "sinfo" {
			return saying("sinfo: error: Error: invalid entry for --iterate=" + text)
		}
		return saying("squeue: error: --iterate="+text, "")
	}
	for {
		c.clock.Now = protocol.InstantOf(c.now())
		c.printf("%s\n", c.clock.Heading())
		if err := show(ctx); err != nil {
			return err
		}
		c.printf("\n")
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Duration(every) * time.Second):
		}
	}
}

// slurmExit prints an error as Slurm does and returns the exit code for it.
func (a *app) slurmExit(err error) int {
	var said *slurmError
	var known *exitError
	var refused *api.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &said):
		for _, line := range said.lines {
			a.problem("%s", console.Plain(line))
		}
		return said.code
	case errors.As(err, &known) && known.err == nil: // the exit code of a job
		return known.code
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, api.ErrUnreachable):
		a.problem("%s: error: Unable to contact slurm controller (connect failure)", a.name)
		a.problem("%s: error: %s", a.name, console.Plain(err.Error()))
	case errors.As(err, &refused):
		a.problem("%s: error: %s", a.name, console.Plain(refused.Reason))
		for _, site := range refused.Sites {
			a.problem("%s: error:   %s: %s", a.name, console.Plain(string(site.Site)), console.Plain(site.Reason))
		}
	default:
		for line := range strings.SplitSeq(err.Error(), "\n") {
			a.problem("%s: error: %s", a.name, console.Plain(line))
		}
	}
	return exitFailed
}

// ownID is the ID of the job in which the command runs if text is that job's number in Slurm.
func (c *slurmCall) ownID(text string) string {
	if own := c.getenv("SWITCHYARD_JOB_ID"); own != "" && text == c.getenv("SLURM_JOB_ID") {
		return own
	}
	return text
}

// row is a job with what Slurm says of its user.
func (c *slurmCall) row(ctx context.Context, job view.Job, cluster protocol.SiteName) *slurmtext.Job {
	out := &slurmtext.Job{Job: job, Clock: &c.clock, Cluster: string(cluster), Unit: c.unit()}
	who := c.account(ctx, job.User)
	out.UID, out.GID, out.Group = who.UID, who.GID, c.group(ctx, who.GID)
	return out
}

// group is the name of a group, or its number if this machine does not know it.
func (c *slurmCall) group(ctx context.Context, gid uint32) string {
	name, known := c.groups[gid]
	if !known {
		var err error
		if name, err = passwd.GroupByID(ctx, gid); err != nil {
			name = strconv.FormatUint(uint64(gid), 10)
		}
		c.groups[gid] = name
	}
	return name
}

// unit is that of all memory; 0: the one that Slurm takes for each amount.
func (c *slurmCall) unit() byte {
	units, set := c.value("units")
	switch {
	case set && units != "":
		return strings.ToUpper(units)[0]
	case c.has("noconvert"):
		return 'M'
	}
	return 0
}

// account is that of a user. A user whom this machine does not know has the overflow ID of the kernel.
func (c *slurmCall) account(ctx context.Context, name string) passwd.Entry {
	who, known := c.users[name]
	if !known {
		const overflowID = 65534
		var err error
		if who, err = passwd.ByName(ctx, name); err != nil { // a user of another site
			who = passwd.Entry{UID: overflowID, GID: overflowID}
		}
		c.users[name] = who
	}
	return who
}

// asGuest says whether the command runs in a job of another site: the jobs of others at this site are listed, too, so that
// it finds itself.
func (c *slurmCall) asGuest() bool {
	origin := c.getenv("SWITCHYARD_ORIGIN_SITE")
	return origin != "" && origin != c.getenv("SWITCHYARD_EXEC_SITE")
}

// slurmCommandsCommand makes the commands.
func (a *app) slurmCommandsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "slurm-commands DIR",
		Short: "Make Slurm's commands that talk to Switchyard",
		Long: "Make the commands " + strings.Join(slurmlinks.Names(), ", ") + " in a directory: symbolic links to\n" +
			"this program, which behaves as they do if it is called by their names. Whoever has the directory\n" +
			"in PATH before that of a real Slurm submits to Switchyard. docs/slurm-commands.md lists their\n" +
			"options, and what is different.\n\n" +
			"A file of another kind with one of these names is never replaced.",
		Example: "  switchyard slurm-commands /usr/local/lib/switchyard/bin\n" +
			"  PATH=/usr/local/lib/switchyard/bin:$PATH snakemake …",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("%s takes one directory, got %d", cmd.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			program, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find this program: %w", err)
			}
			return slurmlinks.Make(program, args[0])
		},
	}
}

// isSlurmCommand says whether a name is that of one of the commands.
func isSlurmCommand(name string) bool { return slices.Contains(slurmlinks.Names(), name) }
