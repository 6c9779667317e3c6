package localschedtest_test

import (
	"context"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// wrongReservers hold room wrongly.
func wrongReservers() map[string]map[string]func() *wrong {
	return map[string]map[string]func() *wrong{
		"held room is kept for its job": {
			"promises and does nothing": func() *wrong {
				return &wrong{reserve: func(_ right, _ context.Context, hold localsched.Reservation) (protocol.Instant, error) {
					return hold.Start, nil
				}}
			},
			"says another time": func() *wrong { return reservingLater(-3600 * protocol.Second) },
			"holds for a moment": func() *wrong {
				return &wrong{reserve: func(s right, ctx context.Context, hold localsched.Reservation) (protocol.Instant, error) {
					at, err := s.Reserve(ctx, hold)
					if err == nil {
						err = s.CancelReservation(ctx, hold.Tag)
					}
					return at, err
				}}
			},
		},
		"held room that is given up is free": {
			"never gives up": func() *wrong {
				return &wrong{release: func(right, context.Context, protocol.Tag) error { return nil }}
			},
			"gives up once": func() *wrong {
				given := map[protocol.Tag]bool{}
				return &wrong{release: func(s right, ctx context.Context, tag protocol.Tag) error {
					if given[tag] {
						return localsched.ErrUnknownJob
					}
					given[tag] = true
					return s.CancelReservation(ctx, tag)
				}}
			},
		},
		"no room is held for what never fits": {
			"holds what is not there": func() *wrong {
				return &wrong{reserve: func(_ right, _ context.Context, hold localsched.Reservation) (protocol.Instant, error) {
					return hold.Start, nil
				}}
			},
		},
	}
}

// reservingLater says that room is held from so much later on.
func reservingLater(by protocol.Duration) *wrong {
	return &wrong{reserve: func(s right, ctx context.Context, hold localsched.Reservation) (protocol.Instant, error) {
		at, err := s.Reserve(ctx, hold)
		return at.Add(by), err
	}}
}
