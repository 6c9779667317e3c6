package main

import (
	"context"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/slurmtext"
)

// sites are those of the grid.
func (c *slurmCall) nodes(ctx context.Context) (nodes []*slurmtext.Node, err error) {
	sites, err := c.client().Sites(ctx)
	if err != nil {
		return nil, err
	}
	for _, site := range sites.Sites {
		nodes = append(nodes, &slurmtext.Node{Site: site, Clock: &c.clock})
	}
	return nodes, nil
}

// sinfo lists sites as nodes of one partition.
func (c *slurmCall) sinfo(ctx context.Context) error {
	format, err := c.infoFormat()
	if err != nil {
		return err
	}
	nodes, err := c.nodes(ctx)
	if err != nil {
		return err
	}
	wanted, err := c.infoFilter()
	if err != nil {
		return err
	}
	filtered := slices.DeleteFunc(slices.Clone(nodes), func(n *slurmtext.Node) bool { return !wanted(n) })
	switch {
	case c.has("json") && !c.inPartition():
		return c.nodesInJSON(nil)
	case c.has("json"):
		return c.nodesInJSON(filtered)
	case c.has("reservation"):
		c.printf("No reservations in the system\n")
		return nil
	}
	if _, set := c.value("format"); !set && !c.has("Format") && c.has("Node") && !c.has("summarize") {
		for _, one := range filtered {
			format.Widen(string(one.Site.Site))
		}
	}
	c.printTitles(format.Header())
	c.printNodes(format, filtered)
	return nil
}

// printTitles prints the titles of columns, if they are wanted.
func (c *slurmCall) printTitles(titles string) {
	if c.has("noheader") {
		return
	}
	if c.has("long") {
		c.printf("%s\n", c.clock.Heading())
	}
	c.printf("%s\n", titles)
}

// inPartition says whether the one partition is among those that are wanted.
func (c *slurmCall) inPartition() bool {
	return oneIn(c.list("partition", "SINFO_PARTITION"), slurmtext.Partition)
}

// printNodes prints the sites that are wanted, those that are alike in one row.
func (c *slurmCall) printNodes(format slurmtext.Format[slurmtext.NodeRow], filtered []*slurmtext.Node) {
	if !c.inPartition() {
		return
	}
	if len(filtered) == 0 && !c.has("list-reasons") && !c.has("Node") {
		filtered = []*slurmtext.Node{slurmtext.NoNode(&c.clock)}
	}
	rows := slurmtext.Group(filtered, format, c.has("exact"), c.has("Node"))
	by, set := c.value("sort")
	if !set {
		if by = c.getenv("SINFO_SORT"); by == "" && c.has("Node") {
			by = "N"
		} else if by == "" {
			by = "-t"
		}
	}
	for _, letter := range slurmtext.Sort(slurmtext.InfoColumns(), rows, by) {
		c.notice("error: Invalid sort specification: %s", letter)
	}
	for _, row := range rows {
		c.printf("%s\n", format.Line(row))
	}
}

// infoFormat reads what is to be printed of each row.
func (c *slurmCall) infoFormat() (slurmtext.Format[slurmtext.NodeRow], error) {
	letters, short := c.value("format")
	names, long := c.value("Format")
	switch {
	case short && c.has("long"):
		return slurmtext.Format[slurmtext.NodeRow]{},
			saying("sinfo: fatal: Options -o(--format) and -l(--long) are mutually exclusive. Please remove one and retry.")
	case !long && !short: // where both are given, -O counts
		names, letters = c.usualInfoFormat()
	}
	if names != "" || long {
		format, unknown := slurmtext.ParseNames(slurmtext.InfoColumns(), names)
		for _, one := range unknown {
			c.notice("error: Invalid job format specification: %s", one)
		}
		return format, nil
	}
	format, unknown := slurmtext.ParseLetters(slurmtext.InfoColumns(), letters)
	for _, one := range unknown {
		c.problem("Invalid node format specification: %s", one)
	}
	return format, nil
}

// usualInfoFormat is what sinfo prints without -o and -O: names of columns, or letters.
func (c *slurmCall) usualInfoFormat() (names, letters string) {
	switch {
	case c.has("summarize"):
		return slurmtext.InfoSummaryFormat, ""
	case c.has("Node") && c.has("long"):
		return slurmtext.InfoLongNodesFormat, ""
	case c.has("Node"):
		return slurmtext.InfoNodesFormat, ""
	case c.has("list-reasons") && c.has("long"):
		return slurmtext.InfoLongReasonFormat, ""
	case c.has("list-reasons"):
		return slurmtext.InfoReasonFormat, ""
	case c.getenv("SINFO_FORMAT") != "":
		return "", c.getenv("SINFO_FORMAT")
	case c.has("long"):
		return slurmtext.InfoLongFormat, ""
	}
	return slurmtext.InfoFormat, ""
}

// infoFilter reads which sites are wanted.
func (c *slurmCall) infoFilter() (wanted func(*slurmtext.Node) bool, err error) {
	states := c.list("states", "")
	for _, state := range states {
		if !slurmtext.IsNodeState(state) {
			list, _ := c.value("states")
			return nil, saying("sinfo: error: Bad state string: \""+list+"\"", "sinfo: error: valid states: "+slurmtext.NodeStates)
		}
	}
	var names []string
	if list, set := c.value("nodes"); set {
		if names, err = slurmtext.ExpandHosts(list); err != nil {
			return nil, saying("sinfo: error: '" + list + "' invalid entry for --nodes")
		}
	}
	dead, responding, reasons := c.has("dead"), c.has("responding"), c.has("list-reasons") && states == nil
	return func(n *slurmtext.Node) bool {
		silent := strings.HasSuffix(n.State(), "*")
		return oneIn(names, string(n.Site.Site)) && (!dead || silent) && (!responding || !silent) && (!reasons || n.HasReason()) &&
			(states == nil || slices.ContainsFunc(states, n.InState))
	}, nil
}

// nodesInJSON prints sites as sinfo --json does.
func (c *slurmCall) nodesInJSON(sites []*slurmtext.Node) error {
	nodes := []slurmtext.Object{}
	for _, one := range sites {
		nodes = append(nodes, one.JSON())
	}
	return c.inSlurmJSON("openapi/v0.0.38", "nodes", nodes)
}
