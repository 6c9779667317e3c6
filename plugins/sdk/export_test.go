package sdk

import "google.golang.org/grpc"

// Serve makes the server that a plugin process has, with the plugin's services.
func Serve(p Plugin) *grpc.Server {
	server := newServer(nil)
	p.parts().serve(server)
	return server
}
