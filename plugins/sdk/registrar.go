package sdk

import (
	"context"
	"errors"

	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
)

// registrar is a plugin as go-plugin knows it.
type registrar struct {
	plugin.NetRPCUnsupportedPlugin
	parts parts
}

// GRPCServer implements [plugin.GRPCPlugin].
func (r *registrar) GRPCServer(_ *plugin.GRPCBroker, server *grpc.Server) error {
	r.parts.serve(server)
	return nil
}

// GRPCClient implements [plugin.GRPCPlugin].
func (*registrar) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("a plugin is no host")
}
