package display

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/console"
	"github.com/switchyard-hpc/switchyard/peer/api"
	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
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

// PluginInfo tells what a plugin says of itself, and the SHA-256 of its file.
func PluginInfo(info pluginhost.Info, sum string) string {
	return fmt.Sprintf("name          %s\nkind          %s\nversion       %s\nabout         %s\n"+
		"services      %s\ncapabilities  %s\nsha256        %s\n",
		console.Plain(info.Name), info.Kind, console.Plain(info.Version), console.OrDash(info.About),
		console.Plain(strings.Join(info.Services, ", ")), console.OrDash(strings.Join(info.Capabilities, ", ")), sum)
}

// PolicyInfo tells which rounds a policy serves, and its parameters.
func PolicyInfo(p policy.Policy) string {
	info := policy.Describe(p)
	var out strings.Builder
	fmt.Fprintf(&out, "initiations   %s\nshortcut      %t\nalone         %t\n",
		strings.Join(console.Names(info.Initiations), ", "), info.SkipsRoundBelowThreshold(), info.LocalOnly())
	for _, param := range info.Params {
		fmt.Fprintf(&out, "parameter     %s = %s\n", console.Plain(param.Name), console.Plain(param.Value))
	}
	return out.String()
}
