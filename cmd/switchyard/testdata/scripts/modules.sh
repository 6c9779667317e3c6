#!/bin/bash -l
# A login shell that loads modules.
#SBATCH --job-name=modules
module purge
module load gcc/12 openmpi
echo "loaded $LOADEDMODULES"
