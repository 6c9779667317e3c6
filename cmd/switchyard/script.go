package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/switchyard-hpc/switchyard/internal/application"
	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/internal/passwd"
	"github.com/switchyard-hpc/switchyard/localsched/process"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// jobOptions are the command line's options of jobs.
type jobOptions struct {
	list        []batchscript.Setting // those of batch scripts, in their order
	application string                // the file that describes an application
	pareto      bool                  // ask for the choices between cost and time
	long        bool                  // tell all that quotes say
}

func (s *jobOptions) addTo(flags *pflag.FlagSet) {
	for _, option := range batchscript.Options() {
		s.addOption(flags, option, option.Long, option.Short).Hidden = option.Help == ""
		if option.Also != "" {
			s.addOption(flags, option, option.Also, "").Hidden = true
		}
	}
	flags.StringVar(&s.application, "application", "", "`file` that describes an application, with any suffix (default: the script, if its suffix is .toml)")
	flags.BoolVar(&s.pareto, "pareto", false, "print the alternatives between cost and time, and submit nothing")
	flags.BoolVar(&s.long, "long", false, "with quotes, also print the cost by kind")
}

// addOption adds a flag that sets an option.
func (s *jobOptions) addOption(flags *pflag.FlagSet, option batchscript.Option, long, short string) *pflag.Flag {
	value := &setting{into: s, option: option}
	flag := flags.VarPF(value, long, short, option.Help)
	if option.Value == "" || option.Maybe {
		flag.NoOptDefVal = value.without()
	}
	return flag
}

// setting is one option as a flag.
type setting struct {
	into   *jobOptions
	option batchscript.Option
}

// without is what the flag package hands over when there is no value: never nothing.
func (s *setting) without() string {
	if s.option.Maybe {
		return " "
	}
	return "true"
}

func (s *setting) Set(value string) error {
	if s.option.Value == "" && value != s.without() {
		return errors.New("the option takes no value")
	}
	if s.option.Maybe && value == s.without() {
		value = ""
	}
	s.into.list = append(s.into.list, batchscript.Setting{Long: s.option.Long, Value: value})
	return nil
}

func (s *setting) String() string { return "" }

// Type names the value in the help; flags without one show none.
func (s *setting) Type() string {
	if s.option.Value == "" {
		return "bool"
	}
	return s.option.Value
}

// readJobs reads the script, or the application, that the arguments name and what it asks
// for.
func (a *app) readJobs(ctx context.Context, args []string, options *jobOptions) (batchscript.Batch, error) {
	file := options.application
	if file == "" && len(args) > 0 && strings.HasSuffix(args[0], applicationSuffix) {
		file, args = args[0], args[1:]
	}
	wrap, wrapped := options.wrapped()
	switch {
	case wrapped && (file != "" || len(args) > 0):
		return batchscript.Batch{}, usage("--wrap replaces the script; omit the file and its arguments")
	case file != "" && len(args) > 0:
		return batchscript.Batch{}, usage("the application %s takes no arguments, but got %q; write each component's args in the file", file, args[0])
	}
	from, err := a.origin(ctx)
	if err != nil {
		return batchscript.Batch{}, err
	}
	var notices []string
	var batch batchscript.Batch
	switch {
	case wrapped:
		batch, notices, err = batchscript.Read(batchscript.Wrap(wrap), options.list, from)
	case file != "":
		batch, notices, err = readApplication(file, options.list, from)
	default:
		batch, notices, err = a.readBatch(args, options.list, from)
	}
	a.notices(batch, notices)
	if err == nil {
		err = a.checkPlaces(batch)
	}
	return batch, err
}

// notices prints what users should know of their jobs, unless they asked for quiet.
func (a *app) notices(batch batchscript.Batch, all []string) {
	if quiet(batch) {
		return
	}
	for _, notice := range all {
		a.notice("%s", console.Plain(notice))
	}
}

// checkPlaces looks at the directories and files that the jobs name, which over TCP are those of another machine.
func (a *app) checkPlaces(batch batchscript.Batch) error {
	if a.client().Remote() {
		return checkRemote(batch)
	}
	if !quiet(batch) {
		a.noticeMissing(batch)
	}
	return nil
}

// noticeMissing says where output is to go into a directory that is not there. The batch system opens the file before
// the script could make it.
func (a *app) noticeMissing(batch batchscript.Batch) {
	var said []string
	for i := range batch.Jobs {
		for _, file := range []string{batch.Jobs[i].Payload.Stdout, batch.Jobs[i].Payload.Stderr} {
			dir := filepath.Dir(file)
			if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && !strings.Contains(dir, "%") && !slices.Contains(said, dir) {
				said = append(said, dir)
				a.notice("the directory %s of the output does not exist; make it before the job starts", console.Plain(dir))
			}
		}
	}
}

