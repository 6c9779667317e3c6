#!/bin/bash
# Names of output files.
#SBATCH -J tides
#SBATCH -o %x-%u-%j.out -e %x-%N.err
echo "to out"
echo "to err" >&2
ls $SLURM_JOB_NAME-*-$SLURM_JOB_ID.out
