#!/bin/bash
# Starts later.
#SBATCH --begin=now+1
echo ran
