#!/bin/bash
# Local disk space.
#SBATCH --tmp=10M
echo ran
