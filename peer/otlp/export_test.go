package otlp

import (
	"context"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

func Uploader(cfg *Config) (func(context.Context, *tracepb.ResourceSpans) error, error) {
	return uploader(cfg)
}
