package main

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/switchyard-hpc/switchyard/internal/passwd"
	"github.com/switchyard-hpc/switchyard/internal/slurmtext"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// jobConditions say which jobs are wanted by queue, history and usage.
type jobConditions struct {
	// As given.
	mine, guests                              bool
	userNames, ids, names, siteNames, inState []string

	// As [jobConditions.read] has read them.
	users []string
	jobs  []protocol.JobName
	sites []protocol.SiteName
}

// conditionTexts are the letters and texts of options that differ between commands.
type conditionTexts struct {
	guests, states, sites    string
	nameLetter, statesLetter string
}

func (o *jobConditions) addTo(flags *pflag.FlagSet, texts conditionTexts) {
	flags.BoolVar(&o.mine, "mine", false, "only your own jobs")
	flags.BoolVar(&o.guests, "guests", false, texts.guests)
	flags.StringSliceVarP(&o.userNames, "user", "u", nil, "only jobs of these `users`: names, or user IDs of this machine")
	flags.StringSliceVarP(&o.ids, "jobs", "j", nil, "only jobs with these `IDs`; unknown ones are omitted")
	flags.StringSliceVarP(&o.names, "name", texts.nameLetter, nil, "only jobs with these `names`")
	flags.StringSliceVarP(&o.siteNames, "site", "w", nil, texts.sites)
	flags.StringSliceVarP(&o.inState, "states", texts.statesLetter, nil, texts.states)
	flags.SetNormalizeFunc(slurmName)
}

// slurmName maps long names of squeue and sacct to those of queue, history and usage.
func slurmName(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	switch name {
	case "noheader":
		name = "no-header"
	case "nodelist":
		name = "site"
	case "starttime":
		name = "since"
	case "endtime":
		name = "until"
	case "state":
		name = "states"
	case "accounts":
		name = "account"
	case "uid":
		name = "user"
	case "me":
		name = "mine"
	case "job":
		name = "jobs"
	}
	return pflag.NormalizedName(name)
}

// read reads users, IDs and sites; none of the lists may be empty.
func (o *jobConditions) read(ctx context.Context, a *app) (err error) {
	if err = notEmpty([]givenList{
		{"user", o.userNames}, {"jobs", o.ids}, {"states", o.inState}, {"name", o.names}, {"site", o.siteNames},
	}); err != nil {
		return err
	}
	if a.client().Remote() && slices.ContainsFunc(o.userNames, decimalOnly) {
		return usage("--user: IDs of users are those of this machine; over TCP give names")
	}
	if o.users, err = usersNamed(ctx, o.userNames); err != nil {
		return err
	}
	if o.mine {
		me, failed := a.caller(ctx)
		if failed != nil {
			return failed
		}
		o.users = append(o.users, me)
	}
	ids := slurmtext.SplitList(strings.Join(o.ids, ",")) // the flag has also split lists of elements, as 7_[1-5,9]
	if o.jobs, err = jobNames(ids); err != nil {
		return err
	}
	o.sites, err = readSites("site", o.siteNames)
	return err
}

// guestFilter says whether guests are wanted.
func (o *jobConditions) guestFilter() view.GuestFilter {
	if o.guests {
		return view.OnlyGuests
	}
	return view.WithoutGuests
}

// usersNamed are the names of users, some of which are given as user IDs of this machine.
func usersNamed(ctx context.Context, given []string) (names []string, err error) {
	for _, name := range given {
		if decimalOnly(name) {
			account, err := userByNameOrID(ctx, name)
			if err != nil {
				return nil, usage("--user: no user of this machine has the ID %s; give a name: %w", name, err)
			}
			name = account.Name
		}
		names = append(names, name)
	}
	return names, nil
}

// userByNameOrID is the user of this machine with a name, or else with a user ID.
func userByNameOrID(ctx context.Context, given string) (passwd.Entry, error) {
	found, err := passwd.ByName(ctx, given)
	if err == nil || !decimalOnly(given) {
		return found, err
	}
	uid, err := strconv.Atoi(given)
	if err != nil {
		return passwd.Entry{}, err
	}
	return passwd.ByUID(ctx, uid)
}
