#!/bin/sh
# total.sh COUNT...: adds up what count.sh has written.
cat "$@" | awk '{ sum += $1 } END { print sum }'
