package sdk

import (
	"context"

	"github.com/switchyard-hpc/switchyard/plugins/price"
	pricev1 "github.com/switchyard-hpc/switchyard/protocol/price/v1"
)

// feedServer serves a feed of prices.
type feedServer struct {
	pricev1.UnimplementedFeedServer
	made func() (price.Feed, error)
}

// Describe implements [pricev1.FeedServer].
func (s *feedServer) Describe(ctx context.Context, _ *pricev1.DescribeRequest) (*pricev1.DescribeResponse, error) {
	feed, err := s.made()
	if err != nil {
		return nil, err
	}
	description, err := feed.Describe(ctx)
	if err != nil {
		return nil, err
	}
	return pricev1.EncodeDescription(description), nil
}

// Prices implements [pricev1.FeedServer].
func (s *feedServer) Prices(ctx context.Context, in *pricev1.PricesRequest) (*pricev1.PricesResponse, error) {
	feed, err := s.made()
	if err != nil {
		return nil, err
	}
	query, err := pricev1.DecodeQuery(in)
	if err != nil {
		return nil, badRequest(err)
	}
	series, err := feed.Prices(ctx, query)
	if err != nil {
		return nil, err
	}
	return pricev1.EncodeSeries(series), nil
}
