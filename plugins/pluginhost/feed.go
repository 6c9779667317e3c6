package pluginhost

import (
	"context"

	"google.golang.org/grpc/codes"

	"github.com/switchyard-hpc/switchyard/plugins/price"
	pricev1 "github.com/switchyard-hpc/switchyard/protocol/price/v1"
)

// Feed is the plugin as a feed of prices; its kind must be that.
func (p *Plugin) Feed() price.Feed {
	return remoteFeed{pluginClient[pricev1.FeedClient]{
		life: p.running, client: pricev1.NewFeedClient, means: feedMeans, limit: p.spec.Timing.Call,
	}}
}

// remoteFeed is a feed in another process.
type remoteFeed struct {
	door pluginClient[pricev1.FeedClient]
}

func feedMeans(code codes.Code) error {
	if code == codes.NotFound {
		return price.ErrUnknownArea
	}
	return nil
}

// Describe implements [price.Feed].
func (r remoteFeed) Describe(ctx context.Context) (price.Description, error) {
	return ask(ctx, r.door, "Describe", pricev1.FeedClient.Describe, &pricev1.DescribeRequest{}, pricev1.DecodeDescription)
}

// Prices implements [price.Feed].
func (r remoteFeed) Prices(ctx context.Context, query price.Query) (price.Series, error) {
	read := func(reply *pricev1.PricesResponse) (price.Series, error) { return pricev1.DecodeSeries(reply, query) }
	return ask(ctx, r.door, "Prices", pricev1.FeedClient.Prices, pricev1.EncodeQuery(query), read)
}
