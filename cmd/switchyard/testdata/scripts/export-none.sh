#!/bin/bash
# Without the environment of the submission.
#SBATCH --export=NONE
echo "FOO is ${FOO-unset}, PATH is ${PATH:+set}"
