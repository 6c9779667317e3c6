#!/bin/sh
# Makes the Go code of a .proto file in the folder where it is called, as
# `sh ../../generate.sh peer.proto`. Needs protoc (Debian: protobuf-compiler, 3.21 or
# later) and Go; the generators' versions are that of google.golang.org/protobuf in
# go.mod and the one below.
set -eu
grpc=google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2
here=$(pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
tools=$(mktemp -d)
trap 'rm -r "$tools"' EXIT
GOBIN=$tools go install google.golang.org/protobuf/cmd/protoc-gen-go
GOBIN=$tools go install "$grpc"
cd "$root"
protoc --plugin="$tools/protoc-gen-go" --plugin="$tools/protoc-gen-go-grpc" \
	--go_out=. --go_opt=paths=source_relative \
	--go-grpc_out=. --go-grpc_opt=paths=source_relative \
	"${here#"$root"/}/$1"
