package otlp

import (
	"context"
	"net/http"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

func ParseHeaders(data []byte) (http.Header, error) { return parseHeaders("headers", data) }

func Uploader(cfg *Config) (func(context.Context, *tracepb.ResourceSpans) error, error) {
	return uploader(cfg)
}
