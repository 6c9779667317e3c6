#!/bin/sh
# count.sh INPUT OUTPUT: counts the primes of a file with a number on each line, and writes where it ran.
set -eu
factors=$(factor <"$1")
echo "$(echo "$factors" | awk 'NF == 2' | wc -l) $SWITCHYARD_EXEC_SITE" >"$2"
