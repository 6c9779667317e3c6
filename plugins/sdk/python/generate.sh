#!/bin/sh
# Makes plugin_pb2.py and policy_pb2.py of the .proto files anew, in the directory that is given, or in
# switchyard_plugin. Needs protoc 3.21 (Debian: protobuf-compiler): other versions write other code, which the libraries
# of Debian 12 may not read.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
version=$(protoc --version)
case $version in
"libprotoc 3.21."*) ;;
*)
	echo "generate.sh: $version is not 3.21; the Python code stays as it is" >&2
	exit 0
	;;
esac
protocol=$here/../../../protocol
protoc --python_out="${1:-$here/switchyard_plugin}" -I "$protocol/plugin/v1" -I "$protocol/policy/v1" plugin.proto policy.proto
