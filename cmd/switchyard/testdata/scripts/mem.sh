#!/bin/bash
# Memory for each node.
#SBATCH --mem=1G
echo "memory $SLURM_MEM_PER_NODE"
scontrol show job -o $SLURM_JOB_ID | grep -o 'mem=[^,]*\|MinMemory[^ ]*'
