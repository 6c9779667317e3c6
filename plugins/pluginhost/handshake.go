package pluginhost

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	plugin "github.com/hashicorp/go-plugin"

	"github.com/switchyard-hpc/switchyard/plugins/sdk"
)

// checkHello says what is wrong with the first line that a plugin printed, if
// anything: "core version|protocol version|network|address|protocol|certificate". It
// is checked here, before go-plugin reads it, for better words and a stricter rule:
// only a socket in the directory that was made for this plugin is accepted.
func checkHello(line, dir string, plain bool) error {
	parts := strings.Split(strings.TrimSpace(line), "|")
	if len(parts) < 5 {
		return fmt.Errorf("it does not speak the protocol of plugins: its first line is %.80q", line)
	}
	core, version, network, address, wire := parts[0], parts[1], parts[2], parts[3], parts[4]
	switch {
	case core != strconv.Itoa(plugin.CoreProtocolVersion):
		return fmt.Errorf("it speaks version %.20q of go-plugin's own protocol, this host %d: build it with another go-plugin",
			core, plugin.CoreProtocolVersion)
	case version != strconv.Itoa(sdk.ProtocolVersion):
		return fmt.Errorf("it speaks version %.20q of Switchyard's plugin protocol, this host %d: get the plugin's release for that",
			version, sdk.ProtocolVersion)
	case wire != string(plugin.ProtocolGRPC):
		return fmt.Errorf("it speaks %.20q, not gRPC", wire)
	case network != "unix" || filepath.Dir(address) != dir:
		return fmt.Errorf("it listens at %.20s %.200q, not on a unix socket in PLUGIN_UNIX_SOCKET_DIR", network, address)
	}
	hasTLS := len(parts) > 5 && parts[5] != ""
	switch {
	case !plain && !hasTLS:
		return errors.New("it offers no TLS; if it cannot, set mtls = false in its [[plugin]], or give the command --no-tls")
	case plain && hasTLS:
		return errors.New("it offers TLS, but was to be spoken with without: leave mtls = false or --no-tls out")
	}
	return nil
}
