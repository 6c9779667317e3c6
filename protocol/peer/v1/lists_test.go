package peerv1_test

import (
	"bytes"
	"runtime"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/switchyard-hpc/switchyard/protocol"
	peerv1 "github.com/switchyard-hpc/switchyard/protocol/peer/v1"
	"github.com/switchyard-hpc/switchyard/protocol/protocoltest"
)

// nested is a message in fields of messages, each of which is the value of the one before.
func nested(inner []byte, fields ...protowire.Number) []byte {
	for _, field := range slices.Backward(fields) {
		inner = protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), inner)
	}
	return inner
}

// The numbers of fields in peer.proto and common.proto.
const (
	requestJobs  = protowire.Number(3)
	specSites    = protowire.Number(4)
	offerPayload = protowire.Number(3)
	payloadEnv   = protowire.Number(3)
)

// TestMemoryOfMessages decodes bodies that are full of empty elements of lists.
func TestMemoryOfMessages(t *testing.T) { // alone: it measures what is allocated
	sites := bytes.Repeat(nested(nil, specSites), 4000)
	for name, sent := range map[string]struct {
		kind    string
		element []byte
		around  []protowire.Number
		limit   int
	}{
		"jobs":          {protocol.QuoteRequest{}.Kind(), nested(nil, requestJobs), nil, peerv1.MaxQuotes},
		"sites of jobs": {protocol.QuoteRequest{}.Kind(), nested(sites, requestJobs), nil, peerv1.MaxQuotes},
		"quotes":        {protocol.QuoteReply{}.Kind(), nested(nil, 2), nil, peerv1.MaxQuotes},
		"variables":     {protocol.Offer{}.Kind(), nested(nil, payloadEnv), []protowire.Number{offerPayload}, peerv1.MaxMessage},
	} {
		t.Run(name, func(t *testing.T) {
			body := nested(bytes.Repeat(sent.element, (sent.limit-16)/len(sent.element)), sent.around...)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := peerv1.Decode(sent.kind, body)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), "element") {
				t.Errorf("%v", err)
			}
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > uint64(len(body)) {
				t.Errorf("%d MB were allocated for a body of %d MB", allocated>>20, len(body)>>20)
			}
		})
	}
}

// TestLongListsOfMessages has as many variables as a job may have, and one more.
func TestLongListsOfMessages(t *testing.T) {
	t.Parallel()
	offer, ok := messages(protocol.Offer{}.Kind()).Example(0).(protocol.Offer)
	if !ok {
		t.Fatal("it is no offer")
	}
	whole, err := peerv1.Encode(offer)
	if err != nil {
		t.Fatal(err)
	}
	given := *offer.Payload
	variables := func(n int) []byte {
		return append(bytes.Clone(whole), nested(bytes.Repeat(nested([]byte("A=b"), payloadEnv), n), offerPayload)...)
	}
	if _, err = peerv1.Decode(offer.Kind(), variables(protocol.MaxArgs-len(given.Args)-len(given.Env))); err != nil {
		t.Error(err)
	}
	_, err = peerv1.Decode(offer.Kind(), variables(protocol.MaxArgs+1))
	protocoltest.Refused(t, err, "offer.payload.env: has more than 65536 elements")
}
