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
func (s *feedServer) Describe(ctx context.Context, in *pricev1.DescribeRequest) (*pricev1.DescribeResponse, error) {
	return answer(s.made, in, nothing, func(feed price.Feed, _ struct{}) (*pricev1.DescribeResponse, error) {
		description, err := feed.Describe(ctx)
		return pricev1.EncodeDescription(description), err
	})
}

// Prices implements [pricev1.FeedServer].
func (s *feedServer) Prices(ctx context.Context, in *pricev1.PricesRequest) (*pricev1.PricesResponse, error) {
	return answer(s.made, in, pricev1.DecodeQuery, func(feed price.Feed, query price.Query) (*pricev1.PricesResponse, error) {
		series, err := feed.Prices(ctx, query)
		return pricev1.EncodeSeries(series), err
	})
}
