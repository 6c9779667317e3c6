#!/bin/bash
# A whole node.
#SBATCH --exclusive
echo "$SLURM_CPUS_ON_NODE CPUs"
