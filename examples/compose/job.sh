#!/bin/sh
#SBATCH --ntasks=2 --time=0:02:00
#SBATCH --output=%x.out
# job.sh SECONDS: says where it runs, and computes for a while.
echo "$SWITCHYARD_EXEC_SITE"
sleep "$1"
