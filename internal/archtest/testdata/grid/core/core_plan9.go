package core

import _ "net"
