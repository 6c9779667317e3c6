package sdk

import (
	"context"

	"google.golang.org/grpc"

	"github.com/switchyard-hpc/switchyard/protocol"
	pluginv1 "github.com/switchyard-hpc/switchyard/protocol/plugin/v1"
)

// baseServer serves what every plugin does.
type baseServer struct {
	pluginv1.UnimplementedBaseServer
	parts
}

// serve registers all services of a plugin.
func (p parts) serve(r grpc.ServiceRegistrar) {
	pluginv1.RegisterBaseServer(r, &baseServer{parts: p})
	p.register(r)
}

// Info implements [pluginv1.BaseServer].
func (s *baseServer) Info(context.Context, *pluginv1.InfoRequest) (*pluginv1.InfoResponse, error) {
	if s.ready != nil {
		s.ready()
	}
	return s.info, nil
}

// Validate implements [pluginv1.BaseServer].
func (s *baseServer) Validate(_ context.Context, in *pluginv1.ValidateRequest) (*pluginv1.ValidateResponse, error) {
	return &pluginv1.ValidateResponse{Notes: s.configured.validate(in.GetConfig())}, nil
}

// Configure implements [pluginv1.BaseServer].
func (s *baseServer) Configure(_ context.Context, in *pluginv1.ConfigureRequest) (*pluginv1.ConfigureResponse, error) {
	host := Host{
		Site: protocol.SiteName(in.GetSite()), StateDir: in.GetStateDir(), Seed: in.GetSeed(), Software: in.GetHost(),
	}
	notes, err := s.configured.configure(in.GetConfig(), host)
	if err != nil {
		return nil, err
	}
	return &pluginv1.ConfigureResponse{Notes: notes}, nil
}

// Shutdown implements [pluginv1.BaseServer].
func (s *baseServer) Shutdown(context.Context, *pluginv1.ShutdownRequest) (*pluginv1.ShutdownResponse, error) {
	return &pluginv1.ShutdownResponse{}, s.configured.close()
}
