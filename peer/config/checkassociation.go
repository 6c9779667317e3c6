package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/association"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// AssociationTable is what accounts, partitions and QOS of jobs mean at the site.
func (c *Config) AssociationTable() association.Table {
	return association.Table{Rules: c.Associations, Priced: slices.Sorted(maps.Keys(c.Cost.QoSFactors))}
}

func (r *checker) checkAssociations() {
	for i := range r.config.Associations {
		rule, key := &r.config.Associations[i], fmt.Sprintf("%s[%d]", associationSection, i)
		r.checkAssociationOrigin(key+".origin", rule.Origin)
		for _, one := range []struct{ name, pattern string }{
			{"user", rule.User}, {"account", rule.Account}, {"partition", rule.Partition}, {"qos", rule.QOS},
		} {
			if err := protocol.CheckPattern(one.pattern); err != nil {
				r.Problem(key+"."+one.name, "%v", err)
			}
		}
		r.checkAssociationResult(key, rule)
	}
}

func (r *checker) checkAssociationOrigin(key, origin string) {
	if origin == "" {
		r.Problem(key, "is missing; write %q for jobs of this site, the name of a partner, or \"*\" for all", r.config.Site.Name)
		return
	}
	if err := protocol.CheckPattern(origin); err != nil {
		r.Problem(key, "%v", err)
		return
	}
	known := origin == string(r.config.Site.Name) || strings.ContainsAny(origin, "*?") ||
		slices.ContainsFunc(r.config.Partners, func(p Partner) bool { return string(p.Name) == origin })
	switch {
	case known:
	case r.config.Roster.File != "": // which may have had it: the signers do not decide whether the peer starts
		r.Warn(key, "%q is neither this site nor a partner by a table or the roster, so the table is for no jobs", origin)
	default:
		r.Problem(key, "%q is neither this site nor a [[partner]]; use one of them, or \"*\" for all", origin)
	}
}

// checkAssociationResult checks what a job gets by the table.
func (r *checker) checkAssociationResult(key string, rule *association.Rule) {
	gets := []struct{ name, as string }{
		{association.Account, rule.AsAccount}, {association.Partition, rule.AsPartition}, {association.QOS, rule.AsQOS},
	}
	for _, one := range gets {
		as := key + ".as_" + one.name
		var alone protocol.Association
		switch one.name {
		case association.Account:
			alone.Account = one.as
		case association.Partition:
			alone.Partition = one.as
		case association.QOS:
			alone.QOS = one.as
		}
		switch err := alone.CheckAssociation(); {
		case err != nil:
			r.Problem(as, "%v", err)
		case strings.Contains(one.as, ","):
			r.Problem(as, "%q names several partitions; name one, or set ignore = [\"partition\"] for any", one.as)
		case one.as != "" && rule.Refuse != "":
			r.Problem(as, "has no effect beside refuse; remove one of them")
		case one.as != "" && slices.Contains(rule.Ignore, one.name):
			r.Problem(as, "excludes %q in ignore; remove one of them", one.name)
		}
	}
	for i, name := range rule.Ignore {
		r.OneOf(fmt.Sprintf("%s.ignore[%d]", key, i), name, association.Account, association.Partition, association.QOS)
	}
	if len(rule.Ignore) > 0 && rule.Refuse != "" {
		r.Problem(key+".ignore", "has no effect beside refuse; remove one of them")
	}
	r.checkRefuse(key+".refuse", rule.Refuse)
	r.checkHas(key, rule)
	r.warnOfRefusedPartition(key, rule)
}

// warnOfRefusedPartition warns of a partition that is refused by name, and that jobs get which name none.
func (r *checker) warnOfRefusedPartition(key string, rule *association.Rule) {
	s := r.config.LocalSched.Slurm
	if s == nil || rule.Refuse == "" {
		return
	}
	i := slices.IndexFunc(s.Partitions, func(name string) bool { return association.Covers(rule, name) })
	if i < 0 {
		return
	}
	origins := []protocol.SiteName{r.config.Site.Name}
	for k := range r.config.Partners {
		origins = append(origins, r.config.Partners[k].Name)
	}
	for _, origin := range origins {
		got, err := r.config.AssociationTable().Map(origin, "", protocol.Association{})
		if association.IsFor(rule, origin) && err == nil && got.Partition == "" {
			r.Warn(key+".refuse", "jobs of %s that name no partition are put in any of [localsched.slurm] partitions, also in %q; "+
				"give them another one by as_partition in a table for all of them", origin, s.Partitions[i])
			return
		}
	}
}

func (r *checker) checkRefuse(key, reason string) {
	if err := protocol.CheckText(reason); err != nil {
		r.Problem(key, "%v", err)
	}
	if n := len(reason); n > protocol.MaxNote {
		r.Problem(key, "has %d bytes; use at most %d", n, protocol.MaxNote)
	}
}

// checkHas checks that the site has what jobs get, as far as its configuration says.
func (r *checker) checkHas(key string, rule *association.Rule) {
	if s := r.config.LocalSched.Slurm; s != nil && len(s.Partitions) > 0 && rule.AsPartition != "" && !slices.Contains(s.Partitions, rule.AsPartition) {
		r.Problem(key+".as_partition", "%q is not among [localsched.slurm] partitions, which are the ones that jobs are put in; add it there", rule.AsPartition)
	}
	if factors := r.config.Cost.QoSFactors; len(factors) > 0 && rule.AsQOS != "" {
		names := slices.Sorted(maps.Keys(factors))
		if !slices.ContainsFunc(names, func(name string) bool { return association.SameQOS(name, rule.AsQOS) }) {
			r.Problem(key+".as_qos", "%q is not among [cost] qos_factors (%s), so that such jobs would be declined; add it there",
				rule.AsQOS, strings.Join(names, ", "))
		}
	}
}
