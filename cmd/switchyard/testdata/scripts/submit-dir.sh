#!/bin/bash
# Works in the directory of its submission.
#SBATCH -t 5
set -eu
cd "$SLURM_SUBMIT_DIR"
cat input.dat
