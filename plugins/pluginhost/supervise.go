package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"time"

	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// supervise keeps the plugin running until the context ends.
func (p *Plugin) supervise(ctx context.Context) {
	defer close(p.done)
	pace := newPace(&p.spec)
	status := Status{}
	for ; ; status.Restarts++ {
		status.State, status.RetryAt, status.PID = Starting, time.Time{}, 0
		p.become(status, nil)
		life, err := p.start(ctx)
		if err == nil {
			status.State, status.PID = Up, life.process.pid
			p.log.Info("plugin_up", "path", p.spec.Path, "pid", status.PID, "restarts", status.Restarts)
			p.become(status, life)
			err = p.watchOver(ctx, life)
		}
		status.PID = 0
		if ctx.Err() != nil {
			status.State = Closed
			p.become(status, nil)
			life.shutDown(context.WithoutCancel(ctx))
			return
		}
		pause := pace.after(time.Now())
		p.log.Error("plugin_down", "path", p.spec.Path, "why", err, "retry_in", pause.Round(time.Millisecond))
		status.State, status.Failure, status.RetryAt = Down, err.Error(), time.Now().Add(pause)
		p.become(status, nil)
		life.end()
		p.rest(ctx, time.Until(status.RetryAt))
	}
}

// start begins a life of the plugin; it is nil if that fails.
func (p *Plugin) start(ctx context.Context) (*instance, error) {
	life, err := launch(ctx, &p.spec, p.output)
	if err != nil {
		return nil, err
	}
	if err = p.introduce(ctx, life); err != nil {
		life.end()
		return nil, err
	}
	return life, nil
}

// rest waits for the pause or the end of the context.
func (p *Plugin) rest(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// watchOver waits until something is wrong with a life, or the context ends.
func (p *Plugin) watchOver(ctx context.Context, life *instance) error {
	look := time.NewTicker(p.spec.Timing.Health)
	defer look.Stop()
	for misses := 0; ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-life.process.ended:
			return life.process.whyEnded()
		case err := <-life.broken:
			return err
		case <-look.C:
		}
		err := life.healthy(ctx)
		if err == nil {
			misses = 0
			continue
		}
		if misses++; misses >= p.spec.Timing.Misses {
			return fmt.Errorf("%d health checks in a row failed; the last one: %w", misses, err)
		}
	}
}

// healthy says what is wrong with the plugin's health, if anything.
func (i *instance) healthy(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, i.spec.Timing.Health)
	defer cancel()
	reply, err := grpc_health_v1.NewHealthClient(i.conn).
		Check(limited, &grpc_health_v1.HealthCheckRequest{Service: plugin.GRPCServiceName})
	if err != nil && errors.Is(over(limited), context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %v", i.spec.Timing.Health)
	}
	if err != nil {
		return plain(err)
	}
	if s := reply.GetStatus(); s != grpc_health_v1.HealthCheckResponse_SERVING {
		return fmt.Errorf("it says %v", s)
	}
	return nil
}
