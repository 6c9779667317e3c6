#!/bin/sh
# Makes peer.pb.go from peer.proto. Needs protoc (Debian: protobuf-compiler, 3.21
# or later) and Go; the generator's version is that of google.golang.org/protobuf
# in go.mod.
set -eu
tools=$(mktemp -d)
trap 'rm -r "$tools"' EXIT
GOBIN=$tools go install google.golang.org/protobuf/cmd/protoc-gen-go
cd ../../..
protoc --plugin="$tools/protoc-gen-go" --go_out=. --go_opt=paths=source_relative protocol/peer/v1/peer.proto
