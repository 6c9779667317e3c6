#!/bin/bash
# A partition, a QOS and an account.
#SBATCH -p urgent -q high -A chem
scontrol show job -o $SLURM_JOB_ID | grep -o '\(Partition\|Account\)=[^ ]*'
