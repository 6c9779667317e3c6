#!/bin/sh
# Makes plugin_pb2.py and policy_pb2.py anew, from the protocols of this repository, in
# the folder that is given, or this one. Needs protoc 3.21 (Debian: protobuf-compiler).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
protocol=$here/../../../protocol
protoc --python_out="${1:-$here}" -I "$protocol/plugin/v1" -I "$protocol/policy/v1" plugin.proto policy.proto
