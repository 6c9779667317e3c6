#!/bin/bash
# With the environment of the submission, and one variable more.
#SBATCH --export=ALL,BAR=baz
echo "FOO is ${FOO-unset}, BAR is ${BAR-unset}"
