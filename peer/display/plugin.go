package display

import (
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/api"
)

// Plugins lists the plugins of the peer and how they are.
func Plugins(all api.Plugins) *console.Table {
	t := console.NewTable("NAME", "KIND", "STATE", " SINCE", " RESTARTS", "VERSION", "PATH", "NOTE")
	for _, p := range all.Plugins {
		t.Add(console.Plain(p.Name), console.Plain(p.Kind), console.Plain(p.State), console.Clock(p.Since), strconv.Itoa(p.Restarts),
			console.OrDash(p.Version), console.Plain(p.Path), console.Plain(pluginNote(p)))
	}
	return t
}

// pluginNote says why a plugin is down, or was, in one line.
func pluginNote(p api.Plugin) string {
	why := strings.ReplaceAll(p.Failure, "\n", "; ")
	if why != "" && p.State == "up" {
		return "was down: " + why
	}
	return why
}
