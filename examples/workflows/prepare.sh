#!/bin/sh
# prepare.sh TOOL DIR: makes the directory of a workflow for one tool, with its twelve inputs.
set -eu
here=$(dirname "$0")
mkdir -p "$2/input" "$2/output"
cp -R "$here/count.sh" "$here/total.sh" "$here/$1/." "$2"
seq 24000 | split -l 2000 -d --additional-suffix=.txt - "$2/input/"
