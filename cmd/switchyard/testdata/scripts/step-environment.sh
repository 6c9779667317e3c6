#!/bin/bash
# Steps without the environment of the submission.
#SBATCH --export=NONE
export MADE=here
srun /bin/sh -c 'echo "MADE is ${MADE-unset}, FOO is ${FOO-unset}"'
