#!/bin/bash
# Uses a variable of the submission without --export.
#SBATCH -t 10
echo "FOO is ${FOO-unset}, OMP_NUM_THREADS is ${OMP_NUM_THREADS-unset}"