// wrapped is the command that is to be the script, of several the last.
func (s *jobOptions) wrapped() (command string, ok bool) {
	for _, one := range s.list {
		if one.Long == "wrap" {
			command, ok = one.Value, true
		}
	}
	return command, ok
}

// quiet reports whether only errors are to be printed.
func quiet(batch batchscript.Batch) bool {
	return anyJob(batch, func(job *batchscript.Job) bool { return job.Quiet })
}

// applicationSuffix marks the file of an application.
const applicationSuffix = ".toml"

func readApplication(
	path string, options []batchscript.Setting, from batchscript.Origin,
) (batchscript.Batch, []string, error) {
	file, err := os.Open(path) //nolint:gosec // the user's own file
	if err != nil {
		return batchscript.Batch{}, nil, unreadable("the application "+path, err)
	}
	defer file.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(file, application.MaxFile+1))
	if err != nil {
		return batchscript.Batch{}, nil, unreadable("the application "+path, err)
	}
	source := application.Source{Name: path, Text: string(text), Script: openScript}
	return application.Read(source, options, from)
}

// readBatch reads the script that the arguments name.
func (a *app) readBatch(
	args []string, options []batchscript.Setting, from batchscript.Origin,
) (batchscript.Batch, []string, error) {
	script, rest, err := a.readScript(args)
	if err != nil {
		return batchscript.Batch{}, nil, err
	}
	batch, notices, err := batchscript.Read(script, options, from)
	for i := range batch.Jobs {
		batch.Jobs[i].Payload.Args = rest
	}
	return batch, notices, err
}

func (a *app) readScript(args []string) (script batchscript.Script, rest []string, err error) {
	if len(args) > 0 && args[0] != "-" {
		script, err = openScript(args[0])
		return script, args[1:], err
	}
	if len(args) == 0 && terminal(a.stdin) {
		return script, nil, usage("missing batch script: name a file, or write one to the standard input")
	}
	if len(args) > 0 {
		rest = args[1:]
	}
	script = batchscript.Script{Name: "stdin", Stdin: true}
	script.Data, err = readLimited(a.stdin)
	return script, rest, err
}

func openScript(path string) (script batchscript.Script, err error) {
	file, err := os.Open(path) //nolint:gosec // the user's own file
	if err != nil {
		return script, unreadable("the batch script "+path, err)
	}
	defer file.Close() //nolint:errcheck // only read
	script = batchscript.Script{Name: path}
	script.Data, err = readLimited(file)
	return script, err
}

// readLimited reads just enough to see that a script is too long.
func readLimited(file *os.File) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(file, protocol.MaxScript+1))
	if err != nil {
		return nil, usage("the batch script %s cannot be read: %w", file.Name(), cause(err))
	}
	return data, nil
}

// cause is an error without the path that the message names already.
func cause(err error) error {
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		return named.Err
	}
	return err
}

func (a *app) origin(ctx context.Context) (batchscript.Origin, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	host, _, _ = strings.Cut(host, ".")
	if a.client().Remote() {
		return a.remoteOrigin(ctx, host)
	}
	dir, err := os.Getwd()
	if err != nil {
		return batchscript.Origin{}, fmt.Errorf("find the current directory, where the job would run: %w", err)
	}
	user, err := userName(ctx)
	from := batchscript.Origin{User: user, Host: host, Dir: dir, Env: os.Environ(), Now: a.now(), Shell: process.CallingShell(ctx, host)}
	if a.name == "sbatch" {
		from.OutputStem = "slurm"
	}
	return from, err
}

// userName is the name of the user who runs the command; the number of one without a name.
func userName(ctx context.Context) (string, error) {
	me, err := passwd.ByUID(ctx, os.Getuid())
	switch {
	case errors.Is(err, passwd.ErrUnknown):
		return strconv.Itoa(os.Getuid()), nil
	case err != nil:
		return "", fmt.Errorf("find your user name: %w; try again", err)
	}
	return me.Name, nil
}

// terminal says whether people sit at the file's other end.
func terminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && info.Mode()&os.ModeDevice != 0 && !isNull(info)
}

func isNull(info fs.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}

// unreadable says why a file that was named cannot be read, with the exit code for it.
func unreadable(what string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &exitError{exitNotFound, fmt.Errorf("%s cannot be read: %w", what, cause(err))}
	}
	return usage("%s cannot be read: %w", what, cause(err))
}
