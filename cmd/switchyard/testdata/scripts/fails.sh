#!/bin/bash
# Fails with an exit code.
#SBATCH -t 5
echo before
exit 3
