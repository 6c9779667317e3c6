#!/bin/bash
# Works in a directory of its own in /tmp, and copies the result back.
#SBATCH -J scratch
set -euo pipefail
dir=${TMPDIR:-/tmp}/$USER.$SLURM_JOB_ID
mkdir -p $dir
trap 'rm -rf $dir' EXIT
cd $dir
echo result >result.txt
cp result.txt $SLURM_SUBMIT_DIR/
