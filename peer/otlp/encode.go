package otlp

import (
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/switchyard-hpc/switchyard/peer/spans"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// ofSite says whose the spans are.
func (e *Exporter) ofSite(all []*tracepb.Span) *tracepb.ResourceSpans {
	return &tracepb.ResourceSpans{
		Resource: &resourcepb.Resource{Attributes: []*commonpb.KeyValue{
			{Key: "service.name", Value: textValue("switchyard")},
			{Key: "service.instance.id", Value: textValue(string(e.Site))},
			{Key: "service.version", Value: textValue(e.Version)},
		}},
		ScopeSpans: []*tracepb.ScopeSpans{{
			Scope: &commonpb.InstrumentationScope{Name: "github.com/switchyard-hpc/switchyard/peer/spans"}, Spans: all,
		}},
	}
}

func encode(all []spans.Span) []*tracepb.Span {
	out := make([]*tracepb.Span, len(all))
	for i := range all {
		s := &all[i]
		out[i] = &tracepb.Span{
			TraceId: s.Trace[:], SpanId: s.ID[:], Name: string(s.Name), Kind: kindOf(s), Flags: flagsOf(s),
			StartTimeUnixNano: nanos(s.Start), EndTimeUnixNano: nanos(s.End),
		}
		if s.Parent != (protocol.SpanID{}) {
			out[i].ParentSpanId = s.Parent[:]
		}
		if s.Failed {
			out[i].Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR}
		}
		for _, a := range s.Attributes {
			out[i].Attributes = append(out[i].Attributes, &commonpb.KeyValue{Key: a.Key, Value: valueOf(a)})
		}
		for _, m := range s.Moments {
			out[i].Events = append(out[i].Events, &tracepb.Span_Event{Name: m.Name, TimeUnixNano: nanos(m.At)})
		}
	}
	return out
}

// kindOf is the role of the span: a hand-off has an effect at another site later, where a span of that is below it.
func kindOf(s *spans.Span) tracepb.Span_SpanKind {
	switch {
	case s.Name == spans.HandOff:
		return tracepb.Span_SPAN_KIND_PRODUCER
	case s.Remote && s.Name == spans.Placement:
		return tracepb.Span_SPAN_KIND_CONSUMER
	}
	return tracepb.Span_SPAN_KIND_INTERNAL
}

// flagsOf says that the span is sampled, and whether its parent is one of another program.
func flagsOf(s *spans.Span) uint32 {
	flags := uint32(tracepb.SpanFlags_SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK) | 1
	if s.Remote {
		flags |= uint32(tracepb.SpanFlags_SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK)
	}
	return flags
}

func nanos(at protocol.Instant) uint64 {
	return uint64(max(0, at)) * 1e6
}

func valueOf(a spans.Attribute) *commonpb.AnyValue {
	switch {
	case a.Number != nil:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: *a.Number}}
	case a.Text != nil:
		return textValue(*a.Text)
	}
	list := &commonpb.ArrayValue{}
	for _, one := range a.Texts {
		list.Values = append(list.Values, textValue(one))
	}
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: list}}
}

func textValue(text string) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: text}}
}
