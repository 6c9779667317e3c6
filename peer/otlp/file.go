package otlp

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// append adds a line to the file, which it opens each time: so it may be renamed or removed meanwhile.
func (e *Exporter) append(_ context.Context, all *tracepb.ResourceSpans) (err error) {
	line, err := lineOf(all)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(e.File, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = file.Write(line)
	return err
}

// lineOf is OTLP/JSON, as the file exporter of the OpenTelemetry collector writes it. That differs from protobuf in JSON in its IDs,
// which are hexadecimal.
func lineOf(all *tracepb.ResourceSpans) ([]byte, error) {
	data, err := protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{all}})
	if err != nil {
		return nil, err
	}
	var read any
	if err = json.Unmarshal(data, &read); err == nil {
		err = hexIDs(read)
	}
	if err != nil {
		return nil, err
	}
	data, err = json.Marshal(read)
	return append(data, '\n'), err
}

// hexIDs writes all IDs in a document as hexadecimal ones.
func hexIDs(in any) error {
	switch in := in.(type) {
	case []any:
		for _, one := range in {
			if err := hexIDs(one); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, value := range in {
			if text, ok := value.(string); ok && (key == "traceId" || key == "spanId" || key == "parentSpanId") {
				id, err := base64.StdEncoding.DecodeString(text)
				if err != nil {
					return fmt.Errorf("%s: %w", key, err)
				}
				in[key] = hex.EncodeToString(id)
			} else if err := hexIDs(value); err != nil {
				return err
			}
		}
	}
	return nil
}
