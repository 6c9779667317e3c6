#!/bin/sh
# Installs the workflow as ~/cylc-run/primes, and runs it until it has ended or a step has failed.
set -eu
PARTS=$(ls input | wc -l) CYLC_CONF_PATH=$PWD
export PARTS CYLC_CONF_PATH
cylc install --no-run-name --workflow-name=primes .
exec cylc play --no-detach primes
