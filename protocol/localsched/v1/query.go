package localschedv1

import (
	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

// EncodeRequests converts the shapes of jobs.
func EncodeRequests(jobs []protocol.Request) []*commonv1.Request {
	return wire.Convert(jobs, commonv1.EncodeRequest)
}

// DecodeRequests checks and converts the shapes of jobs, in a field of that name.
func DecodeRequests(field string, ms []*commonv1.Request) ([]protocol.Request, error) {
	if err := wire.AtMost(field, len(ms), MaxJobs); err != nil {
		return nil, err
	}
	return wire.Decode(field, ms, func(m *commonv1.Request) (protocol.Request, error) {
		r := commonv1.DecodeRequest(m)
		return r, commonv1.CheckRequest(r)
	})
}

// decodePlaced checks and converts a request of the job of a placement.
func decodePlaced(tag *commonv1.Tag, m *commonv1.Request) (protocol.Tag, protocol.Request, error) {
	t, r := commonv1.DecodeTag(tag), commonv1.DecodeRequest(m)
	return t, r, wire.First(
		commonv1.CheckTag(t),
		wire.Present("request", m != nil),
		wire.In("request", wire.First(commonv1.CheckRequest(r), sameJob(r.Job, t.Job))),
	)
}

// encodePlaced converts the request of a placement, whose job is that of the tag.
func encodePlaced(tag protocol.Tag, r protocol.Request) (*commonv1.Tag, *commonv1.Request) {
	r.Job = tag.Job
	return commonv1.EncodeTag(tag), commonv1.EncodeRequest(r)
}

// EncodeQuery converts a query. The job of a tentative allocation is that of its tag.
func EncodeQuery(q localsched.Query) *QuoteRequest {
	m := &QuoteRequest{Jobs: EncodeRequests(q.Jobs)}
	if q.ProtectSite != nil {
		m.ProtectSite = uint32(*q.ProtectSite)
	}
	for _, one := range q.Ahead {
		tag, request := encodePlaced(one.Tag, one.Request)
		tentative := &Tentative{Tag: tag, Request: request}
		if one.Association != (protocol.Association{}) {
			tentative.Association = commonv1.EncodeAssociation(one.Association)
		}
		m.Ahead = append(m.Ahead, tentative)
	}
	m.Associations = wire.Convert(q.Associations, commonv1.EncodeAssociation)
	return m
}

// DecodeQuery checks and converts a query. The error names the field and the entry.
func DecodeQuery(m *QuoteRequest) (localsched.Query, error) {
	jobs, err := DecodeRequests("jobs", m.GetJobs())
	if err = wire.First(err, wire.AtMost("ahead", len(m.GetAhead()), MaxJobs), checkProtectSite(m.GetProtectSite())); err != nil {
		return localsched.Query{}, wire.In("query", err)
	}
	ahead, err := wire.Decode("ahead", m.GetAhead(), decodeTentative)
	if err != nil {
		return localsched.Query{}, wire.In("query", err)
	}
	associations, err := wire.Decode("associations", m.GetAssociations(), commonv1.DecodeAssociation)
	if n := len(associations); err == nil && n != 0 && n != len(jobs) {
		err = wire.Wrong("associations", "has %d entries for %d jobs; give one for each, or none", n, len(jobs))
	}
	if err != nil {
		return localsched.Query{}, wire.In("query", err)
	}
	query := localsched.Query{Jobs: jobs, Ahead: ahead, Associations: associations}
	if number := m.GetProtectSite(); number != 0 {
		query.ProtectSite = new(protocol.SiteNumber(number)) //nolint:gosec // checked
	}
	return query, nil
}

func decodeTentative(m *Tentative) (localsched.Tentative, error) {
	tag, request, err := decodePlaced(m.GetTag(), m.GetRequest())
	if err != nil {
		return localsched.Tentative{}, err
	}
	association, err := commonv1.DecodeAssociation(m.GetAssociation())
	return localsched.Tentative{Tag: tag, Request: request, Association: association}, wire.In("association", err)
}

func checkProtectSite(number uint32) error {
	if number > uint32(protocol.MaxSiteNumber) {
		return wire.Wrong("protect_site", "%d is above %d", number, protocol.MaxSiteNumber)
	}
	return nil
}
