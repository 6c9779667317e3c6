package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/plugins/price"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	pricev1 "github.com/switchyard-hpc/switchyard/protocol/price/v1"
)

// failing is a feed that fails with an error.
type failing struct{ err error }

func (f failing) Describe(context.Context) (price.Description, error) {
	if f.err == nil {
		panic("oh dear")
	}
	return price.Description{}, f.err
}

func (f failing) Prices(context.Context, price.Query) (price.Series, error) {
	return price.Series{}, f.err
}

// Errors travel as the status that the protocols name, with their words; panics as
// errors.
func TestErrorsBecomeStatuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want codes.Code
		text string
	}{
		{fmt.Errorf("area: %w", price.ErrUnknownArea), codes.NotFound, "area: the feed does not know this area"},
		{localsched.ErrUnknownJob, codes.NotFound, localsched.ErrUnknownJob.Error()},
		{fmt.Errorf("x: %w", localsched.ErrDuplicate), codes.AlreadyExists, "x: "},
		{localsched.ErrStarted, codes.FailedPrecondition, ""},
		{context.DeadlineExceeded, codes.DeadlineExceeded, ""},
		{context.Canceled, codes.Canceled, ""},
		{errors.New("bad \xff text"), codes.Unknown, "bad ? text"},
		{errors.New(strings.Repeat("long", 10_000)), codes.Unknown, "longlong"},
		{status.Error(codes.ResourceExhausted, "mine"), codes.ResourceExhausted, "mine"},
		{nil, codes.Internal, "panic: oh dear"},
	} {
		t.Run(fmt.Sprintf("%.20v", tt.err), func(t *testing.T) {
			t.Parallel()
			conn := configured(t, sdk.Feed[struct{}]{
				Name: "failing", Version: "1",
				Make: func(struct{}, sdk.Host) (price.Feed, error) { return failing{tt.err}, nil },
			}, "")
			_, err := pricev1.NewFeedClient(conn).Describe(t.Context(), &pricev1.DescribeRequest{})
			if status.Code(err) != tt.want || !strings.Contains(err.Error(), tt.text) || len(err.Error()) > 5000 {
				t.Errorf("got %.200v, want %v with %q", err, tt.want, tt.text)
			}
		})
	}
}
